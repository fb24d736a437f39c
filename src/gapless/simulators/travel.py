"""How far each joint that a channel reads may go: what the model says, cut off at what the interface allows."""

import math
from typing import Any, NamedTuple

import mujoco

from gapless.core import Simulator

from .model import object_name

USUAL = {"rad": 1.0, "m": 0.25}
"""How far from home a joint may go where nobody says: a radian or a quarter of a metre."""
MARGIN = 0.1
"""Share of the way between two stated limits that is kept clear of each."""


class Stretch(NamedTuple):
    """Where a joint may go."""

    joint: str
    low: float
    home: float
    """Where it begins."""
    high: float
    turns: bool
    """Whether it may go round and round."""


def stretches(simulator: Simulator) -> dict[str, Stretch]:
    """Channels that read a joint's position → where that joint may go."""
    read = {c: joint for c, (joint, side) in simulator.sensed.items() if side == "position"}
    return {
        channel: _stretch(simulator, channel, joint) for channel, joint in read.items() if joint in simulator.joints
    }


def _stretch(simulator: Simulator, channel: str, joint: str) -> Stretch:
    home, *stated = _of_model(getattr(simulator, "model", None), joint)
    of_channel = simulator.interface.channel(channel)
    low, high = max(stated[0], of_channel.low), min(stated[1], of_channel.high)
    usual = USUAL.get(of_channel.unit, USUAL["rad"])
    if math.isinf(low) or math.isinf(high):
        turns = of_channel.unit == "rad" and math.isinf(low) and math.isinf(high)
        return Stretch(joint, max(low, home - usual), home, min(high, home + usual), turns)
    clear = MARGIN * (high - low)
    return Stretch(joint, low + clear, min(max(home, low + clear), high - clear), high - clear, False)


def _of_model(model: Any, joint: str) -> tuple[float, float, float]:
    """Home and limits by the model file; infinite ones where it states none."""
    if not isinstance(model, mujoco.MjModel):
        return 0.0, -math.inf, math.inf
    names = [object_name(model, mujoco.mjtObj.mjOBJ_JOINT, j) for j in range(model.njnt)]
    j = names.index(joint)
    home = float(model.qpos0[model.jnt_qposadr[j]])
    if not model.jnt_limited[j]:
        return home, -math.inf, math.inf
    return home, float(model.jnt_range[j, 0]), float(model.jnt_range[j, 1])
