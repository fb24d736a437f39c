"""The laws of speed: reading, sending and deciding fit the period, and training is a matter of minutes."""

import time
from collections.abc import Callable, Iterator

import equinox as eqx
import jax
import numpy as np

from ..block import Block
from ..interface import Interface
from ..signals import Signals
from ..simulator import Simulator
from .clock import clock_speed
from .handled import Handled
from .laws import Note, Seen

TIMES = 10
WORLDS, STEPS = 64, 20
LEARNING_S = 6e-5
"""What learning from one period takes on two cores, with the networks that are the default."""
LONG_S = 600.0
"""A training that takes longer is worth a note."""


def reads_in_time(handled: Handled) -> Iterator[str]:
    """Reading and, where it may be tried, sending take less than a period.

    Read in the background and return the newest value, or make the period longer.
    """
    handled.begin()
    robot = handled.robot
    spent = _median_s(robot.get_observation)
    if handled.move:
        spent += _median_s(lambda: robot.send_action(handled.rest()))
    yield from _fits(spent, robot.interface.period_s, strict=clock_speed(robot) > 0.1)


def decides_in_time(policy: Block, interface: Interface) -> Iterator[str]:
    """A policy decides in less than a period.

    Make the period longer, or let the policy see less.
    """
    seen: Signals = {c.name: np.zeros(c.width, np.float32) for c in interface.measurements}
    step = eqx.filter_jit(policy.step)
    memory, key = policy.init(jax.random.key(0)), jax.random.key(1)

    def decide() -> None:
        jax.block_until_ready(step({}, memory, seen, interface.period_s, key)[1])

    decide()  # compiles
    yield from _fits(_median_s(decide), interface.period_s, strict=True)


def trains_in_minutes(simulator: Simulator, periods: int) -> Iterator[str]:
    """Training in the simulator is a matter of minutes.

    Take simpler collision shapes or a longer time step in the model.
    """
    wide, key = simulator.with_worlds(WORLDS), np.zeros(2, np.uint32)
    command: Signals = {c.name: np.zeros((WORLDS, c.width)) for c in simulator.interface.commands}
    step = jax.jit(wide.step) if wide.traceable else wide.step
    state, _, _ = wide.reset(wide.init(), np.ones(WORLDS, bool), {}, {}, key)
    state, _, _ = step(state, command, key)
    began = time.perf_counter()
    for _ in range(STEPS):
        state, seen, _ = step(state, command, key)
        jax.block_until_ready(seen)
    speed = WORLDS * STEPS / (time.perf_counter() - began)
    training_s = periods * (1 / speed + LEARNING_S)
    told = f"{speed:,.0f} periods per second; a training of {periods:,} takes roughly {training_s:.0f} s"
    yield Note(told) if training_s > LONG_S else Seen(told)


def _fits(spent_s: float, period_s: float, strict: bool) -> Iterator[str]:
    told = f"it takes {spent_s * 1e3:.2g} ms of a period of {period_s * 1e3:g} ms"
    if spent_s > period_s:
        yield told if strict else Note(f"{told}; on its virtual clock that only costs patience")
    elif spent_s > period_s / 2:
        yield Note(told)
    else:
        yield Seen(told)


def _median_s(act: Callable[[], object]) -> float:
    """The median time that something takes, over a few times."""
    times = []
    for _ in range(TIMES):
        began = time.perf_counter()
        act()
        times.append(time.perf_counter() - began)
    return float(np.median(times))
