"""What a clone must not forget: stretches of the identified simulator, from where the robot was and from where it may come."""

import jax
import numpy as np
from jaxtyping import Float

from gapless.core import Belief
from gapless.simulators.mujoco_cpu import MujocoSimulator

from ..windows import Windows, read_joints
from .lessons import Begin, Commands, Drawing, Lessons, Teach, begun, record
from .scout import scouted

RECORDED = 0.5
"""Share of stretches that begin near where the logs were."""
NEAR = 0.2
"""How near, in deviations of the recorded states."""


def replayed(
    physics: MujocoSimulator, belief: Belief, begins: tuple[Begin, ...], windows: Windows, recipe: Teach,
    rng: np.random.Generator,
) -> Lessons:  # fmt: skip
    """Stretches with parameters that the belief allows."""
    simulator = physics.with_worlds(min(recipe.worlds, recipe.stretches))
    drawing = Drawing(simulator, scouted(physics, begins, rng), begins, recipe)
    pieces = -(-recipe.stretches // simulator.worlds)
    found = [_piece(drawing, belief, windows, recipe.length, rng) for _ in range(pieces)]
    return Lessons(*(np.concatenate(side)[: recipe.stretches] for side in zip(*found, strict=True)))


def _piece(drawing: Drawing, belief: Belief, windows: Windows, length: int, rng: np.random.Generator) -> Lessons:
    simulator = drawing.simulator
    drawn = belief.sample(jax.random.key(rng.integers(2**31)), simulator.worlds)
    params = {k: np.asarray(v, np.float64) for k, v in drawn.items()}
    start = drawing.start(rng) | _recorded(simulator, windows, drawing.start(rng), rng)
    first = begun(simulator, simulator.init(), params, start)
    return record(simulator, first, params, Commands(simulator, rng), length)


def _recorded(
    simulator: MujocoSimulator, windows: Windows, otherwise: dict[str, np.ndarray], rng: np.random.Generator
) -> dict[str, Float[np.ndarray, "world 1"]]:
    """Joints that are read near where the logs had them, in a share of the worlds; as they would be otherwise in the others."""
    names = [f"{j}.{side}" for side in ("position", "velocity") for j in read_joints(simulator)]
    near = NEAR * windows.start.std(axis=0) * rng.normal(size=(simulator.worlds, len(names)))
    place = windows.start[rng.integers(len(windows), size=simulator.worlds)] + near
    take = rng.random((simulator.worlds, 1)) < RECORDED
    return {n: np.where(take, place[:, k : k + 1], otherwise[n]) for k, n in enumerate(names)}
