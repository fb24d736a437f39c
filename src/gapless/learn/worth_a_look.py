"""Which parameters are worth a look as varying: those whose variation explains more than it costs."""

from dataclasses import replace

import numpy as np
from jaxtyping import Float

from gapless.core import Parameter

from .fewest import PARAMETER
from .least_squares import Fit
from .patterns import Pattern
from .shooting import PARAM_STEP, Shooting, Slopes
from .varying import places_of, shapes_of, ways_to_vary
from .view import View, misfit_of

WAYS = 2
"""Parameters that are looked at as varying, at most."""


class Look:
    """A fit of constants, and how every pattern would change what it leaves: the cost of one more iteration."""

    def __init__(self, view: View, found: Fit, doubted: tuple[Parameter, ...]) -> None:
        self.view, self.found = view, found
        windows, simulator = view.problem.shooting.windows, view.problem.shooting.simulator
        places = places_of(simulator, windows)
        self.ways = ways_to_vary(doubted, windows, places)
        patterns = tuple(dict.fromkeys(p for way in self.ways for p in way))
        self.shapes = shapes_of(patterns, windows, places)
        self._index = {p: k for k, p in enumerate(patterns)}
        self._columns = self._slopes(patterns)

    def _slopes(self, patterns: tuple[Pattern, ...]) -> Float[np.ndarray, "window query pattern"]:
        """Derivatives by each amplitude, a step away from the bounds: variation goes to both sides."""
        view, bounds = self.view, self.view.problem.bounds
        margin = 2 * PARAM_STEP * bounds.deviation
        inside = np.clip(self.found.params, np.maximum(bounds.low, view.low) + margin, bounds.high - margin)
        varies = np.isin(view.names, [p.param for p in patterns])
        constant = dict(zip(view.names, np.where(varies, inside, self.found.params), strict=True))
        shooting = view.problem.shooting
        names = tuple(p.name for p in patterns)
        each = Shooting(shooting.simulator, shooting.windows, names, {**view.fixed, **constant}, self.shapes)
        scale = bounds.deviation[[view.names.index(p.param) for p in patterns]]
        return each.slopes(np.zeros(len(names)), self.found.starts, scale).by_param

    def at(self, patterns: tuple[Pattern, ...]) -> tuple[View, Float[np.ndarray, " param"], Slopes]:
        """The view with these patterns, where the fit of constants is in it, and the slopes there."""
        if not patterns:
            return self.view, self.found.params, self.found.slopes
        own = self.found.slopes
        more = self._columns[..., [self._index[p] for p in patterns]]
        slopes = own._replace(by_param=np.concatenate([own.by_param, more], axis=-1))
        params = np.append(self.found.params, np.zeros(len(patterns)))
        view = self.view.widened(patterns, {p.name: self.shapes[p.name] for p in patterns})
        return replace(view, misfit=_misfit(view, params, slopes)), params, slopes

    def typical(self, patterns: tuple[Pattern, ...]) -> tuple[float, ...]:
        """The mean of each pattern over the windows."""
        return tuple(float(self.shapes[p.name][1].mean()) for p in patterns)

    def chosen(self) -> tuple[Pattern, ...]:
        """The patterns of the few parameters whose variation explains most beyond its price, one after the other.

        What a model leaves over is no noise but a curve for each channel of a window: so many count as independent.
        """
        windows = self.view.problem.shooting.windows
        curves, found = len(windows) * len(windows.columns), ()
        left = _misfit(*self.at(found))
        for _ in range(WAYS):
            trials = [(way, _misfit(*self.at(found + way))) for way in self.ways if not set(way) & set(found)]
            gains = [curves * np.log(left / then) - PARAMETER * len(way) for way, then in trials]
            if not gains or max(gains) <= 0:
                break
            way, left = trials[int(np.argmax(gains))]
            found += way
        return found


def _misfit(view: View, params: Float[np.ndarray, " param"], slopes: Slopes) -> float:
    """Mean square of what everything together would leave, never less than noise would."""
    windows = view.problem.shooting.windows
    return misfit_of(windows, view.left(params, slopes) / int(windows.present.sum()))
