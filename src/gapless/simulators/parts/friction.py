"""Friction of geared servos: six laws from Coulomb to load-dependent Stribeck, and sticking that never reverses a joint.

The laws and their numbering are those of Duclusaud et al., "Extended Friction Models for the Physics Simulation of Servo
Actuators" (2024): a budget of torque that may resist; what is used of it is at most what stops the joint.
"""

from dataclasses import dataclass

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from gapless.core import Block, GaplessError, Parameter, Params, Signals

Torque = Float[Array, "*joint"]


@dataclass(frozen=True)
class FrictionLaw:
    """Which terms resist; Coulomb and viscous friction always do."""

    stribeck: bool = False
    """More friction near standstill."""
    load: bool = False
    """More friction under load: the teeth press on each other."""
    directional: bool = False
    """Torque of the motor and torque from outside press differently."""
    quadratic: bool = False
    """A term that grows with the square of the load when one side drives the other."""

    def __post_init__(self) -> None:
        if (self.directional and not (self.load and self.stribeck)) or (self.quadratic and not self.directional):
            raise GaplessError(
                "a directional friction law needs load and stribeck, and a quadratic one directional; add those terms."
            )

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """What the law must know, in the order of its terms."""
        names = ["coulomb", "viscous"]
        names += ["stribeck", "stribeck_velocity", "stribeck_shape"] * self.stribeck
        if self.load:
            sides = ("motor", "outside") if self.directional else ("load",)
            names += [*sides, *(f"{s}_stribeck" for s in sides if self.stribeck)]
            names += [f"{s}_square" for s in sides if self.quadratic]
        return tuple(TERMS[f"friction.{n}"] for n in names)


def _term(name: str, unit: str, nominal: float, low: float, high: float) -> Parameter:
    return Parameter(f"friction.{name}", unit, nominal, low, high, "friction")


TERMS = {
    p.name: p
    for p in (
        _term("coulomb", "N m", 0.02, 1e-4, 1.0),
        _term("viscous", "N m s/rad", 0.005, 1e-4, 1.0),
        _term("stribeck", "N m", 0.01, 1e-5, 0.5),
        _term("stribeck_velocity", "rad/s", 0.5, 0.02, 10.0),
        _term("stribeck_shape", "", 1.35, 0.5, 10.0),
        _term("load", "", 0.05, 1e-4, 0.8),
        _term("motor", "", 0.05, 1e-4, 0.8),
        _term("outside", "", 0.05, 1e-4, 0.8),
        _term("load_stribeck", "", 0.05, 1e-4, 0.8),
        _term("motor_stribeck", "", 0.05, 1e-4, 0.8),
        _term("outside_stribeck", "", 0.05, 1e-4, 0.8),
        _term("motor_square", "1/N m", 0.005, 1e-5, 0.5),
        _term("outside_square", "1/N m", 0.005, 1e-5, 0.5),
    )
}
LAWS = {
    "m1": FrictionLaw(),
    "m2": FrictionLaw(stribeck=True),
    "m3": FrictionLaw(load=True),
    "m4": FrictionLaw(stribeck=True, load=True),
    "m5": FrictionLaw(stribeck=True, load=True, directional=True),
    "m6": FrictionLaw(stribeck=True, load=True, directional=True, quadratic=True),
}


def budget(law: FrictionLaw, params: Params, motor: Torque, outside: Torque, velocity: Torque) -> Torque:
    """The largest torque that may resist, in N m, given what the motor and what the world outside exert."""

    def of(name: str) -> Torque:
        return params[f"friction.{name}"]

    dry = of("coulomb") + of("viscous") * jnp.abs(velocity)
    slow = jnp.zeros_like(dry)
    if law.stribeck:
        speed = jnp.abs(velocity) / of("stribeck_velocity") + 1e-6
        slow = jnp.exp(-(speed ** of("stribeck_shape")))
        dry = dry + slow * of("stribeck")
    if not law.load:
        return dry
    if not law.directional:
        share = of("load") + (slow * of("load_stribeck") if law.stribeck else 0.0)
        return dry + share * jnp.abs(outside - motor)
    dry = dry + jnp.abs(outside * of("outside") - motor * of("motor"))
    dry = dry + slow * jnp.abs(outside * of("outside_stribeck") - motor * of("motor_stribeck"))
    if law.quadratic:
        driven = jnp.where(
            jnp.abs(outside) < jnp.abs(motor), of("outside_square") * outside**2, of("motor_square") * motor**2
        )
        dry = dry + slow * jnp.where(outside * motor < 0, driven, 0.0)
    return dry


class Friction(Block):
    """Motor torque, load, velocity and inertia → the torque of friction: within the budget, and at most what stops."""

    law: FrictionLaw = eqx.field(static=True)

    def init(self, key: PRNGKeyArray) -> None:
        return None

    def step(
        self, params: Params, memory: None, inputs: Signals, dt_s: float, key: PRNGKeyArray
    ) -> tuple[None, Signals]:
        motor, outside, velocity = inputs["torque"], inputs["load"], inputs["velocity"]
        limit = budget(self.law, params, motor, outside, velocity)
        to_stop = inputs["inertia"] * velocity / dt_s + motor + outside
        return memory, {"friction": -jnp.clip(to_stop, -limit, limit)}


class Drag(Block):
    """The torque that a moving actuator has left after friction, for torques measured behind the gear."""

    law: FrictionLaw = eqx.field(static=True)
    slow: float = eqx.field(static=True, default=0.02)
    """Below this speed in rad/s the direction is doubtful and friction fades."""

    def init(self, key: PRNGKeyArray) -> None:
        return None

    def step(
        self, params: Params, memory: None, inputs: Signals, dt_s: float, key: PRNGKeyArray
    ) -> tuple[None, Signals]:
        torque, velocity = inputs["torque"], inputs["velocity"]
        limit = budget(self.law, params, torque, jnp.zeros_like(torque), velocity)
        return memory, {"torque": torque - limit * jnp.tanh(velocity / self.slow)}
