"""Which wrong conventions explain the logs better than any plausible parameters do: one after the other, the best first."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gapless.core import Gaussian, Log, Simulator

from .doubts import Family, beyond, families, plausible
from .finding import Finding
from .hypotheses import Hypothesis, all_at_once
from .steady import steady
from .trial import Bench, Doubt, Fitted

ROUNDS = 3
"""Wrong conventions looked for at most, one after the other."""
GOOD = 0.25
"""A model that predicts every channel to this share of its motion has no sign, order or unit wrong; a pendulum that swings by
itself is predicted to 0.35 with its sign flipped."""
HOPELESS = 0.3
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
TELLING = 1.6
"""A fall of the error by so many fold speaks for a number beyond its threshold by itself; with less, it must be steady."""
STUCK = 1.2
"""A fit of the same logs that is so many fold better shows that the one before had got stuck."""
CLEARLY = 1.3
"""How many fold smaller an error must be than that of a gap which looks alike."""


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
    if base.errors and max(base.errors.values()) > GOOD:
        base = min((base, case.fit(_rougher(case.doubt), WINDOWS, ITERATIONS)[1]), key=lambda f: f.score)
    while base.errors and len(found) < ROUNDS:
        best = _best(case, bench, base, tell)
        if best is None:
            break
        if isinstance(best, Fitted):
            base = best
            continue
        hypothesis, case, bench, better = best
        found.append(_finding(hypothesis, base, better))
        base = better
    return found


def _rougher(doubt: Doubt) -> dict[str, float]:
    """Another beginning: what a data sheet has at its lowest, as friction and latency, is larger on most machines."""
    b = doubt.bounds
    inside = np.where(b.centre <= b.low + 1e-9, np.minimum(b.low + b.deviation, b.high), b.centre)
    return dict(zip(doubt.names, inside.tolist(), strict=True))


Best = tuple[Hypothesis, Case, Bench, Fitted]


def _best(case: Case, bench: Bench, base: Fitted, tell: Callable[[str], None]) -> Best | Fitted | None:
    """The hypothesis that explains most, if any explains enough; or a better fit of what a gap explains, if one is met."""
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
    best = _closer(case, base, suspected, tell, every)
    hopeless = max(base.errors.values()) > HOPELESS
    if isinstance(best, Fitted) or not hopeless or (best is not None and fold(base, best[3]) >= CONVINCING):
        return best
    far = [h for family in every.values() for h in _far(case, quick, family, tell)]
    # A gain is found from anywhere; a clock or an offset that is found from far away, no part of the logs finds from nearby.
    other = _closer(case, base, far, tell, {kind: every[kind] for kind in ("gain", "scale")})
    if isinstance(other, Fitted):
        return other
    return min((b for b in (best, other) if b is not None), key=lambda b: b[3].score, default=None)


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


def _closer(
    case: Case, base: Fitted, suspected: list[Hypothesis], tell: Callable[[str], None], near: dict[str, Family]
) -> Best | Fitted | None:
    """A first look at all, a closer one at the best, and the best of those if it is good enough.

    From where a hypothesis ends, the logs as they are are fitted once more: if that goes better than ever, the fit before had got
    stuck, which is no evidence against anybody, and the better fit is what comes back.
    """
    looked = []
    for h in suspected:
        tell(f"trying whether {h.looks}")
        looked.append((case.undone(h).fit({}, FEW, SHORT)[1].score, h))
    looked.sort(key=lambda pair: pair[0])
    best, least = None, base.score
    for _, h in looked[:CLOSER]:
        undone = case.undone(h)
        bench, fitted = undone.fit({}, WINDOWS, ITERATIONS)
        if fitted.score >= least or fold(base, fitted) < h.least:
            continue
        again = case.fit(dict(zip(fitted.names, fitted.params.tolist(), strict=True)), WINDOWS, ITERATIONS)[1]
        if fold(base, again) > STUCK:
            return again
        if not _rivalled(case, h, fitted) and (fold(base, fitted) >= TELLING or _lasts(case, h, near)):
            best, least = (h, undone, bench, fitted), fitted.score
    return best


def _rivalled(case: Case, h: Hypothesis, fitted: Fitted) -> bool:
    """Whether a gap that looks alike explains the logs nearly as well."""
    if h.rival is None:
        return False
    gap = Case(case.simulator, case.prior, [h.rival.on_log(log) for log in case.logs])
    return fold(gap.fit({}, WINDOWS, ITERATIONS)[1], fitted) < CLEARLY


def _lasts(case: Case, h: Hypothesis, near: dict[str, Family]) -> bool:
    """Whether the number behind it, if a fit from nearby finds one, is beyond its threshold in all parts of the logs."""
    family = next((f for f in near.values() if h.number in f.doubt.names), None)
    if family is None or h.number is None:
        return True
    return steady(case.simulator, Bench(case.simulator, case.logs, WINDOWS), family, h.number, ITERATIONS)


def fold(before: Fitted, after: Fitted) -> float:
    """How many fold the prediction error falls, as a mean over the channels."""
    return float(np.exp(before.score - after.score))


def _finding(h: Hypothesis, before: Fitted, after: Fitted) -> Finding:
    times = fold(before, after)
    spelled = f"{times:.0f}-fold" if times >= 3 else f"{times:.1f}-fold"
    return Finding(
        h.kind, h.channels, f"{h.looks}: {h.doing} cuts the prediction error {spelled}", h.advice, times, h.undo
    )
