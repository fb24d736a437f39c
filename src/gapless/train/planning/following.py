"""Where the robot is, from what it measures: simulated worlds are stepped along with it and pulled towards its readings.

An α-β filter (Kalata 1984) whose prediction is the simulator's: rates come from differences between what was measured and what
was predicted, so that neither latency nor a period's acceleration makes them late.
"""

import math
from dataclasses import dataclass
from typing import Any

from gapless.core import GaplessError, Params, Signals, Simulator


@dataclass(frozen=True)
class Follow:
    """How much is believed of a measurement."""

    position: float = 0.75
    """Share of the difference by which a joint's position is corrected."""
    velocity: float = 0.5
    """Share of the difference, per control period, by which its velocity is."""

    def __post_init__(self) -> None:
        if not 0 < self.position <= 1 or not 0 <= self.velocity <= 1:
            raise GaplessError("following needs shares between 0 and 1, and above 0 for positions.")


def begun(simulator: Simulator, params: Params, seen: Signals) -> Signals:
    """Joint states at the first measurement: where they were read, at rest."""
    return {
        f"{joint}.{side}": _true(channel, params, seen[channel])
        for channel, (joint, side) in simulator.sensed.items()
        if joint in simulator.joints
    }


def corrected(
    simulator: Simulator, gains: Follow, params: Params, stepped: tuple[Signals, Signals], seen: Signals
) -> Signals:
    """Joint states between those predicted (what worlds measure, and their privileged states) and those measured."""
    predicted, states = stepped
    found = {f"{j}.{side}": states[f"{j}.{side}"] for j in simulator.joints for side in ("position", "velocity")}
    has_rate = {joint for joint, side in simulator.sensed.values() if side == "velocity"}
    for channel, (joint, side) in simulator.sensed.items():
        if joint not in simulator.joints:
            continue
        off = _difference(simulator, channel, seen[channel] - predicted[channel]) / _scale(channel, params)
        found[f"{joint}.{side}"] = found[f"{joint}.{side}"] + gains.position * off
        if side == "position" and joint not in has_rate:
            rate = gains.velocity * off / simulator.interface.period_s
            found[f"{joint}.velocity"] = found[f"{joint}.velocity"] + rate
    return found


def _difference(simulator: Simulator, channel: str, off: Any) -> Any:
    """Angles may be read modulo a turn: the shorter way counts."""
    turn = 2 * math.pi
    return (off + turn / 2) % turn - turn / 2 if simulator.interface.channel(channel).unit == "rad" else off


def _true(channel: str, params: Params, read: Any) -> Any:
    bias = params[f"{channel}.bias"][:, None] if f"{channel}.bias" in params else 0.0
    return (read - bias) / _scale(channel, params)


def _scale(channel: str, params: Params) -> Any:
    return params[f"{channel}.scale"][:, None] if f"{channel}.scale" in params else 1.0
