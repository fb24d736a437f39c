"""What causes the gap: a fair split of the held-out prediction error, and of what a policy loses, between families."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from gapless.core import Belief, GaplessError, Gaussian, Log, Parameter, Simulator, generator_for, nominal_belief
from gapless.simulators import finer

from .foresight import Foresight
from .identify import bounds_of, per_query
from .least_squares import Bounds, Fit, fit
from .noise import sensor_noise
from .repeats import repeatability
from .returns import Performance, losses
from .separable import classes, departures
from .shapley import coalitions, shapley
from .shooting import Shooting
from .windows import Windows, cut

NUMERICS = "numerics"
MATTERS = 0.05
"""Share of the gap from which on a shorter time step is a cause of its own, and parameters are fitted with it."""
INTERVAL = (0.05, 0.95)


@dataclass(frozen=True)
class Attribute:
    """Split the gap between its causes."""

    windows: int = 40
    """Windows of the fit."""
    window_s: float = 0.4
    """Their length."""
    ahead: int = 32
    """Held-out windows that are predicted, at most."""
    worlds: int = 12_000
    """Predictions at most; with many families, fewer windows."""
    iterations: int = 10
    """Least-squares iterations of each of the two fits at most."""
    draws: int = 3
    """Draws of the parameters behind the intervals."""
    resamples: int = 400
    """Bootstrap samples of windows and draws."""

    def __post_init__(self) -> None:
        if min(self.windows, self.ahead, self.iterations, self.resamples) < 1 or self.window_s <= 0 or self.draws < 0:
            raise GaplessError("attribution needs window_s > 0 and at least one window, iteration and resample.")


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


class _Explained(NamedTuple):
    """The fewest departures from nominal that explain the logs."""

    names: tuple[str, ...]
    nominal: Float[np.ndarray, " param"]
    params: Float[np.ndarray, " param"]
    kept: Bool[np.ndarray, " param"]
    draws: Float[np.ndarray, "draw param"]
    """The first one is `params`."""
    families: tuple[str, ...]
    groups: tuple[tuple[str, ...], ...]


def attribute(
    simulator: Simulator,
    belief: Belief,
    logs: list[Log],
    held_out: list[Log],
    performance: Performance | None = None,
    recipe: Attribute | None = None,
    seed: int = 0,
    tell: Callable[[str], None] = lambda message: None,
) -> Attribution:
    """Where the held-out error of the nominal model comes from, and what it costs a policy."""
    recipe, doubted = recipe or Attribute(), doubted_of(simulator, belief)
    names = tuple(p.name for p in doubted)
    fixed = nominal_belief(simulator.parameters).mean()
    foresight = Foresight(simulator, held_out, names, fixed, recipe.ahead)
    begin = _begin(doubted, belief)
    tell("looking at the numerics")
    fine = _worth_it(simulator, foresight, begin, np.array([p.nominal for p in doubted]))
    tell("finding the fewest causes")
    found = _explain(fine or simulator, doubted, begin, logs, recipe, seed)
    tell("splitting the error")
    split = _Split(simulator, fine, foresight, found, recipe, generator_for(seed, "attribution"))
    lost = {}
    if performance is not None:
        tell("splitting the return")
        masks = [found.kept & np.isin(found.families, group) for group in split.players]
        parts = losses(simulator, performance, belief, found.names, found.nominal, found.draws, masks, seed)
        lost = {group: split.bootstrapped(part[None]) for group, part in zip(split.players, parts, strict=True)}
    return split.told(lost, repeatability(simulator, logs + held_out, foresight, found.params))


def doubted_of(simulator: Simulator, belief: Belief) -> tuple[Parameter, ...]:
    """What may explain a gap: everything that the belief is about, and what the sensors may do; noise explains nothing."""
    wanted = [p for p in simulator.parameters if p.name in belief.names or p.family == "sensing"]
    return tuple(p for p in wanted if not p.name.endswith(".noise"))


def _begin(doubted: tuple[Parameter, ...], belief: Belief) -> Float[np.ndarray, " param"]:
    mean = belief.mean()
    return np.array([float(np.asarray(mean.get(p.name, p.nominal))) for p in doubted])


def _worth_it(simulator: Simulator, foresight: Foresight, params: np.ndarray, nominal: np.ndarray) -> Simulator | None:
    """The finer simulator, if the two differ by a part of the gap that counts."""
    foresight.refer(simulator, params)
    fine = finer(simulator)
    if fine is None:
        return None
    own = foresight.errors(simulator, np.stack([nominal, params]))
    between = own[1:] - foresight.errors(fine, params[None])
    gap = foresight.squares(own[:1]).mean() - foresight.floor().mean()
    return fine if foresight.squares(between).mean() > MATTERS * max(gap, foresight.floor().mean()) else None


def _explain(
    simulator: Simulator,
    doubted: tuple[Parameter, ...],
    begin: np.ndarray,
    logs: list[Log],
    recipe: Attribute,
    seed: int,
) -> _Explained:
    names, families = tuple(p.name for p in doubted), tuple(p.family for p in doubted)
    windows = _training(simulator, logs, recipe)
    level = per_query(windows, sensor_noise(logs))
    bounds = bounds_of(_prior(doubted))
    fixed = nominal_belief(simulator.parameters).mean()
    whole = fit(Shooting(simulator, windows, names, fixed), bounds, level, begin, recipe.iterations)
    kept, values = departures(whole.params, bounds.centre, _precision(whole, windows, bounds))
    groups = classes(families, _separate(_information(whole, windows, bounds), names, simulator))
    some = _part(bounds, kept)
    draws = np.tile(bounds.centre, (1 + recipe.draws, 1))
    if kept.any():
        chosen = tuple(n for n, k in zip(names, kept, strict=True) if k)
        first = np.clip(values[kept], some.low, some.high)
        again = fit(Shooting(simulator, windows, chosen, fixed), some, level, first, recipe.iterations)
        covariance = np.linalg.inv(_precision(again, windows, some))
        noise = generator_for(seed, "draws").standard_normal((recipe.draws, len(first)))
        around = again.params + noise @ np.linalg.cholesky((covariance + covariance.T) / 2).T
        draws[:, kept] = np.concatenate([again.params[None], np.clip(around, some.low, some.high)])
    return _Explained(names, bounds.centre, draws[0], kept, draws, families, groups)


def _training(simulator: Simulator, logs: list[Log], recipe: Attribute) -> Windows:
    windows = cut(simulator, logs, recipe.window_s)
    if windows is None:
        raise GaplessError(
            f"no log is long enough to attribute the gap: windows need {recipe.window_s} s. Collect more."
        )
    return windows.some(np.unique(np.linspace(0, len(windows) - 1, min(recipe.windows, len(windows))).astype(int)))


def _prior(doubted: tuple[Parameter, ...]) -> Gaussian:
    low, high = (np.array([getattr(p, side) for p in doubted]) for side in ("low", "high"))
    centre = np.array([p.nominal for p in doubted])
    return Gaussian(tuple(p.name for p in doubted), centre, np.diag(((high - low) / 4) ** 2), low, high)


def _part(bounds: Bounds, kept: np.ndarray) -> Bounds:
    return Bounds(bounds.centre[kept], bounds.deviation[kept], bounds.low[kept], bounds.high[kept])


def _information(found: Fit, windows: Windows, bounds: Bounds) -> Float[np.ndarray, "param param"]:
    """What the logs alone say, in units of the prior; less by as much as the model leaves unexplained."""
    present = int(windows.present.sum())
    chi_square = max(1.0, found.cost * present / max(present - windows.start.size, 1))
    scaled = found.information * np.outer(bounds.deviation, bounds.deviation)
    return (scaled - np.eye(len(scaled))) / chi_square


def _precision(found: Fit, windows: Windows, bounds: Bounds) -> Float[np.ndarray, "param param"]:
    scaled = _information(found, windows, bounds) + np.eye(len(bounds.deviation))
    return scaled / np.outer(bounds.deviation, bounds.deviation)


def _separate(information: np.ndarray, names: tuple[str, ...], simulator: Simulator) -> np.ndarray:
    """A delay that all sensors share is latency by definition: one sensor's own is taken as known, if there are others."""
    own = [names.index(n) for c in simulator.interface.measurement_names if (n := f"{c}.latency") in names]
    if len(own) == len(simulator.interface.measurements) > 1:
        information = information.copy()
        information[own[0], own[0]] += 1e6
    return information


class _Split:
    """Predictions of every coalition of causes, and the shares that follow."""

    def __init__(
        self, simulator: Simulator, fine: Simulator | None, foresight: Foresight, found: _Explained, recipe: Attribute,
        rng: np.random.Generator,
    ) -> None:  # fmt: skip
        self.found, self._rng, self._resamples = found, rng, recipe.resamples
        moved = [set(g) for g in found.groups]
        departed = {f for f, k in zip(found.families, found.kept, strict=True) if k}
        self.players = [g for g, m in zip(found.groups, moved, strict=True) if m & departed]
        foresight.refer(fine or simulator, found.params)
        sets = coalitions(len(self.players))
        most = max(8, recipe.worlds // (len(sets) * len(found.draws) * (1 if fine is None else 2)))
        foresight = foresight.thinned(most)
        params = self._params(sets)
        squares = foresight.squares(foresight.errors(simulator, params)).reshape(len(sets), len(found.draws), -1)
        self.before = squares[0, 0]
        other = foresight.squares(foresight.errors(finer(simulator) or simulator, found.params[None]))[0]
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

    def _params(self, sets: Bool[np.ndarray, "coalition player"]) -> Float[np.ndarray, "copy param"]:
        """Each coalition at each draw: its own families as drawn, the others nominal."""
        found = self.found
        member = np.array([[f in g for f in found.families] for g in self.players]).reshape(len(self.players), -1)
        inside = (sets[:, :, None] & member).any(axis=1)
        moved = np.where(inside[:, None], found.draws, found.nominal)
        return moved.reshape(-1, len(found.names))

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
        shares = dict(zip(self.players, (self.bootstrapped(p, whole) for p in self.parts), strict=True))
        nothing = Share(0.0, 0.0, 0.0)
        causes = [Cause(g, shares.get(g, nothing), lost.get(g)) for g in found.groups]
        rest = whole - self.parts[:, 0].sum(axis=0) - self.noise - self.numerics
        departed = {n: float(v) for n, v, k in zip(found.names, found.params, found.kept, strict=True) if k}
        return Attribution(
            tuple(sorted(causes, key=lambda c: -abs(c.error.value))),
            self.bootstrapped(self.numerics[None], whole),
            self.bootstrapped(self.noise[None], whole),
            self.bootstrapped(rest[None], whole),
            None if repeats is None else repeats / float(whole.mean()),
            float(np.sqrt(whole.mean())),
            departed,
        )
