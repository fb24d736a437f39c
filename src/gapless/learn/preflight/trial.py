"""How well a simulator predicts logs after a short fit: what every hypothesis about their conventions is judged by."""

import copy
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from gapless.core import Channel, Gaussian, Log, Simulator, nominal_belief
from gapless.logs import split

from ..identify import per_query
from ..least_squares import Bounds, Problem, fit, fit_starts
from ..noise import sensor_noise
from ..shooting import Shooting
from ..windows import Windows, cut

FIT_S, PREFIX_S, AHEAD_S = 0.4, 0.2, 0.3
"""Length of the windows that are fitted; of the stretch from which a start is fitted, and of the prediction after it."""
FIRST = 0.65
"""Share of each log from which windows are fitted; those of the rest are predicted."""
ALIVE = 3.0
"""A channel counts if it moves by more than this many times its noise."""
START_ITERATIONS = 2
RUNAWAY = 1.0
"""A window's error counts as at most so many times the channel's typical motion: worse than standing still is no worse."""


@dataclass(frozen=True)
class Fitted:
    """Parameters after a short fit, and what they leave unexplained."""

    names: tuple[str, ...]
    params: Float[np.ndarray, " param"]
    errors: dict[str, float]
    """Held-out prediction error of each channel that moves, as a share of its motion."""

    @property
    def score(self) -> float:
        """Mean logarithm of the errors: smaller is better, and no channel rules the others."""
        return float(np.mean(np.log(list(self.errors.values())))) if self.errors else 0.0

    def __getitem__(self, name: str) -> float:
        return float(self.params[self.names.index(name)])


@dataclass(frozen=True)
class Doubt:
    """Parameters that a fit may move, and between which values."""

    names: tuple[str, ...]
    bounds: Bounds

    @classmethod
    def of(cls, prior: Gaussian) -> "Doubt":
        return cls(prior.names, Bounds(prior.centre, np.sqrt(np.diag(prior.covariance)), prior.low, prior.high))

    def without(self, unwanted: set[str]) -> "Doubt":
        kept = [k for k, n in enumerate(self.names) if n not in unwanted]
        b = self.bounds
        arrays = (a[kept] for a in (b.centre, b.deviation, b.low, b.high))
        return Doubt(tuple(self.names[k] for k in kept), Bounds(*arrays))

    def also(self, name: str, centre: float, deviation: float, low: float, high: float) -> "Doubt":
        """With one more, or with another range for one that is there."""
        kept = self.without({name})
        b, more = kept.bounds, (centre, deviation, low, high)
        arrays = (np.append(a, v) for a, v in zip((b.centre, b.deviation, b.low, b.high), more, strict=True))
        return Doubt((*kept.names, name), Bounds(*arrays))


class Bench:
    """One set of logs, cut into windows to fit and windows to predict: of every log the end is predicted, so that one that hardly
    moves, or moves unlike the others, does not decide alone. Where logs are too short for that, some of them are predicted."""

    def __init__(self, simulator: Simulator, logs: list[Log], windows: int) -> None:
        self.noise = sensor_noise(logs)
        fitted = earlier(cut(simulator, logs, FIT_S, FIT_S / 2))
        predicted = later(cut(simulator, logs, PREFIX_S + AHEAD_S, AHEAD_S / 2))
        if fitted is None or predicted is None:
            training, held_out = split(logs)
            fitted = cut(simulator, training, FIT_S, FIT_S / 2)
            predicted = cut(simulator, held_out or training, PREFIX_S + AHEAD_S, AHEAD_S / 2)
        self.fitted, self.predicted = lively(fitted, windows), lively(predicted, windows)

    @property
    def usable(self) -> bool:
        return self.fitted is not None and self.predicted is not None

    def fit(self, simulator: Simulator, doubt: Doubt, begin: dict[str, float], iterations: int) -> Fitted:
        """A few steps of least squares, from `begin` where it names a parameter and else from the prior's centre."""
        assert self.fitted is not None
        b = doubt.bounds
        first = np.array([begin.get(n, c) for n, c in zip(doubt.names, b.centre, strict=True)])
        first = np.clip(first, b.low, b.high)
        if iterations:
            level = per_query(self.fitted, self.noise)
            first = fit(Problem(self._shooting(simulator, self.fitted, doubt), b, level), first, iterations).params
        return Fitted(doubt.names, first, self._errors(simulator, doubt, first))

    def part(self, number: int, of: int) -> "Bench":
        """The same with a part of the windows to fit, spread over all of them."""
        assert self.fitted is not None
        part = copy.copy(self)
        part.fitted = self.fitted.some(np.arange(number, len(self.fitted), of))
        return part

    def driven(self, simulator: Simulator, doubt: Doubt) -> dict[str, float]:
        """How much each channel moved, relative to what the commands alone would move it in the model from rest; and of each
        command that has limits the share of them that was used."""
        windows = self.fitted
        assert windows is not None
        still = windows.start.copy()
        still[:, still.shape[1] // 2 :] = 0.0
        nothing = replace(windows, measured=np.zeros_like(windows.measured))  # what is left over is what is predicted
        predicted = self._shooting(simulator, nothing, doubt).residuals(doubt.bounds.centre[None], still[None])[0]
        limited = [c for c in simulator.interface.commands if 0 < max(abs(c.low), abs(c.high)) < np.inf]
        found = {c.name: _used(c, windows.logs) for c in limited}
        for k, (name, part) in enumerate(windows.columns):
            here = windows.channel == k
            logged, model = (np.std(v[:, here], axis=1) for v in (windows.measured, predicted))
            if part == 0 and (typical := float(np.sqrt((model**2).mean()))) > 0:
                found[name] = float(np.sqrt((logged**2).mean())) / typical
        return found

    def _shooting(self, simulator: Simulator, windows: Windows, doubt: Doubt) -> Shooting:
        return Shooting(simulator, windows, doubt.names, nominal_belief(simulator.parameters).mean())

    def _errors(self, simulator: Simulator, doubt: Doubt, params: np.ndarray) -> dict[str, float]:
        windows = self.predicted
        assert windows is not None
        shooting = self._shooting(simulator, windows, doubt)
        prefix = (windows.times <= PREFIX_S + 1e-9).all(axis=0)
        level = per_query(windows, self.noise)
        _, slopes = fit_starts(shooting, params, level, prefix.astype(float), START_ITERATIONS)
        found = {}
        for k, (name, part) in enumerate(windows.columns):
            here = (windows.channel == k) & ~prefix
            moved = self._moved(shooting, here)
            off, seen = slopes.residual[:, here], windows.present[:, here]
            typical = np.sqrt((moved**2).sum() / max(seen.sum(), 1))
            if typical > ALIVE * self.noise[name]:
                error = np.sqrt(np.minimum((off**2).mean(axis=1), (RUNAWAY * typical) ** 2).mean())
                found[name if part == 0 else f"{name}[{part}]"] = max(error / typical, 1e-6)
        return found

    def _moved(self, shooting: Shooting, here: np.ndarray) -> np.ndarray:
        """How far each sample is from where the prefix ended, the short way round for angles."""
        windows = shooting.windows
        first = np.flatnonzero(here)[0]
        off = windows.measured[:, here] - windows.measured[:, [max(first - 1, 0)]]
        if shooting._angle[first]:
            off = np.angle(np.exp(1j * off))
        return np.where(windows.present[:, here], off, 0.0)


def earlier(windows: Windows | None) -> Windows | None:
    """Windows of the first part of each log."""
    return _some(windows, lambda begin, end: end <= FIRST)


def later(windows: Windows | None) -> Windows | None:
    """Windows of the rest."""
    return _some(windows, lambda begin, end: begin >= FIRST)


def _some(windows: Windows | None, wanted: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Windows | None:
    """Windows that begin and end at wanted shares of their log."""
    if windows is None:
        return None
    ends = np.array([windows.logs[k].command_time[[0, -1]] for k in windows.which])
    lasts = ends[:, 1] - ends[:, 0]
    begin, end = ((at - ends[:, 0]) / lasts for at in (windows.begin_s, windows.begin_s + windows.seconds))
    chosen = np.flatnonzero(wanted(begin, end))
    return windows.some(chosen) if len(chosen) else None


def _used(command: Channel, logs: list[Log]) -> float:
    """The largest command that was logged, as a share of the largest that may be sent."""
    return max(float(np.abs(log.commands[command.name]).max()) for log in logs) / max(
        abs(command.low), abs(command.high)
    )


def lively(windows: Windows | None, most: int) -> Windows | None:
    """At most so many windows: half of them spread evenly, half where some channel moves most, channel by channel."""
    if windows is None or len(windows) <= most:
        return windows
    chosen = list(np.linspace(0, len(windows) - 1, most // 2).astype(int))
    columns = range(len(windows.columns))
    motion = np.stack([windows.measured[:, windows.channel == c].std(axis=1) for c in columns])
    ranked = np.argsort(-motion, axis=1)
    for window in ranked.T.ravel():
        if len(set(chosen)) >= most:
            break
        chosen.append(int(window))
    return windows.some(np.unique(chosen))
