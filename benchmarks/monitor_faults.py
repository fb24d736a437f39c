"""Twins that break in the middle of an episode: what each fault does to the hidden physics or to a reading, and when it matters.

The rule, fixed before any result: a fault counts if it matters to the motion. The same episode is played with and without it,
from the same start and with the same noise; it matters if, within the half second in which it must be caught, some joint is
elsewhere by more than a tenth of the deviation that this joint has over whole healthy episodes. A motor that loses its strength
while nobody uses it is no fault that anybody could see, or would miss.

That half second is counted twice: from the moment at which something breaks, and from the moment at which it first shows, when
some reading is three deviations of its own noise away from what it is in the same episode without the fault. By the second clock
a fault that never shows, or only when less than half a second is left, is counted apart.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, Self

import jax
import jax.numpy as jnp
import numpy as np

from gapless.core import Signals, by_world
from gapless.robots.reality import Reality
from inside import Inside

WITHIN_S = 0.5
"""Time in which a fault must be caught."""
MATTERS = 0.1
"""Share of a joint's deviation by which it must be elsewhere."""
SHOWS = 3.0
"""Deviations of a sensor's noise from which on a reading shows a fault."""
READS = 256
"""Readings of one state from which a sensor's noise is told."""
HEAVIER = {"cartpole": ("pole_kg", 1.5), "furuta": ("pendulum_kg", 1.5), "puck": ("lower_kg", 1.5)}
"""What a payload hangs on, and how much heavier it makes it."""
LATER_S = 0.06
STICKIER = 4.0
WEAKER = 0.5
DRIFT_PER_S = 0.5
"""Of the last joint that has a motor or hangs from one, in its unit per second."""

FAULTS = ("none", "weak motor", "payload", "friction", "late commands", "drifting sensor", "frozen sensor")
"""Nothing, half the motor's strength, a link half as heavy again, dry friction four times as high, commands 60 ms later, a
reading that drifts by half a radian (or half a metre) per second, and one that stays where it was."""


class FaultyState(NamedTuple):
    """The twin's state, each world's clock, and the last healthy reading."""

    inner: Any
    period: Any
    kept: Any


class Faulty(Inside):
    """Every fault in as many worlds as there are times at which it begins; the same worlds, starts and noise for each."""

    def __init__(self, reality: Reality, faults: tuple[str, ...], begins: np.ndarray) -> None:
        super().__init__(reality, len(faults) * len(begins))
        self.faults, self.each = faults, len(begins)
        self.begins = jnp.tile(jnp.asarray(begins), len(faults))
        found = [broken(fault, reality.interface.robot, self._hidden) for fault in faults]
        self._broken = jax.tree.map(lambda *each: jnp.repeat(jnp.stack(each), len(begins), axis=0), *found)
        self._drift, self._frozen = (
            jnp.repeat(jnp.array([f == kind for f in faults]), len(begins))[:, None]
            for kind in ("drifting sensor", "frozen sensor")
        )
        self.sensor = reality.interface.measurement_names[1]

    def with_worlds(self, worlds: int) -> Self:
        raise TypeError("each world has its own fault; make a new one")

    def init(self) -> FaultyState:
        return FaultyState(super().init(), jnp.zeros(self.worlds, int), jnp.zeros((self.worlds, 1)))

    def reset(self, state: FaultyState, where: Any, params: Any, start: Signals, key: Any) -> Any:
        keys = self._keys(key)
        fresh = jax.vmap(lambda k: self.reality.start(self._hidden, k))(keys)
        fresh = jax.vmap(self.reality.place)(fresh, {k: jnp.asarray(v) for k, v in start.items()})
        inner = by_world(where, fresh, state.inner)
        seen, privileged = self._read(inner, key)
        begun = FaultyState(inner, jnp.zeros_like(state.period), seen[self.sensor])
        state = by_world(where, begun, state)
        return state, self._spoilt(seen, state), privileged

    def step(self, state: FaultyState, command: Signals, key: Any) -> Any:
        on = state.period >= self.begins

        def one(state: Any, command: Signals, broken: Any, on: Any, key: Any) -> Any:
            hidden = jax.tree.map(lambda a, b: jnp.where(on, a, b), broken, self._hidden)
            state = self.reality.send(hidden, state, command, key)
            return jax.lax.fori_loop(0, self._ticks, lambda _, s: self.reality.tick(hidden, s), state)

        inner = jax.vmap(one)(state.inner, command, self._broken, on, self._keys(key))
        seen, privileged = self._read(inner, key)
        state = FaultyState(inner, state.period + 1, jnp.where(on[:, None], state.kept, seen[self.sensor]))
        return state, self._spoilt(seen, state), privileged

    def noise(self) -> dict[str, np.ndarray]:
        """The deviation of each reading, from one state read often."""
        state = self.reality.start(self._hidden, jax.random.key(0))
        keys = jax.random.split(jax.random.key(1), READS)
        seen = jax.vmap(lambda k: self.reality.measure(self._hidden, state, k))(keys)
        return {name: np.asarray(values).std(axis=0) for name, values in seen.items()}

    def _keys(self, key: Any) -> Any:
        return jnp.tile(jax.random.split(key, self.each), len(self.faults))

    def _read(self, state: Any, key: Any) -> tuple[Signals, Signals]:
        seen = jax.vmap(lambda s, k: self.reality.measure(self._hidden, s, k))(state, self._keys(key))
        return seen, jax.vmap(self.reality.joint_states)(state)

    def _spoilt(self, seen: Signals, state: FaultyState) -> Signals:
        """What the sensors say, so many periods after the fault began."""
        since = jnp.maximum(state.period - self.begins, 0)[:, None]
        reading = jnp.where(self._frozen & (since > 0), state.kept, seen[self.sensor])
        reading = reading + self._drift * DRIFT_PER_S * since * self.interface.period_s
        return {**seen, self.sensor: reading}


def broken(fault: str, robot: str, hidden: Any) -> Any:
    """The hidden numbers of a twin with a fault; sensor faults leave them as they are."""
    heavier, factor = HEAVIER[robot]
    changes: dict[str, tuple[str, Callable[[Any], Any]]] = {
        "weak motor": ("gain", lambda v: WEAKER * v),
        "payload": (heavier, lambda v: factor * v),
        "friction": ("coulomb", lambda v: STICKIER * v),
        "late commands": ("latency_s", lambda v: v + LATER_S),
    }
    if fault not in changes:
        return hidden
    name, change = changes[fault]
    return {**hidden, name: change(hidden[name])}


def shows(seen: dict[str, np.ndarray], noise: dict[str, np.ndarray], begins: np.ndarray, faults: int) -> np.ndarray:
    """The measurement at which each fault first shows, (fault, world), and one beyond the last where it never does.

    The first fault is none; readings are (measurement, world of fault, width).
    """
    found = np.zeros((len(next(iter(seen.values()))), faults, len(begins)), bool)
    for name, values in seen.items():
        read = values.reshape(len(values), faults, len(begins), -1)
        found |= (np.abs(read - read[:, :1]) > SHOWS * noise[name]).any(axis=-1)
    found &= np.arange(len(found))[:, None, None] > begins
    return np.where(found.any(axis=0), found.argmax(axis=0), len(found))


def departs(joints: dict[str, np.ndarray], since: np.ndarray, rows: int) -> np.ndarray:
    """Whether each fault in each world matters to the motion in the `rows` periods since then, (fault, world).

    The first fault is none; joints are (step, world of fault, 1), and row k is where a joint was when period k was over.
    """
    found, period = np.zeros(since.shape, bool), np.arange(len(next(iter(joints.values()))))[:, None, None]
    for name, values in joints.items():
        if name.endswith(".position"):
            there = values[..., 0].reshape(len(values), *since.shape)
            off = np.abs(there - there[:, :1]) > MATTERS * there[:, 0].std()
            found |= (off & (period >= since) & (period < since + rows)).any(axis=0)
    return found
