"""How well many sets of parameters predict the same windows, half a second ahead, from starts fitted on a prefix."""

from copy import copy

import numpy as np
from jaxtyping import Float

from gapless.core import GaplessError, Log, Params, Simulator

from .gap import PREFIX_S, doubt, prefix_of, sharpened, spreads
from .least_squares import fit_starts
from .noise import sensor_noise
from .patterns import Pattern
from .shooting import Shapes, Shooting, Slopes
from .varying import places_of, shapes_of
from .windows import Windows, cut, per_query, thin

HORIZON_S = 0.5
EVERY_S = 0.25
ROUNDS = 3
ALIKE_S = 1e-3
LARGEST = 3.0
"""An error counts for no more deviations of its channel than this: one runaway window must not decide."""


class Foresight:
    """Windows of held-out logs and, at a reference, how their starts follow from their prefixes."""

    def __init__(self, simulator: Simulator, logs: list[Log], names: tuple[str, ...], fixed: Params, most: int) -> None:
        self.names, self.fixed, self.logs = names, fixed, logs
        self.windows = _windows(simulator, logs, most)
        self._level = per_query(self.windows, sensor_noise(logs))
        spread = spreads(logs)
        self._spread = np.array([spread[name] for name, _ in self.windows.columns])[self.windows.channel]
        self._prefix = prefix_of(self.windows)
        self._shapes: Shapes = {}

    def refer(self, simulator: Simulator, params: Float[np.ndarray, " param"]) -> None:
        """Linearise the starts at these parameters; others are compared from there."""
        shooting = Shooting(simulator, self.windows, self.names, self.fixed, self._shapes)
        self._starts, self._best = fit_starts(shooting, params, self._level, self._prefix)
        weighed = self._best.by_start * (self._prefix / self._level)[:, None]
        normal = np.einsum("wqs,wqt->wst", weighed, weighed)
        normal += 1e-9 * np.eye(normal.shape[1]) * (1 + np.einsum("wss->w", normal)[:, None, None])
        self._back = np.linalg.solve(normal, np.swapaxes(weighed / self._level[:, None], 1, 2))

    def varied(self, simulator: Simulator, patterns: tuple[Pattern, ...], params: np.ndarray) -> "Foresight":
        """The same with patterns beside the parameters, joints being where these parameters predict them."""
        if not patterns:
            return self
        wider = copy(self)
        wider.names = (*self.names, *(p.name for p in patterns))
        for _ in range(ROUNDS - 1):
            places = places_of(simulator, wider.windows, wider._best.residual)
            wider._shapes = shapes_of(patterns, wider.windows, places)
            wider.refer(simulator, params)
        return wider

    def errors(
        self, simulator: Simulator, params: Float[np.ndarray, "copy param"]
    ) -> Float[np.ndarray, "copy window query"]:
        """Predicted − measured for every set of parameters, in deviations of each channel; 0 in the prefix."""
        whole = Shooting(simulator, self.windows, self.names, self.fixed, self._shapes)
        return whole.residuals(params, self._starts_of(simulator, params)) / self._spread * (1 - self._prefix)

    def _starts_of(
        self, simulator: Simulator, params: Float[np.ndarray, "copy param"]
    ) -> Float[np.ndarray, "copy window start"]:
        """Where each window starts for each set of parameters, by its prefix. The steps are the reference's, and far from it
        they may lead astray: a window takes one only where it brings its prefix nearer."""
        early = self._prefix > 0
        first = Shooting(simulator, _only(self.windows, early), self.names, self.fixed, self._shapes)
        starts = np.tile(self._starts, (len(params), 1, 1))
        missed = first.residuals(params, starts)
        for _ in range(ROUNDS):
            trial = starts - np.einsum("wsq,cwq->cws", self._back[:, :, early], missed)
            then = first.residuals(params, trial)
            nearer = ((then / self._level[early]) ** 2).sum(-1) < ((missed / self._level[early]) ** 2).sum(-1)
            starts, missed = np.where(nearer[..., None], trial, starts), np.where(nearer[..., None], then, missed)
        return starts

    def squares(
        self, errors: Float[np.ndarray, "copy window query"], which: np.ndarray | slice = slice(None)
    ) -> Float[np.ndarray, "copy window"]:
        """The mean square error of each window, or of `which` windows."""
        ahead = self.windows.present[which] * (1 - self._prefix)
        return (np.minimum(errors**2, LARGEST**2) * ahead).sum(axis=-1) / np.maximum(ahead.sum(axis=-1), 1)

    def differences(self) -> Float[np.ndarray, " pair"]:
        """Mean square difference of windows of two logs that begin at the same time, less what their starts explain."""
        w = self.windows
        pairs = [(i, j) for i in range(len(w)) for j in range(i) if w.which[i] != w.which[j] and _alike(w, i, j)]
        if not pairs:
            return np.empty(0)
        one, other = np.array(pairs).T
        off = w.measured[one] - w.measured[other]
        off -= np.einsum("wqs,wsp,wp->wq", self._best.by_start[one], self._back[one], off)
        return self.squares((off / np.sqrt(2) / self._spread * (1 - self._prefix))[None], one)[0]

    def thinned(self, most: int) -> "Foresight":
        """The same with `most` windows at most, evenly chosen."""
        if len(self.windows) <= most:
            return self
        chosen = np.unique(np.linspace(0, len(self.windows) - 1, most).astype(int))
        fewer = copy(self)
        fewer.windows, fewer._starts, fewer._back = self.windows.some(chosen), self._starts[chosen], self._back[chosen]
        fewer._shapes = {name: (param, part[chosen]) for name, (param, part) in self._shapes.items()}
        fewer._best = Slopes(*(part[chosen] for part in self._best))
        return fewer

    def floor(self) -> Float[np.ndarray, " window"]:
        """The mean square error that a perfect model would make."""
        slopes: Slopes = self._best
        expected = doubt(slopes, sharpened(slopes, self.windows, self._level), self._prefix) / self._spread
        return self.squares(expected[None])[0]


def _windows(simulator: Simulator, logs: list[Log], most: int) -> Windows:
    period_s = simulator.interface.period_s
    for ahead_s in (HORIZON_S, HORIZON_S / 2, HORIZON_S / 5):
        windows = cut(simulator, logs, PREFIX_S + ahead_s + period_s, EVERY_S)
        if windows is not None:
            return thin(windows, most)
    raise GaplessError("the held-out logs are too short to predict anything. Collect more, or longer, episodes.")


def _alike(windows: Windows, one: int, other: int) -> bool:
    """Whether two windows begin at the same time of their logs and were sampled alike."""
    together = abs(windows.begin_s[one] - windows.begin_s[other]) < ALIKE_S
    return together and float(np.abs(windows.times[one] - windows.times[other]).max()) < ALIKE_S


def _only(windows: Windows, queries: np.ndarray) -> Windows:
    """The windows with some of their samples."""
    columns = {k: getattr(windows, k)[:, queries] for k in ("times", "measured", "present")}
    return Windows(**{**windows.__dict__, **columns, "channel": windows.channel[queries]})
