"""Lessons from C MuJoCo: short stretches from everywhere that a robot may come, under commands of many kinds."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
from jaxtyping import Float

from gapless.core import GaplessError, Signals
from gapless.simulators.latency import hold_weights, integrator_lead_s
from gapless.simulators.mujoco_cpu import MujocoSimulator
from gapless.simulators.mujoco_state import MujocoState
from gapless.simulators.neural.commands import moments
from gapless.simulators.neural.contacts import touches
from gapless.simulators.neural.doubt import Periods

DEEPEST_M, NEAR_M = -0.004, 0.06
"""Starts that overlap by more are drawn again; half of those kept are nearer to touching than this."""
CANDIDATES = 8
WIDER = 1.5
"""How far beyond the reach of starts a robot still teaches."""
LEAST = 0.03
"""Smallest reach that leaving means anything for, and a tenth of the smallest such speed."""


@dataclass(frozen=True)
class Reach:
    """Where a joint may be and how fast it may move."""

    low: float
    high: float
    speed: float


@dataclass(frozen=True)
class Teach:
    """How lessons are drawn."""

    stretches: int = 20000
    """Stretches in all, each with parameters, a start and commands of its own."""
    length: int = 16
    """Control periods of each."""
    worlds: int = 500
    """Stretches simulated side by side."""
    explored: float = 0.3
    """Share of stretches that begin where a task would have training begin."""

    def __post_init__(self) -> None:
        if min(self.stretches, self.length, self.worlds) < 1 or not 0 <= self.explored <= 1:
            raise GaplessError("lessons need stretches, length and worlds of at least 1 and a share from 0 to 1.")


class Lessons(NamedTuple):
    """Stretches of simulated motion; every leaf leads with the stretch."""

    position: Float[np.ndarray, "stretch moment joint"]
    velocity: Float[np.ndarray, "stretch moment joint"]
    control: Float[np.ndarray, "stretch step both"]
    """Moments of the delayed commands over each period."""
    shares: Float[np.ndarray, "stretch param"]
    """Parameters, from −1 to 1 over their range."""
    counts: Float[np.ndarray, "stretch moment"]
    """1 as long as the robot is where it may be, 0 from then on."""


def one_by_one(found: Lessons) -> Periods:
    """All periods that count, each by itself."""
    counts = found.counts[:, 1:] > 0
    shares = np.repeat(found.shares[:, None], counts.shape[1], 1)
    sides = (found.position[:, :-1], found.velocity[:, :-1], found.control, shares, found.velocity[:, 1:])
    return Periods(*(side[counts] for side in sides))


_moments = jax.jit(moments)
Begin = Callable[[jax.Array, int], Signals]
Send = Callable[[Signals], np.ndarray]
"""What is known of the joints → commands."""


def lessons(
    physics: MujocoSimulator, reach: Mapping[str, Reach], begins: tuple[Begin, ...], recipe: Teach, rng: np.random.Generator
) -> Lessons:  # fmt: skip
    """All stretches, in pieces of `worlds`."""
    drawing = Drawing(physics.with_worlds(min(recipe.worlds, recipe.stretches)), reach, begins, recipe)
    pieces, state = -(-recipe.stretches // drawing.simulator.worlds), drawing.simulator.init()
    found = [drawing.piece(state, rng) for _ in range(pieces)]
    return Lessons(*(np.concatenate(side)[: recipe.stretches] for side in zip(*found, strict=True)))


class Drawing:
    """Where stretches begin and with which parameters, for as many worlds as the simulator has."""

    def __init__(
        self, simulator: MujocoSimulator, reach: Mapping[str, Reach], begins: tuple[Begin, ...], recipe: Teach
    ) -> None:
        self.simulator, self.recipe, self._begins = simulator, recipe, begins
        self.reach = [reach[j] for j in simulator.joints]

    def piece(self, state: MujocoState, rng: np.random.Generator) -> Lessons:
        """One stretch in each world."""
        params, start = self.params(rng), self.start(rng)
        return self._recorded(begun(self.simulator, state, params, start), params, Commands(self.simulator, rng))

    def written(self, rng: np.random.Generator) -> tuple[dict, dict, np.ndarray, Lessons]:
        """Parameters, starts and commands of one stretch in each world, to be played elsewhere, and what came of them."""
        params, start, send = self.params(rng), self.start(rng), Kept(Commands(self.simulator, rng))
        found = self._recorded(begun(self.simulator, self.simulator.init(), params, start), params, send)
        return params, start, np.stack(send.sent, 1), found

    def _recorded(self, first: tuple[MujocoState, Signals], params: dict, send: Send) -> Lessons:
        found = record(self.simulator, first, params, send, self.recipe.length)
        return found._replace(counts=_within(self.reach, found))

    def start(self, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """Some where tasks begin, the others from anywhere."""
        start, worlds = self.anywhere(rng), self.simulator.worlds
        for begin in self._begins:
            other = _begun(begin, worlds, jax.random.key(rng.integers(2**31)))
            start = _mixed(start, other, self.recipe.explored / len(self._begins), rng)
        return start

    def params(self, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """More often near what the model says than far from it, and everywhere in the plausible range."""
        worlds, free = self.simulator.worlds, [p for p in self.simulator.parameters if p.free]
        even = rng.random(worlds) < 0.4
        drawn = {}
        for p in free:
            far, near = rng.uniform(p.low, p.high, worlds), rng.normal(p.nominal, (p.high - p.low) / 4, worlds)
            drawn[p.name] = np.where(even | (near < p.low) | (near > p.high), far, near)
        return drawn

    def anywhere(self, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """Starts from all over the reach, calm ones and fast ones; where something may touch, half of them near to it."""
        worlds, joints = self.simulator.worlds, self.simulator.joints
        low, high, speed = (np.array([getattr(r, side) for r in self.reach]) for side in ("low", "high", "speed"))
        place = self._touching(rng.uniform(low, high, (CANDIDATES * worlds, len(joints))), rng)
        haste = rng.random((worlds, 1)) ** 1.5
        fast = haste * speed * rng.uniform(-1, 1, (worlds, len(joints)))
        sides = {"position": place, "velocity": fast}
        return {f"{j}.{side}": v[:, k : k + 1] for side, v in sides.items() for k, j in enumerate(joints)}

    def _touching(self, place: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        worlds, found = self.simulator.worlds, _gaps(self.simulator.model, place)
        if not found:
            return place[:worlds]
        gaps = np.stack([np.asarray(g) for g in found], 1)
        free = np.flatnonzero(gaps.min(1) > DEEPEST_M)
        near = free[gaps[free].max(1) < NEAR_M]
        if len(free) < worlds:
            raise GaplessError("most starts within reach overlap something. Narrow the reach of the joints.")
        half = min(worlds // 2, len(near))
        chosen = [rng.choice(near, half, replace=False), rng.choice(free, worlds - half, replace=False)]
        return place[np.concatenate(chosen)]


def played(
    simulator: MujocoSimulator, params: dict, start: dict, sent: Float[np.ndarray, "world step command"]
) -> Lessons:
    """Stretches with given parameters, starts and commands."""
    rows = iter(np.moveaxis(sent, 1, 0))
    first = begun(simulator, simulator.init(), params, start)
    return record(simulator, first, params, lambda known: next(rows), sent.shape[1])


def begun(simulator: MujocoSimulator, state: MujocoState, params: dict, start: Signals) -> tuple[MujocoState, Signals]:
    """All worlds at their start, and what is known of it."""
    state, _, known = simulator.reset(state, np.ones(simulator.worlds, bool), params, start, jax.random.key(0))
    return state, known


def record(
    simulator: MujocoSimulator, first: tuple[MujocoState, Signals], params: dict, send: Send, length: int
) -> Lessons:
    """What follows from a state under the commands that `send` answers with."""
    state, known = first
    rows, sent = [_joined(simulator, known)], []
    for _ in range(length):
        sent.append(send(known))
        command = {c.name: sent[-1][:, k : k + 1] for k, c in enumerate(simulator.interface.commands)}
        state, _, known = simulator.step(state, command, jax.random.key(0))
        rows.append(_joined(simulator, known))
    position, velocity = np.stack(rows, 1).astype(np.float32).transpose(0, 2, 1, 3)
    told = told_of(simulator, np.stack(sent, 1), params)
    shares = [2 * (params[p.name] - p.low) / (p.high - p.low) - 1 for p in simulator.physical if p.free]
    everything = np.ones(position.shape[:2], np.float32)
    return Lessons(position, velocity, told, np.stack(shares, -1).astype(np.float32), everything)


def _within(reach: list[Reach], found: Lessons) -> Float[np.ndarray, "stretch moment"]:
    """Whether nothing has left its reach, widened a little, up to each moment; a joint that may turn round cannot leave."""
    low, high, speed = (np.array([getattr(r, side) for r in reach]) for side in ("low", "high", "speed"))
    half = np.maximum((high - low) / 2, LEAST)
    off = np.where(half > 3, 0.0, np.abs(found.position - (high + low) / 2) / half)
    beyond = np.maximum(off, np.abs(found.velocity) / np.maximum(speed, 10 * LEAST)).max(-1) > WIDER
    return (np.cumsum(beyond, axis=1) == 0).astype(np.float32)


def told_of(simulator: MujocoSimulator, sent: Float[np.ndarray, "world step command"], params: dict) -> np.ndarray:
    """Moments of commands sent one by one from rest, delayed as each world delays them."""
    interface = simulator.interface
    latency = params.get("command.latency", np.zeros(len(sent)))
    remembered = 1 + int(np.ceil((latency.max() + 1.0 * simulator.model.opt.timestep) / interface.period_s))
    delayed = "command.latency" in {p.name for p in simulator.parameters}
    lead_s = integrator_lead_s(simulator.model) if delayed else 0.0
    weights = hold_weights(latency + lead_s, interface.period_s, simulator.substeps, remembered)
    past = np.concatenate([np.zeros((len(sent), remembered - 1, sent.shape[2])), sent], 1)
    windows = np.stack([past[:, remembered - 1 - k : past.shape[1] - k] for k in range(remembered)], 2)
    return np.asarray(_moments(np.einsum("wsp,wkpc->wksc", weights, windows)))


class Commands:
    """Levels held for a while, some of them at the limits, and beside them random feedback; each world in its own way."""

    def __init__(self, simulator: MujocoSimulator, rng: np.random.Generator) -> None:
        channels = simulator.interface.commands
        boundless = [c.name for c in channels if not np.isfinite([c.low, c.high]).all()]
        if boundless:
            raise GaplessError(f"command {boundless[0]!r} has no limits to excite the robot within. Set its ctrlrange.")
        self._rng, worlds, width, joints = rng, simulator.worlds, len(channels), len(simulator.joints)
        self._low, self._high = (np.array([getattr(c, s) for c in channels]) for s in ("low", "high"))
        self._size = rng.random((worlds, 1)) ** 0.7
        self._change = rng.choice([0.08, 0.25, 1.0], (worlds, 1))
        self._bang = rng.random((worlds, 1)) < 0.3
        gains = rng.normal(size=(2, worlds, joints, width)) * (rng.random((worlds, 1, 1)) < 0.4)
        self._gains = gains * np.array([1.0, 0.2]).reshape(2, 1, 1, 1)
        self._level, self._joints = np.zeros((worlds, width)), simulator.joints
        self._level = self._drawn()

    def __call__(self, known: Signals) -> np.ndarray:
        switch = self._rng.random(self._level.shape) < self._change
        self._level = np.where(switch, self._drawn(), self._level)
        place, speed = (np.concatenate([known[f"{j}.{s}"] for j in self._joints], 1) for s in ("position", "velocity"))
        back = np.einsum("wj,wjc->wc", np.sin(place), self._gains[0]) + np.einsum("wj,wjc->wc", speed, self._gains[1])
        half = (self._high - self._low) / 2
        return np.clip((self._high + self._low) / 2 + half * (self._level + back), self._low, self._high)

    def _drawn(self) -> np.ndarray:
        even = self._rng.uniform(-1, 1, self._level.shape)
        return self._size * np.where(self._bang, np.sign(even), even)


def starts_of(begins: tuple[Begin, ...], worlds: int, rng: np.random.Generator) -> Signals:
    """Where one of the tasks begins, or, without any, where the model does."""
    return _begun(begins[rng.integers(len(begins))], worlds, jax.random.key(rng.integers(2**31))) if begins else {}


@partial(jax.jit, static_argnums=(0, 1))
def _begun(begin: Begin, worlds: int, key: jax.Array) -> Signals:
    return begin(key, worlds)


@partial(jax.jit, static_argnums=0)
def _gaps(model: mujoco.MjModel, place: jax.Array) -> list[jax.Array]:
    return [jnp.broadcast_to(t.gap, len(place)) for t in touches(model)(place)]


class Kept:
    """Commands, and a list of them."""

    def __init__(self, send: Send) -> None:
        self._send, self.sent = send, list[np.ndarray]()

    def __call__(self, known: Signals) -> np.ndarray:
        self.sent.append(self._send(known))
        return self.sent[-1]


def _mixed(start: dict, other: Signals, share: float, rng: np.random.Generator) -> dict:
    """A share of the starts from the other, whose joints are zero where it names none."""
    worlds = len(next(iter(start.values())))
    take = rng.random((worlds, 1)) < share
    return {k: np.where(take, np.asarray(other.get(k, np.zeros((worlds, 1))), np.float64), v) for k, v in start.items()}


def _joined(simulator: MujocoSimulator, known: Signals) -> np.ndarray:
    return np.stack(
        [np.concatenate([known[f"{j}.{s}"] for j in simulator.joints], 1) for s in ("position", "velocity")]
    )
