"""Where the search for an actuator's parameters begins and how far it may go: least squares on what is plain to see."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import jax.numpy as jnp
import numpy as np

from gapless.core import Parameter, Params

from .ladder import Command
from .recorded import Windows

LATENCIES_S = np.arange(0, 0.0601, 0.005)
SUPPLY_V = 12.0
"""Only the supply's product with other parameters shows outside."""
KNOWN = {"motor.supply": SUPPLY_V, "motor.current": 1e6, "motor.lead": 0.0, "motor.sag": 0.0}
WIDE = 30.0
"""Positive parameters are searched from a thirtieth of the guess to thirty times it."""


@dataclass(frozen=True)
class Guess:
    """A first look at a joint."""

    slope: float
    """Torque per unit of error, or of the command where it is an effort."""
    bias: float
    """Torque at no command."""
    drag: float
    coulomb: float
    latency_s: float
    torque: float
    """Size of the torques seen."""
    speed: float
    inertia: float


def guess(windows: Windows, command: Command) -> Guess:
    """The best of several latencies, each by least squares."""
    speed = float(max(np.quantile(np.abs(windows.velocity), 0.9), 1e-9))
    strength = float(max(np.quantile(np.abs(windows.torque), 0.95), 1e-9))
    late = [(_fit(windows, command, lag, speed), float(lag)) for lag in LATENCIES_S]
    (found, _), lag = min(late, key=lambda tried: tried[0][1])
    slope, bias, drag, coulomb = found
    error = np.abs(_told(windows, command, 0.0))
    least = 1e-2 * strength / float(np.quantile(error, 0.95))
    return Guess(
        slope if abs(slope) > least else least, bias, max(drag, 1e-2 * strength / speed),
        max(coulomb, 1e-2 * strength), lag, strength, speed, float(np.median(windows.inertia)),
    )  # fmt: skip


def begin(parameters: Sequence[Parameter], of: Guess) -> tuple[list[Parameter], Params]:
    """The free ones with ranges that suit the joint, and every parameter's value to begin with."""
    values = _values(of)
    free = [_ranged(p, values[p.name]) for p in parameters if p.name not in KNOWN]
    motor = KNOWN if any(p.name in KNOWN for p in parameters) else {}
    start = {p.name: values[p.name] for p in free} | motor
    return free, {k: jnp.full(1, v, jnp.float32) for k, v in start.items()}


def _fit(windows: Windows, command: Command, lag_s: float, speed: float) -> tuple[np.ndarray, float]:
    """Slope, bias, drag and Coulomb torque, and the error that they leave."""
    v, told = windows.velocity, _told(windows, command, lag_s)
    rows = np.stack([told, np.ones_like(v), -v, -np.tanh(20 * v / speed)], axis=-1).reshape(-1, 4)
    torque = windows.torque.ravel()
    found = np.linalg.lstsq(rows, torque, rcond=None)[0]
    return found, float(np.mean(np.abs(rows @ found - torque)))


def _told(windows: Windows, command: Command, lag_s: float) -> np.ndarray:
    clock = np.arange(windows.target.shape[1]) * windows.period_s
    target = np.stack([np.interp(clock - lag_s, clock, row) for row in windows.target])
    return target if command == "effort" else target - windows.position


def _values(of: Guess) -> dict[str, float]:
    # The stall torque is beyond what was seen, and back-EMF at stall voltage makes up the drag.
    stall = 3 * of.torque
    constant = SUPPLY_V * of.drag / stall
    stiff, speed = abs(of.slope), of.speed
    shift = of.bias / stiff
    return {
        "pd.stiffness": stiff,
        "pd.damping": of.drag,
        "pd.bias": shift,
        "motor.gain": stiff / stall,
        "motor.bias": shift,
        "motor.constant": constant,
        "motor.resistance": SUPPLY_V * constant / stall,
        "amplifier.gain": of.slope,
        "amplifier.bias": of.bias,
        "amplifier.drag": of.drag,
        "joint.inertia": 0.1 * of.inertia,
        "command.latency": max(of.latency_s, 1e-3),
        "friction.coulomb": of.coulomb,
        "friction.viscous": of.drag / 3,
        "friction.stribeck": of.coulomb / 3,
        "friction.stribeck_velocity": speed / 10,
        "friction.stribeck_shape": 1.35,
        "gear.gap": 0.3 * of.coulomb / stiff,
        "gear.stiffness": of.torque / 0.02,
        "gear.damping": 0.005 * of.torque / 0.02,
        "gear.rotor": 0.3 * of.inertia,
        "friction.load": 0.05,
        "friction.load_stribeck": 0.05,
    }


def _ranged(p: Parameter, value: float) -> Parameter:
    if p.unit == "" or p.name == "command.latency":
        return replace(p, nominal=min(max(value, p.low), p.high))
    if p.name.endswith(".bias"):
        reach = 2 * abs(value) + abs(p.high if p.unit == "rad" else value)
        return replace(p, nominal=value, low=value - max(reach, 1e-3), high=value + max(reach, 1e-3))
    low, high = sorted((value / WIDE, value * WIDE))
    return replace(p, nominal=value, low=low, high=high)
