"""Which wrong conventions explain the logs better than any plausible parameters do: one after the other, the best first."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gapless.core import Gaussian, Log, Simulator

from .doubts import Family, beyond, families, plausible
from .finding import Finding
from .hypotheses import Hypothesis, all_at_once
from .trial import Bench, Doubt, Fitted

ROUNDS = 3
"""Wrong conventions looked for at most, one after the other."""
GOOD = 0.5
"""A model that predicts every channel to this share of its motion has no sign, order or unit wrong."""
HOPELESS = 0.7
"""A model that predicts some channel worse than this may be far from the truth in an offset, a clock or gravity."""
WINDOWS, ITERATIONS = 24, 8
"""Of a full fit."""
FEW, SHORT = 8, 3
"""Of a first look at a hypothesis."""
CLOSER = 2
"""Hypotheses that are fitted in full after a first look."""
SUSPICIOUS = 0.4
"""Shares of the thresholds from which on conventions that were fitted together are fitted one by one: they may share a bug."""
CONVINCING = 2.5
"""A fall of the error by so many fold needs no search far away."""


@dataclass(frozen=True)
class Case:
    """Logs and a simulator as they are believed to be right so far, and how well they fit."""

    simulator: Simulator
    prior: Doubt
    logs: list[Log]

    @property
    def doubt(self) -> Doubt:
        """What a gap can explain."""
        known = {p.name for p in self.simulator.parameters}
        return plausible(self.simulator, self.prior.without(set(self.prior.names) - known))

    def undone(self, hypothesis: Hypothesis) -> "Case":
        logs = [hypothesis.undo.on_log(log) for log in self.logs]
        return Case(hypothesis.simulator or self.simulator, self.prior, logs)

    def fit(self, begin: dict[str, float], windows: int, iterations: int) -> tuple[Bench, Fitted]:
        bench = Bench(self.simulator, self.logs, windows)
        if not bench.usable:
            return bench, Fitted((), np.empty(0), {})
        return bench, bench.fit(self.simulator, self.doubt, begin, iterations)


def search(
    simulator: Simulator, prior: Gaussian, logs: list[Log], tell: Callable[[str], None] = lambda what: None
) -> list[Finding]:
    """Wrong conventions, the most telling first."""
    tell("fitting what a gap explains")
    case, found = Case(simulator, Doubt.of(prior), logs), []
    bench, base = case.fit({}, WINDOWS, ITERATIONS)
    while base.errors and len(found) < ROUNDS:
        best = _best(case, bench, base, tell)
        if best is None:
            break
        hypothesis, case, bench, better = best
        found.append(_finding(hypothesis, base, better))
        base = better
    return found


Best = tuple[Hypothesis, Case, Bench, Fitted]


def _best(case: Case, bench: Bench, base: Fitted, tell: Callable[[str], None]) -> Best | None:
    """The hypothesis that explains most, if any explains enough."""
    tell("fitting conventions")
    every = families(case.simulator, case.doubt, base)
    together = every.pop("all")
    joint = bench.fit(together.simulator, together.doubt, together.starts[0], ITERATIONS - 3)
    bad = max(base.errors.values()) > GOOD or _too_large(case)
    if not (bad or any(True for _ in beyond(case.simulator, joint, SUSPICIOUS))):
        return None
    suspected, quick = list(beyond(case.simulator, joint)), Bench(case.simulator, case.logs, FEW)
    for family in every.values():
        with_windows = quick if bad else bench
        suspected += beyond(case.simulator, with_windows.fit(family.simulator, family.doubt, family.starts[0], SHORT))
    if bad:
        suspected += all_at_once(case.simulator.interface, bench.driven(case.simulator, case.doubt))
    best = _closer(case, base, suspected, tell)
    hopeless = max(base.errors.values()) > HOPELESS
    if hopeless and (best is None or fold(base, best[3]) < CONVINCING):
        far = [h for family in every.values() for h in _far(case, quick, family, tell)]
        other = _closer(case, base, far, tell)
        best = min((b for b in (best, other) if b is not None), key=lambda b: b[3].score, default=None)
    return best


def _too_large(case: Case) -> bool:
    """Whether commands were logged that nobody may send: a model that cuts them off might predict well all the same."""
    channels = case.simulator.interface.commands
    return any(
        np.any(np.abs(log.commands[c.name]) > 1.5 * max(abs(c.low), abs(c.high))) for log in case.logs for c in channels
    )


def _far(case: Case, quick: Bench, family: Family, tell: Callable[[str], None]) -> list[Hypothesis]:
    """What a family says when the search begins elsewhere."""
    tell("fitting conventions from further away")
    fits = [quick.fit(family.simulator, family.doubt, s, SHORT + 2) for s in family.starts[1:]]
    return list(beyond(case.simulator, min(fits, key=lambda f: f.score))) if fits else []


def _closer(case: Case, base: Fitted, suspected: list[Hypothesis], tell: Callable[[str], None]) -> Best | None:
    """A first look at all, a closer one at the best, and the best of those if it is good enough."""
    looked = []
    for h in suspected:
        tell(f"trying whether {h.looks}")
        looked.append((case.undone(h).fit({}, FEW, SHORT)[1].score, h))
    looked.sort(key=lambda pair: pair[0])
    best, least = None, base.score
    for _, h in looked[:CLOSER]:
        undone = case.undone(h)
        bench, fitted = undone.fit({}, WINDOWS, ITERATIONS)
        if fitted.score < least and fold(base, fitted) >= h.least:
            best, least = (h, undone, bench, fitted), fitted.score
    return best


def fold(before: Fitted, after: Fitted) -> float:
    """How many fold the prediction error falls, as a mean over the channels."""
    return float(np.exp(before.score - after.score))


def _finding(h: Hypothesis, before: Fitted, after: Fitted) -> Finding:
    times = fold(before, after)
    spelled = f"{times:.0f}-fold" if times >= 3 else f"{times:.1f}-fold"
    return Finding(
        h.kind, h.channels, f"{h.looks}: {h.doing} cuts the prediction error {spelled}", h.advice, times, h.undo
    )
