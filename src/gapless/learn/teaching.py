"""What a motion would teach: the parameters' expected errors after it, had identification seen its windows, starts unknown."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from gapless.core import Gaussian, Holds, Params, Signals, Simulator
from gapless.simulators.quiet import quietly

from .windows import read_joints

PARAM_STEP, START_STEP = 0.01, 1e-3
"""Finite differences, as shares of a parameter's size and in joint units: large enough for single precision."""
LEAD_S = 0.1
"""Windows begin no earlier: the first commands still carry what was sent before."""


class Course(NamedTuple):
    """Motions as they went in simulation, each in several draws: all (motion, draw, period, …)."""

    commands: Float[np.ndarray, "motion draw period command"]
    seen: Signals
    states: Signals
    """Where the joints were and how fast they moved, by the names that starts have."""

    def only(self, motion: int) -> "Course":
        """One of the motions."""
        return self._cut((slice(motion, motion + 1),))

    def in_draws(self, count: int) -> "Course":
        """All motions in the first draws."""
        return self._cut((slice(None), slice(count)))

    def _cut(self, where: tuple[slice, ...]) -> "Course":
        seen, states = ({k: v[where] for k, v in side.items()} for side in (self.seen, self.states))
        return Course(self.commands[where], seen, states)


class Teaching:
    """Scores motions by the relative errors of a belief's parameters that they would leave."""

    def __init__(self, simulator: Simulator, belief: Gaussian, noise: dict[str, float], window_s: float) -> None:
        self.simulator, self.belief, self.noise = simulator, belief, noise
        self.free = [k for k, name in enumerate(belief.names) if not name.endswith(".noise")]
        self.samples = max(3, round(window_s / simulator.interface.period_s))

    def sizes(self, draws: Params) -> Float[np.ndarray, "draw param"]:
        """What an error counts against: the parameter itself, or its doubt where it is nearly nothing."""
        deviation = np.sqrt(np.diag(self.belief.covariance))
        values = np.stack([np.abs(np.asarray(draws[self.belief.names[k]])) for k in self.free], axis=-1)
        return np.maximum(values, 0.5 * deviation[self.free])

    def expected(self, draws: Params, course: Course) -> Float[np.ndarray, "motion draw param"]:
        """The relative variance of each parameter after each motion, in each draw."""
        size = self.sizes(draws)
        known = np.linalg.inv(self.belief.covariance[np.ix_(self.free, self.free)])
        before = known * size[:, :, None] * size[:, None, :]
        return np.diagonal(np.linalg.inv(before + self.information(draws, course)), axis1=-2, axis2=-1)

    def deviations(self, draws: Params, course: Course) -> tuple[dict[str, float], dict[str, float]]:
        """Of each parameter: its deviation today, and the one expected after the first motion as it goes in the first draw."""
        first = {n: np.asarray(v)[:1] for n, v in draws.items()}
        after = np.sqrt(self.expected(first, course.only(0).in_draws(1))[0, 0]) * self.sizes(first)[0]
        today = np.sqrt(np.diag(self.belief.covariance))[self.free]
        names = [self.belief.names[k] for k in self.free]
        return dict(zip(names, today.tolist(), strict=True)), dict(zip(names, after.tolist(), strict=True))

    def information(self, draws: Params, course: Course) -> Float[np.ndarray, "motion draw param param"]:
        """What the windows of each motion say about the relative parameters, each window's start eliminated."""
        begins = self._begins(course)
        by_param, by_start = self._slopes(draws, course, begins)
        h_ss = np.einsum("mdwqs,mdwqt->mdwst", by_start, by_start)
        h_ss += 1e-9 * np.eye(h_ss.shape[-1])
        h_sp = np.einsum("mdwqs,mdwqp->mdwsp", by_start, by_param)
        told = np.einsum("mdwqp,mdwqr->mdpr", by_param, by_param, optimize=True)
        told -= np.einsum("mdwsp,mdwsr->mdpr", h_sp, np.linalg.solve(h_ss, h_sp))
        return told

    def _begins(self, course: Course) -> Int[np.ndarray, "draw window"]:
        """The periods at which windows begin, the same in each draw: a motion that pleases half of them is no better."""
        copies, periods = course.commands.shape[1:3]
        lead = round(LEAD_S / self.simulator.interface.period_s)
        return np.tile(np.arange(lead, max(periods - self.samples, lead + 1), self.samples), (copies, 1))

    def _slopes(self, draws: Params, course: Course, begins: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Measurements in units of the noise, by relative parameter and by start: (motion, draw, window, query, …)."""
        joints = read_joints(self.simulator)
        nudged = [f"{j}.{side}" for side in ("position", "velocity") for j in joints]
        columns = 1 + len(self.free) + len(nudged)
        shape = len(course.commands), *begins.shape, columns
        params, steps = self._nudged_params(draws, shape)
        start = self._nudged_starts(course.states, begins, nudged, shape)
        seen = self._play(course.commands, begins, params, start, shape)
        change = np.moveaxis(seen[:, :, :, 1:] - seen[:, :, :, :1], 3, -1)
        change = np.nan_to_num(change, posinf=0.0, neginf=0.0)
        size = len(self.free)
        return change[..., :size] / steps[:, None, None, :], change[..., size:] / START_STEP

    def _nudged_params(self, draws: Params, shape: tuple) -> tuple[Params, Float[np.ndarray, "draw param"]]:
        belief, size = self.belief, self.sizes(draws)
        values = {n: np.broadcast_to(np.asarray(v, np.float64)[:, None, None], shape).copy() for n, v in draws.items()}
        steps = np.empty(size.shape)
        for i, k in enumerate(self.free):
            name, step = belief.names[k], PARAM_STEP * size[:, i]
            down = np.asarray(draws[name]) + step > belief.high[k]
            signed = np.where(down, -step, step)
            values[name][..., 1 + i] += signed[:, None]
            steps[:, i] = signed / size[:, i]
        return {n: v.reshape(-1) for n, v in values.items()}, steps

    def _nudged_starts(self, states: Signals, begins: np.ndarray, nudged: list[str], shape: tuple) -> Signals:
        start = {}
        for name, values in states.items():
            at_begin = values[:, np.arange(len(begins))[:, None], begins]
            rows = np.broadcast_to(at_begin[..., None, :], (*shape, values.shape[-1])).copy()
            if name in nudged:
                rows[..., shape[-1] - len(nudged) + nudged.index(name), :] += START_STEP
            start[name] = rows.reshape(-1, values.shape[-1])
        return start

    def _play(
        self, commands: np.ndarray, begins: np.ndarray, params: Params, start: Signals, shape: tuple
    ) -> np.ndarray:
        period_s, worlds = self.simulator.interface.period_s, int(np.prod(shape))
        clock = np.arange(commands.shape[2]) * period_s
        logs = commands.reshape(-1, *commands.shape[2:])
        which = np.arange(len(logs)).reshape(*shape[:2], 1, 1)
        which, offset = (np.broadcast_to(v, shape).reshape(-1) for v in (which, (begins * period_s)[None, :, :, None]))
        holds = Holds([clock] * len(logs), list(logs), which, offset)
        times = np.tile(np.arange(self.samples) * period_s, (worlds, 1))
        with quietly():
            seen = self.simulator.with_worlds(worlds).play(params, start, holds, times)
        found = [seen[n] / self.noise[n] for n in self.simulator.interface.measurement_names]
        return np.concatenate([v.reshape(*shape, -1) for v in found], axis=-1)
