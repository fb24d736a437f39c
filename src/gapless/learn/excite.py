"""A motion that teaches: sums of sines, kept inside the limits in every simulation that the belief allows."""

from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from gapless.core import (
    Block,
    GaplessError,
    Gaussian,
    Holds,
    Interface,
    Params,
    Signals,
    Simulator,
    generator_from,
    unstack,
)
from gapless.nets.policy import command_scale

SINES = 5
AHEAD_S = 0.15
"""How far ahead of the measured motion the pull looks: a spring alone would swing."""
QUIETER = 0.6
ROUNDS = 5
"""A motion that leaves the limits is tried again, each time quieter."""


@dataclass(frozen=True)
class Excite:
    """Choose the next motion by what it would teach."""

    candidates: int = 32
    """Motions scored."""
    doubts: int = 6
    """Draws from the belief in which each must stay inside the limits."""
    share: float = 0.8
    """Largest command used, as a share of its limit."""
    margin: float = 0.75
    """Share of the measured limits that the simulated motions may use."""
    pull: float = 0.35
    """Strength of the pull towards the middle, at the margin, as a share of the largest command used."""
    slowest_hz: float = 0.25
    """Slowest sine."""
    fastest_hz: float = 3.0
    """Fastest sine."""


class Excitation(Block):
    """Commands written beforehand, one row per period, and a weak pull that keeps limited channels off their limits.

    Its memory is the number of the row and the last measurement.
    """

    interface: Interface = eqx.field(static=True)
    rows: Float[Array, "period command"]
    pull: Float[Array, "command measurement"]
    middle: Float[Array, " measurement"]

    def init(self, key: PRNGKeyArray) -> tuple[Array, Array]:
        return jnp.zeros((), jnp.int32), jnp.zeros(self.middle.shape)

    def step(
        self, params: Params, memory: tuple[Array, Array], inputs: Signals, dt_s: float, key: PRNGKeyArray
    ) -> tuple[tuple[Array, Array], Signals]:
        row, last = memory
        seen = jnp.concatenate([inputs[name] for name in self.interface.measurement_names])
        ahead = seen + jnp.where(row > 0, AHEAD_S / self.interface.period_s, 0.0) * (seen - last)
        centre, half = command_scale(self.interface)
        wanted = self.rows[jnp.minimum(row, len(self.rows) - 1)] - self.pull @ (ahead - self.middle)
        values = jnp.clip(wanted, centre - half, centre + half)
        return (row + 1, seen), unstack(values, self.interface.command_widths)


def excite(
    simulator: Simulator, belief: Gaussian, limits: Interface, seconds: float, recipe: Excite, key: PRNGKeyArray
) -> Excitation:
    """The candidate that says most about the belief's parameters among those that stay inside the robot's limits."""
    rng = generator_from(key)
    motions = _candidates(simulator.interface, seconds, recipe, rng)
    pull, middle = _pull(simulator, limits, recipe)
    draws = belief.sample(jax.random.key(int(rng.integers(2**31))), recipe.doubts)
    draws = {k: np.asarray(v, np.float64) for k, v in draws.items()}
    draws = {k: np.concatenate([[float(np.asarray(belief.mean()[k]))], v]) for k, v in draws.items()}
    rows, commands = _as_loud_as_safe(simulator, draws, motions, (pull, middle), limits, recipe)
    if not len(rows):
        raise GaplessError("no candidate motion stays inside the limits. Lower excite.share or widen the limits.")
    best = np.argmax(_teaching(simulator, belief, commands))
    return Excitation(simulator.interface, *(jnp.asarray(v, jnp.float32) for v in (rows[best], pull, middle)))


def _as_loud_as_safe(
    simulator: Simulator, draws: Params, motions: np.ndarray, back: tuple[np.ndarray, np.ndarray],
    limits: Interface, recipe: Excite,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """Each motion that can be made safe, as loud as it may be, and the commands it comes to at the belief's centre."""
    rest, period_s = command_scale(simulator.interface)[0], simulator.interface.period_s
    kept, sent, rows = [], [], motions
    for _ in range(ROUNDS):
        commands, seen = _simulate(simulator, draws, rows, *back)
        safe = _inside(limits, period_s, seen, recipe)
        kept.append(rows[safe])
        sent.append(commands[safe, 0])
        rows = rest + QUIETER * (rows[~safe] - rest)
        if not len(rows):
            break
    return np.concatenate(kept), np.concatenate(sent)


def _pull(simulator: Simulator, limits: Interface, recipe: Excite) -> tuple[np.ndarray, np.ndarray]:
    """Gains from limited channels to the commands that move them: at the margin, the pull is a share of the motion."""
    interface = simulator.interface
    centre, half = command_scale(interface)
    steps = max(2, round(0.2 / interface.period_s))
    pushes = np.tile(centre, (1 + interface.command_width, steps, 1)).astype(float)
    pushes[1 + np.arange(interface.command_width), :, np.arange(interface.command_width)] += half[:, None]
    seen = _play(simulator, {}, pushes)
    moved = np.concatenate([seen[n][:, -1] for n in interface.measurement_names], axis=1)
    columns = [limits.channel(c.name) for c in interface.measurements for _ in range(c.width)]
    middle = np.array([(c.low + c.high) / 2 if np.isfinite(c.low + c.high) else 0.0 for c in columns])
    reach = np.array([c.high - m for c, m in zip(columns, middle, strict=True)])
    answer = (moved[1:] - moved[:1]) / np.where(np.isfinite(reach), reach, np.inf)
    strongest = np.abs(answer) == np.abs(answer).max(axis=0, keepdims=True)
    pull = np.sign(answer) * strongest * (np.abs(answer) > 1e-9) * half[:, None] * recipe.share * recipe.pull
    return pull / np.where(np.isfinite(reach), recipe.margin * reach, np.inf), middle


def _simulate(
    simulator: Simulator, draws: Params, motions: np.ndarray, pull: np.ndarray, middle: np.ndarray
) -> tuple[np.ndarray, Signals]:
    """Every motion in every draw, in closed loop: commands and measurements as (motion, draw, period, …)."""
    count, copies = len(motions), len(next(iter(draws.values())))
    wide = simulator.with_worlds(count * copies)
    interface, key = simulator.interface, np.zeros(2, np.uint32)
    params = {k: np.tile(v, count) for k, v in draws.items()}
    state, seen, _ = wide.reset(wide.init(), np.ones(wide.worlds, bool), params, {}, key)
    centre, half = command_scale(interface)
    rows, sent, read = np.repeat(motions, copies, axis=0), [], []
    for k in range(motions.shape[1]):
        read.append(np.concatenate([np.asarray(seen[n]) for n in interface.measurement_names], axis=1))
        ahead = read[-1] + AHEAD_S / interface.period_s * (read[-1] - read[max(k - 1, 0)])
        wanted = rows[:, k] - (ahead - middle) @ pull.T
        sent.append(np.clip(wanted, centre - half, centre + half))
        command = unstack(sent[-1], interface.command_widths)
        state, seen, _ = wide.step(state, command, key)
    shape = (count, copies, motions.shape[1], -1)
    measured = np.stack(read, axis=1).reshape(shape)
    named = unstack(measured, interface.measurement_widths)
    return np.stack(sent, axis=1).reshape(shape), named


def _candidates(interface: Interface, seconds: float, recipe: Excite, rng: np.random.Generator) -> np.ndarray:
    """Sums of sines of random pitch and phase, from faint to the largest allowed."""
    times = np.arange(round(seconds / interface.period_s) + 1) * interface.period_s
    middle, half = command_scale(interface)
    shape = (recipe.candidates, SINES, interface.command_width)
    pitch = np.exp(rng.uniform(np.log(recipe.slowest_hz), np.log(recipe.fastest_hz), shape))
    weight, phase = rng.uniform(0.2, 1.0, shape), rng.uniform(0, 2 * np.pi, shape)
    waves = (weight[:, None] * np.sin(2 * np.pi * pitch[:, None] * times[None, :, None, None] + phase[:, None])).sum(2)
    loudness = np.linspace(0.3, recipe.share, recipe.candidates)[:, None, None]
    gentle = np.minimum(times / 0.2, 1.0)[None, :, None]
    return middle + half * loudness * gentle * waves / np.abs(waves).max(axis=1, keepdims=True)


def _inside(limits: Interface, period_s: float, seen: Signals, recipe: Excite) -> np.ndarray:
    """Which motions stay inside the margin in every draw."""
    good = np.ones(len(next(iter(seen.values()))), bool)
    for c in limits.measurements:
        values = np.asarray(seen[c.name])
        middle = (c.low + c.high) / 2 if np.isfinite(c.low + c.high) else 0.0
        good &= (np.abs(values - middle) <= recipe.margin * (c.high - middle)).all(axis=(1, 2, 3))
        good &= (np.abs(np.diff(values, axis=2)) <= recipe.margin * c.rate * period_s).all(axis=(1, 2, 3))
    return good


def _teaching(simulator: Simulator, belief: Gaussian, motions: np.ndarray) -> np.ndarray:
    """Log determinant of what each motion would say about the parameters, at the belief's centre."""
    free = [k for k in range(len(belief.names)) if not belief.names[k].endswith(".noise")]
    size, deviation = len(free), np.sqrt(np.diag(belief.covariance))
    step = 0.02 * deviation
    copies = np.repeat(motions, 1 + size, axis=0)
    params = {n: np.full(len(copies), v) for n, v in zip(belief.names, belief.centre, strict=True)}
    for i, k in enumerate(free):
        params[belief.names[k]][1 + i :: 1 + size] += step[k]
    seen = _play(simulator, params, copies)
    total = np.zeros((len(motions), size, size))
    for values in seen.values():
        rows = values.reshape(len(motions), 1 + size, -1)
        spread = 0.01 * max(float(rows[:, 0].std()), 1e-9)
        slope = (rows[:, 1:] - rows[:, :1]) / (0.02 * spread)
        total += np.einsum("mpt,mqt->mpq", slope, slope)
    return np.linalg.slogdet(np.eye(size) + total)[1]


def _play(simulator: Simulator, params: Params, motions: np.ndarray) -> Signals:
    period_s, (worlds, steps, _) = simulator.interface.period_s, motions.shape
    times = np.arange(steps) * period_s
    holds = Holds([times] * worlds, list(motions), np.arange(worlds), np.zeros(worlds))
    wide = simulator.with_worlds(worlds)
    return wide.play(params, {}, holds, np.tile(times, (worlds, 1)))
