"""A film of a robot, MuJoCo and a clone side by side under the same commands."""

from pathlib import Path
from typing import Any

import jax
import numpy as np
from jaxtyping import Float, PRNGKeyArray

from gapless.core import Belief, Log, Point, Simulator, Task, on_one_clock
from gapless.simulators import MujocoSimulator

from .film import RATE, SPEED, Reel, develop
from .stretches import beside

PANEL = 480
"""Pixels that each is wide."""
SWAY_S = (0.4, 1.3)
"""Periods of the sines that a robot without a log is moved with."""
STRONG = 0.6
"""How much of the command range they take at most."""
TRIED, SHOWN, SECONDS = 100, 5, 1.3
"""How many are moved so, how many of them are shown, and for how long."""


def shoot_beside(
    physics: MujocoSimulator, clone: Simulator, logs: list[Log], belief: Belief, out: Path
) -> dict[str, Any]:
    """Write a film of the logs, MuJoCo and the clone; where MuJoCo wrote the logs, of those and the clone."""
    known = {p.name for p in clone.parameters}
    mean = {k: float(np.asarray(v)) for k, v in belief.mean().items() if k in known}
    models: dict[str, tuple[Simulator, Belief]] = {"clone": (clone, Point(tuple(mean), np.array(list(mean.values()))))}
    simulated = all(log.source.get("simulated") for log in logs)
    if not simulated:
        models = {"mujoco": (physics, belief), **models}
    motions, share = beside(physics, logs, models, SPEED / RATE)
    if simulated:
        motions = {"mujoco": motions["robot"], "clone": motions["clone"]}
    first = next(iter(motions))
    panels = tuple((name,) if name == first else (name, first) for name in motions)
    off = {name: float(np.abs(motion - motions[first]).mean()) for name, motion in motions.items() if name != first}
    reel = Reel(motions, share, panels, tuple(name.upper() for name in motions), PANEL)
    return develop(physics.model, reel, out) | {"off": off}


def swayed(physics: MujocoSimulator, task: Task, belief: Belief, key: PRNGKeyArray) -> list[Log]:
    """Logs that MuJoCo writes: short ones from where the task begins, under sines; those that go well for longest."""
    simulator, interface = physics.with_worlds(TRIED), physics.interface
    times = np.arange(round(SECONDS / interface.period_s) + 1) * interface.period_s
    rows = {k: np.full(TRIED, float(np.asarray(v))) for k, v in belief.mean().items()}
    start = {k: np.asarray(v, np.float64) for k, v in task.start(key, TRIED).items()}
    state, seen, _ = simulator.reset(simulator.init(), np.ones(TRIED, bool), rows, start, key)
    rng = np.random.default_rng(np.asarray(jax.random.key_data(key)))
    waves, read = {c.name: _waves(c.low, c.high, times, rng) for c in interface.commands}, [seen]
    for k in range(len(times) - 1):
        command = {name: wave[:, k] for name, wave in waves.items()}
        state, seen, _ = simulator.step(state, command, jax.random.fold_in(key, k))
        read.append(seen)
    over = np.cumsum([np.asarray(task.finished(row)) for row in read], 0) > 0
    measured = {name: np.stack([np.asarray(row[name]) for row in read], 1) for name in seen}
    best = np.argsort(over.sum(0), kind="stable")[:SHOWN]
    return [on_one_clock(interface, _of(waves, k), _of(measured, k), times, {"simulated": True}) for k in best]


def _of(signals: dict[str, np.ndarray], episode: int) -> dict[str, np.ndarray]:
    return {name: values[episode] for name, values in signals.items()}


def _waves(low: float, high: float, times: np.ndarray, rng: np.random.Generator) -> Float[np.ndarray, "episode time 1"]:
    periods, phases = np.geomspace(*SWAY_S, 3), rng.uniform(0, 2 * np.pi, (TRIED, 1, 3))
    sway = np.sin(2 * np.pi * times[:, None] / periods + phases).mean(-1, keepdims=True)
    return (high + low) / 2 + STRONG * rng.random((TRIED, 1, 1)) * (high - low) * sway / 2
