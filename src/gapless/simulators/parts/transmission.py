"""What lies between command, motor and joint: latency, backlash and a compliant gear."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from gapless.core import Block, Parameter, Params, Signals

from .history import History

TRANSMISSION = (
    Parameter("gear.gap", "rad", 0.005, 1e-4, 0.2, "actuation"),
    Parameter("gear.stiffness", "N m/rad", 50.0, 1.0, 1e4, "actuation"),
    Parameter("gear.damping", "N m s/rad", 0.1, 1e-3, 10.0, "actuation"),
    Parameter("gear.rotor", "kg m2", 0.005, 1e-5, 0.5, "inertia"),
)


class Latency(Block):
    """The target as it was "command.latency" seconds ago, to a fraction of a step."""

    longest_s: float = eqx.field(static=True, default=0.1)
    """What is remembered."""
    spacing_s: float = eqx.field(static=True, default=0.002)

    def init(self, key: PRNGKeyArray) -> dict:
        return self._line.init()

    def step(
        self, params: Params, memory: dict, inputs: Signals, dt_s: float, key: PRNGKeyArray
    ) -> tuple[dict, Signals]:
        now = inputs["target"][..., None]
        late = self._line.at(memory, now, params["command.latency"])
        return self._line.shown(memory, now, dt_s), {"target": late[..., 0]}

    @property
    def _line(self) -> History:
        return History((self.longest_s,), 1, self.spacing_s)


class Backlash(Block):
    """Play between motor and joint: the target side must cross the gap before the joint hears of it."""

    def init(self, key: PRNGKeyArray) -> dict:
        return {"held": jnp.zeros(()), "begun": jnp.zeros(())}

    def step(
        self, params: Params, memory: dict, inputs: Signals, dt_s: float, key: PRNGKeyArray
    ) -> tuple[dict, Signals]:
        half, target = params["gear.gap"] / 2, inputs["target"]
        held = jnp.where(memory["begun"] > 0, memory["held"], target)
        held = jnp.clip(held, target - half, target + half)
        return {"held": held, "begun": jnp.ones_like(memory["begun"])}, {"target": held}


class Compliance(Block):
    """A rotor behind a spring and a damper: it takes the motor's torque and hands on what the gear transmits."""

    def init(self, key: PRNGKeyArray) -> dict:
        return {"angle": jnp.zeros(()), "rate": jnp.zeros(()), "begun": jnp.zeros(())}

    def step(
        self, params: Params, memory: dict, inputs: Signals, dt_s: float, key: PRNGKeyArray
    ) -> tuple[dict, Signals]:
        begun, position, velocity = memory["begun"] > 0, inputs["position"], inputs["velocity"]
        angle = jnp.where(begun, memory["angle"], position)
        rate = jnp.where(begun, memory["rate"], velocity)
        stiff, damp, rotor = (params[f"gear.{k}"] for k in ("stiffness", "damping", "rotor"))
        # Implicit in the rotor's rate: a stiff gear must not ring at the time step.
        push = inputs["torque"] + stiff * (position - angle) + damp * velocity
        rate = (rotor * rate + dt_s * push) / (rotor + dt_s * damp + dt_s**2 * stiff)
        angle = angle + rate * dt_s
        handed = stiff * (angle - position) + damp * (rate - velocity)
        return {"angle": angle, "rate": rate, "begun": jnp.ones_like(memory["begun"])}, {"torque": handed}
