"""The first rungs of the actuator ladder: an ideal PD, and the DC motor behind it with its limits."""

import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from gapless.core import Block, Parameter, Params, Signals


def _actuation(name: str, unit: str, nominal: float, low: float, high: float) -> Parameter:
    return Parameter(name, unit, nominal, low, high, "actuation")


PD = (
    _actuation("pd.stiffness", "N m/rad", 5.0, 1e-2, 1e3),
    _actuation("pd.damping", "N m s/rad", 0.3, 1e-4, 1e2),
    _actuation("pd.bias", "rad", 0.0, -0.15, 0.15),
)
MOTOR = (
    _actuation("motor.gain", "1/rad", 2.66, 0.1, 50.0),
    _actuation("motor.lead", "s/rad", 0.0, -0.2, 0.2),
    _actuation("motor.bias", "rad", 0.0, -0.15, 0.15),
    _actuation("motor.constant", "N m/A", 1.0, 0.02, 10.0),
    _actuation("motor.resistance", "ohm", 5.0, 0.2, 100.0),
    _actuation("motor.supply", "V", 12.0, 1.0, 60.0),
    _actuation("motor.sag", "ohm", 0.05, 1e-3, 3.0),
    _actuation("motor.current", "A", 5.0, 0.02, 50.0),
)


class IdealPD(Block):
    """Target, position and velocity → torque, without any limit."""

    def init(self, key: PRNGKeyArray) -> None:
        return None

    def step(
        self, params: Params, memory: None, inputs: Signals, dt_s: float, key: PRNGKeyArray
    ) -> tuple[None, Signals]:
        error = inputs["target"] - inputs["position"] + params["pd.bias"]
        return memory, {"torque": params["pd.stiffness"] * error - params["pd.damping"] * inputs["velocity"]}


class DcMotor(Block):
    """A position loop that sets the duty of a DC motor: limits of voltage and current, back-EMF, a supply that sags.

    "gain_scale" among the inputs multiplies the gain, as a register does; "enabled" switches the motor off at 0.
    """

    def init(self, key: PRNGKeyArray) -> None:
        return None

    def step(
        self, params: Params, memory: None, inputs: Signals, dt_s: float, key: PRNGKeyArray
    ) -> tuple[None, Signals]:
        velocity, k = inputs["velocity"], params["motor.constant"]
        error = inputs["target"] - inputs["position"] + params["motor.bias"]
        duty = inputs.get("gain_scale", 1.0) * params["motor.gain"] * error - params["motor.lead"] * velocity
        duty = jnp.clip(duty, -1, 1)
        # The supply's own resistance carries the duty's share of the current twice: V = D·(E − r·D·I).
        resistance = params["motor.resistance"] + params["motor.sag"] * duty**2
        current = (params["motor.supply"] * duty - k * velocity) / resistance
        current = jnp.clip(current, -params["motor.current"], params["motor.current"])
        return memory, {"torque": jnp.where(inputs.get("enabled", 1.0) > 0.5, k * current, 0.0)}
