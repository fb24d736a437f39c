"""Where a robot may come: the places and speeds of a first, clumsy hour, widened a little."""

import numpy as np

from gapless.simulators.mujoco_cpu import MujocoSimulator

from .lessons import Begin, Commands, Drawing, Reach, Teach, record, starts_of
from .lessons import begun as begun_at

WORLDS, PERIODS = 200, 50
RARE = 0.005
"""Share of what was seen that counts as an accident."""
WIDER = 1.2
LEAST_M, LEAST_M_S = 0.002, 0.02
"""Smallest reach and speed of a joint."""
TURN_RAD = 1.5 * np.pi
"""A hinge that has come so far may turn round and round."""


def scouted(physics: MujocoSimulator, begins: tuple[Begin, ...], rng: np.random.Generator) -> dict[str, Reach]:
    """The reach of each joint after exciting motions from where tasks begin, or from the model's own pose."""
    simulator = physics.with_worlds(WORLDS)
    drawing = Drawing(simulator, {j: Reach(0.0, 0.0, 0.0) for j in simulator.joints}, begins, Teach())
    params = drawing.params(rng)
    first = begun_at(simulator, simulator.init(), params, starts_of(begins, WORLDS, rng))
    found = record(simulator, first, params, Commands(simulator, rng), PERIODS)
    return {
        j: _reach(found.position[..., k], found.velocity[..., k], _turns(physics, j))
        for k, j in enumerate(simulator.joints)
    }


def _reach(position: np.ndarray, velocity: np.ndarray, turns: bool) -> Reach:
    low, high = np.quantile(position, [RARE, 1 - RARE])
    speed = max(WIDER * float(np.quantile(np.abs(velocity), 1 - RARE)), LEAST_M_S)
    if turns and high - low > TURN_RAD:
        return Reach(-np.pi, np.pi, speed)
    middle, half = (low + high) / 2, max(WIDER * (high - low) / 2, LEAST_M)
    return Reach(float(middle - half), float(middle + half), speed)


def _turns(physics: MujocoSimulator, joint: str) -> bool:
    return bool(physics.model.joint(joint).type[0] == 3 and not physics.model.joint(joint).limited[0])
