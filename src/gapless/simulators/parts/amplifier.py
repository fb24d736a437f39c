"""The first rungs for joints that are commanded by force, torque or voltage: a gain, and the back-EMF behind it."""

import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from gapless.core import Block, Parameter, Params, Signals

AMPLIFIER = (
    Parameter("amplifier.gain", "N m/unit", 1.0, 1e-3, 1e3, "actuation"),
    Parameter("amplifier.bias", "N m", 0.0, -1.0, 1.0, "actuation"),
    Parameter("amplifier.drag", "N m s/rad", 0.01, 1e-5, 10.0, "actuation"),
)


class Amplifier(Block):
    """A command in any unit, as "target", and velocity → torque; without parameters of bias and drag, a plain gain."""

    def init(self, key: PRNGKeyArray) -> None:
        return None

    def step(
        self, params: Params, memory: None, inputs: Signals, dt_s: float, key: PRNGKeyArray
    ) -> tuple[None, Signals]:
        torque = params["amplifier.gain"] * inputs["target"] + params.get("amplifier.bias", 0.0)
        torque = torque - params.get("amplifier.drag", 0.0) * inputs["velocity"]
        return memory, {"torque": jnp.where(inputs.get("enabled", 1.0) > 0.5, torque, 0.0)}
