"""How each window's misfit answers to what a residual adds in every period: windows linearised around the present simulator."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from gapless.core import Params
from gapless.simulators import Around, MujocoSimulator
from gapless.simulators.parts import Probe, Residual

from .least_squares import fit_starts
from .shooting import PARAM_STEP, Shooting
from .windows import Windows, read_joints

NUDGE = 0.02
"""Finite difference of a knot, as a share of the correction's natural size."""


class Linear(NamedTuple):
    """Windows in which `misfit + answer · (what is added − said)` is left over, in units of the sensors' noise.

    Each window's start is projected out: it is free, and explains whatever it can.
    """

    misfit: Float[np.ndarray, "window query"]
    answer: dict[str, Float[np.ndarray, "window query period"]]
    saw: dict[str, Float[np.ndarray, "window period number"]]
    """What each correction saw along the present trajectory."""
    said: dict[str, Float[np.ndarray, "window period"]]
    """What the residual added there."""


def linearise(
    simulator: MujocoSimulator, residual: Residual, params: Params, windows: Windows,
    level: Float[np.ndarray, " query"], sizes: dict[str, float], stretch: int = 2,
) -> Linear:  # fmt: skip
    """The windows around the simulator with this residual; `sizes` are the natural sizes of its corrections."""
    periods = round(float(windows.times.max()) / simulator.interface.period_s) + 1
    probe = Probe(residual, periods, stretch)
    probed = simulator.with_around(Around(residual=probe, parameters=probe.parameters))
    fixed = {p.name: float(params.get(p.name, p.nominal)) for p in probed.parameters}
    starts, _ = fit_starts(Shooting(probed, windows, (), fixed), np.empty(0), level, np.ones(len(level)), 3)
    scale = np.repeat([sizes[c.name] for c in residual.corrections], probe.per_correction) * NUDGE / PARAM_STEP
    slopes = Shooting(probed, windows, probe.knots, fixed).slopes(np.zeros(len(scale)), starts, scale)
    without_start = _projection(slopes.by_start / level[:, None])
    misfit = without_start((slopes.residual / level)[..., None])[..., 0]
    by_knot = without_start(slopes.by_param / level[:, None])
    noted = _noted(probed, fixed, starts, windows)
    answer = {}
    for k, c in enumerate(residual.corrections):
        mine = by_knot[..., k * probe.per_correction : (k + 1) * probe.per_correction]
        answer[c.name] = np.repeat(mine, stretch, axis=-1)[..., :periods] / stretch
    return Linear(misfit, answer, noted["saw"], noted["said"])


def _projection(by_start: Float[np.ndarray, "window query state"]) -> Callable[[np.ndarray], np.ndarray]:
    """Takes out of (window, query, …) what a change of the starts could have done."""
    normal = np.einsum("wqs,wqt->wst", by_start, by_start)
    size = normal.shape[1]
    normal += 1e-6 * np.eye(size) * np.einsum("wss->w", normal)[:, None, None] + 1e-9 * np.eye(size)
    back = np.linalg.solve(normal, np.swapaxes(by_start, 1, 2))
    return lambda values: values - by_start @ (back @ values)


def _noted(probed: MujocoSimulator, fixed: Params, starts: np.ndarray, windows: Windows) -> dict:
    sides = [f"{j}.{side}" for side in ("position", "velocity") for j in read_joints(probed)]
    start = {name: starts[:, i : i + 1] for i, name in enumerate(sides)}
    values = {k: np.full(len(windows), v) for k, v in fixed.items()}
    memory = probed.play_and_recall(values, start, windows.holds(1), windows.times)[1]["residual"]
    return {k: {name: np.asarray(v) for name, v in memory[k].items()} for k in ("saw", "said")}
