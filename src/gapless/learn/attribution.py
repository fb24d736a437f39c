"""What causes the gap: a fair split of the held-out prediction error, and of what a policy loses, between families."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from gapless.core import Belief, Simulator, generator_for, nominal_belief
from gapless.logs import Parted
from gapless.simulators import finer

from .explain import Attribute, Explained, begin_of, doubted_of, explain
from .foresight import Foresight
from .repeats import repeatability
from .returns import Performance, losses
from .shapley import shapley

MATTERS = 0.001
"""Share of the gap from which on a shorter time step is a cause of its own, and parameters are fitted with it."""
DOUBTFUL = 10.0
"""So many times what noise does to predictions, it must do besides."""
INTERVAL = (0.05, 0.95)


class Share(NamedTuple):
    """A part of the whole with its 90 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Cause:
    """Families that no log here tells apart, most often one, and what they cost."""

    families: tuple[str, ...]
    error: Share
    """Part of the nominal model's mean square prediction error."""
    loss: Share | None = None
    """Return that the policy loses where these families go back to nominal."""

    @property
    def name(self) -> str:
        return " or ".join(self.families)


@dataclass(frozen=True)
class Attribution:
    """The whole of the nominal model's held-out error: causes, numerics, noise and what nothing explains add up to one."""

    causes: tuple[Cause, ...]
    """The largest part of the error first; a cause that hides another has a negative one."""
    numerics: Share
    noise: Share
    unexplained: Share
    repeatability: float | None
    """What the machine itself differs by when commands are repeated, on the same scale as noise and unexplained together."""
    gap: float
    """Root mean square error of the nominal model half a second ahead, in deviations of each channel."""
    departed: dict[str, float] = field(default_factory=dict)
    """The parameters that need to differ from the data sheet, and where they are."""
    varied: tuple[str, ...] = ()
    """Those that vary within the logs, and how, in words."""


def attribute(
    simulator: Simulator,
    belief: Belief,
    logs: Parted,
    performance: Performance | None = None,
    recipe: Attribute | None = None,
    seed: int = 0,
    tell: Callable[[str], None] = lambda message: None,
) -> Attribution:
    """Where the held-out error of the nominal model comes from, and what it costs a policy."""
    recipe, doubted = recipe or Attribute(), doubted_of(simulator, belief)
    names = tuple(p.name for p in doubted)
    fixed = nominal_belief(simulator.parameters).mean()
    foresight = Foresight(simulator, logs.held_out, names, fixed, recipe.ahead)
    begin = begin_of(doubted, belief)
    tell("looking at the numerics")
    fine = _worth_it(simulator, foresight, begin, np.array([p.nominal for p in doubted]))
    tell("finding the fewest causes")
    found = explain(fine or simulator, doubted, begin, logs.training, recipe, seed)
    tell("splitting the error")
    varied = foresight.varied(fine or simulator, found.patterns, found.params)
    split = _Split(simulator, fine, varied, found, recipe, generator_for(seed, "attribution"))
    lost = {}
    if performance is not None:
        tell("splitting the return")
        parts = losses(simulator, performance, belief, found, seed)
        lost = {group: split.bootstrapped(part[None]) for group, part in zip(found.players, parts, strict=True)}
    everything = logs.training + logs.held_out
    return split.told(lost, repeatability(simulator, everything, foresight, found.params[: len(names)]))


def _worth_it(simulator: Simulator, foresight: Foresight, params: np.ndarray, nominal: np.ndarray) -> Simulator | None:
    """The finer simulator, if the two differ by a part of the gap that counts."""
    foresight.refer(simulator, params)
    fine = finer(simulator)
    if fine is None:
        return None
    both = np.stack([nominal, params])
    own, better = (foresight.errors(s, both) for s in (simulator, fine))
    before, differ = foresight.squares(own)[0], foresight.squares(own - better)[1]
    # Chaos parts the two in a few windows, a coarse step in most.
    least = np.median(np.maximum(MATTERS * before, DOUBTFUL * foresight.floor()))
    return _settled(fine, foresight, params) if np.median(differ) > least else None


def _settled(fine: Simulator, foresight: Foresight, params: np.ndarray) -> Simulator:
    """Once more as fine, where that changes predictions by more than they doubt themselves."""
    finest = finer(fine)
    if finest is None:
        return fine
    one, other = (foresight.errors(s, params[None]) for s in (fine, finest))
    return finest if np.median(foresight.squares(one - other)) > np.median(foresight.floor()) else fine


class _Split:
    """Predictions of every coalition of causes, and the shares that follow."""

    def __init__(
        self, simulator: Simulator, fine: Simulator | None, foresight: Foresight, found: Explained, recipe: Attribute,
        rng: np.random.Generator,
    ) -> None:  # fmt: skip
        self.found, self._rng, self._resamples = found, rng, recipe.resamples
        foresight.refer(fine or simulator, found.params)
        mixed = found.mixtures(found.draws)
        params = mixed.reshape(mixed.shape[0] * mixed.shape[1], len(found.names))
        foresight = foresight.thinned(max(8, recipe.worlds // (len(params) * (1 if fine is None else 2))))
        squares = foresight.squares(foresight.errors(simulator, params)).reshape(*mixed.shape[:2], -1)
        self.before = squares[0, 0]
        other = foresight.squares(foresight.errors(fine or finer(simulator) or simulator, found.params[None]))[0]
        if fine is None:
            self.after, self.parts = squares[-1, 0], -shapley(squares)
        else:
            with_fine = foresight.squares(foresight.errors(fine, params)).reshape(squares.shape)
            parts = -shapley(np.concatenate([squares, with_fine]))
            self.after, self.parts, self.numerics = other, parts[:-1], parts[-1, 0]
        floor = foresight.floor()
        self.noise = floor * min(1.0, self.after.mean() / floor.mean())
        if fine is None:
            most = self.after.mean() - self.noise.mean()
            self.numerics = np.full_like(floor, np.clip(self.after.mean() - other.mean(), 0.0, most))

    def bootstrapped(self, parts: Float[np.ndarray, "draw sample"], whole: np.ndarray | None = None) -> Share:
        """The mean part of the first draw (of the whole, if given), with the interval over draws and samples."""
        draws, samples = parts.shape
        picked = self._rng.integers(samples, size=(self._resamples, samples))
        which = self._rng.integers(draws, size=(self._resamples, 1))
        totals, first = parts[which, picked].mean(axis=1), parts[0].mean()
        if whole is not None:
            totals, first = totals / whole[picked].mean(axis=1), first / whole.mean()
        return Share(float(first), *(float(q) for q in np.quantile(totals, INTERVAL)))

    def told(self, lost: dict[tuple[str, ...], Share], repeats: float | None) -> Attribution:
        found, whole = self.found, self.before
        shares = dict(zip(found.players, (self.bootstrapped(p, whole) for p in self.parts), strict=True))
        nothing = Share(0.0, 0.0, 0.0)
        causes = [Cause(g, shares.get(g, nothing), lost.get(g)) for g in found.groups]
        rest = whole - self.parts[:, 0].sum(axis=0) - self.noise - self.numerics
        return Attribution(
            tuple(sorted(causes, key=lambda c: -abs(c.error.value))),
            self.bootstrapped(self.numerics[None], whole),
            self.bootstrapped(self.noise[None], whole),
            self.bootstrapped(rest[None], whole),
            None if repeats is None else repeats / float(whole.mean()),
            float(np.sqrt(whole.mean())),
            found.departed,
            found.varied,
        )
