"""Motions tried in simulation, in closed loop, in every draw of a belief: how they go and how near the limits they come."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Float

from gapless.core import Block, Channel, Interface, Params, Signals, Simulator, unstack

from .excitation import AHEAD_S
from .motions import Reach
from .teaching import Course

Base = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""(measured, measured before) → the commands to which a motion is added, all with a leading world axis."""


class Trial:
    """Simulates motions under what holds them: a pull off the limits, or a policy."""

    def __init__(self, simulator: Simulator, limits: Interface, reach: Reach) -> None:
        self.simulator, self.limits, self.reach = simulator, limits, reach
        self.pull = np.zeros((simulator.interface.command_width, simulator.interface.measurement_width))
        self.middle = np.zeros(simulator.interface.measurement_width)
        self.policy: Block | None = None
        self._worlds: dict[int, tuple[Simulator, Callable]] = {}

    def run(
        self,
        draws: Params,
        rows: Float[np.ndarray, "motion period command"],
        firmness: Float[np.ndarray, "motion command"] | None = None,
    ) -> Course:
        """Every motion in every draw, pulled `firmness` times as much as the pull says."""
        count, copies, interface = len(rows), len(next(iter(draws.values()))), self.simulator.interface
        wide, step = self._wide(count * copies)
        key = np.zeros(2, np.uint32) if not wide.traceable else jax.random.key(0)
        params = {k: np.tile(np.asarray(v, np.float64), count) for k, v in draws.items()}
        state, seen, privileged = wide.reset(wide.init(), np.ones(wide.worlds, bool), params, {}, key)
        firm = np.ones((count, rows.shape[2])) if firmness is None else firmness
        base = self._pulled(np.repeat(firm, copies, axis=0)) if self.policy is None else self._led(wide.worlds)
        motions, sent, read, states = np.repeat(rows, copies, axis=0), [], [], []
        command = np.broadcast_to(self.reach.rest, motions[:, 0].shape)
        for k in range(rows.shape[1]):
            read.append(np.concatenate([np.asarray(seen[n]) for n in interface.measurement_names], axis=1))
            states.append({n: np.asarray(v) for n, v in privileged.items()})
            command = self.reach.limited(motions[:, k] + base(read[-1], read[max(k - 1, 0)]), command)
            sent.append(command)
            state, seen, privileged = step(state, unstack(command, interface.command_widths), key)
        shape = (count, copies, rows.shape[1], -1)
        hinged = {f"{j}.{side}" for j in self.simulator.joints for side in ("position", "velocity")}
        return Course(
            np.stack(sent, axis=1).reshape(shape),
            unstack(np.stack(read, axis=1).reshape(shape), interface.measurement_widths),
            {n: np.stack([s[n] for s in states], axis=1).reshape(shape) for n in states[0] if n in hinged},
        )

    def usage(self, course: Course) -> Float[np.ndarray, "motion draw"]:
        """How much of its way to the limits each motion uses in each draw: 1 is at a limit, infinite what blew up."""
        period_s = self.simulator.interface.period_s
        used = [_used(self.limits.channel(c.name), course.seen[c.name], period_s) for c in self.limits.measurements]
        most = np.maximum.reduce(used)
        return np.where(np.isfinite(most), most, np.inf)

    def _pulled(self, firmness: Float[np.ndarray, "world command"]) -> Base:
        """The pull towards the middle."""
        periods = AHEAD_S / self.simulator.interface.period_s

        def command(seen: np.ndarray, before: np.ndarray) -> np.ndarray:
            ahead = seen + periods * (seen - before)
            return -firmness * ((ahead - self.middle) @ self.pull.T)

        return command

    def _led(self, worlds: int) -> Base:
        """The policy's own commands."""
        assert self.policy is not None
        policy, interface = self.policy, self.simulator.interface
        held = [jax.vmap(policy.init)(jax.random.split(jax.random.key(0), worlds))]

        def command(seen: np.ndarray, before: np.ndarray) -> np.ndarray:
            inputs = unstack(np.asarray(seen, np.float32), interface.measurement_widths)
            held[0], out = _policy_step(policy, held[0], inputs, interface.period_s)
            return np.concatenate([np.asarray(out[n], np.float64) for n in interface.command_names], axis=1)

        return command

    def _wide(self, worlds: int) -> tuple[Simulator, Callable]:
        if worlds not in self._worlds:
            wide = self.simulator.with_worlds(worlds)
            self._worlds[worlds] = wide, jax.jit(wide.step) if wide.traceable else wide.step
        return self._worlds[worlds]


@eqx.filter_jit
def _policy_step(policy: Block, memory: Any, inputs: Signals, dt_s: float) -> tuple[Any, Signals]:
    return jax.vmap(lambda m, i: policy.step({}, m, i, dt_s, jax.random.key(0)))(memory, inputs)


def _used(channel: Channel, values: Float[np.ndarray, "motion draw period width"], period_s: float) -> np.ndarray:
    """The largest share of the way from the start, or from the middle where that is kinder, to either limit."""
    begin = values[:, :, :1]
    middle = (channel.low + channel.high) / 2 if np.isfinite(channel.low + channel.high) else begin
    used = np.zeros(values.shape)
    with np.errstate(invalid="ignore", divide="ignore"):
        for side in (channel.low, channel.high):
            if np.isfinite(side):
                ways = [(values - origin) / (side - origin) for origin in (begin, middle)]
                used = np.maximum(used, np.nan_to_num(np.minimum(*ways), nan=np.inf))
    used = np.where(np.isfinite(values), used, np.inf).max(axis=(2, 3))
    if not np.isfinite(channel.rate):
        return used
    # As the gate measures rates: over two periods, so that noise does not look like speed.
    rate = np.abs(values[:, :, 2:] - values[:, :, :-2]).max(axis=(2, 3)) / (2 * period_s)
    return np.maximum(used, rate / channel.rate)
