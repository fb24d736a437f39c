"""Swing a pole up and keep it there: on a cart without leaving the rail, or on a turning arm without winding its cable."""

from collections.abc import Mapping
from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from gapless.core import Channel, Feature, Log, Observation, Signals, Task, Verdict
from gapless.core.observation import Kind

from .early import ended_early

UPRIGHT_RAD = 0.3
"""How far from upright the pole may be in the last second."""
VOLTS = 10.0
PERIOD_S = 0.02


class PoleTask(Task):
    """Angle 0 hangs. Reward: how upright and calm the pole is, less for being off-centre and for volts."""

    seconds = 5.0
    commands = (Channel("motor", unit="V", low=-VOLTS, high=VOLTS),)
    base: ClassVar[str]
    """Channel of what the pole hangs from."""
    pole: ClassVar[str]
    """Channel of the pole's angle."""
    base_joint: ClassVar[str]
    pole_joint: ClassVar[str]
    reach: ClassVar[float]
    """Where the episode ends, in the base's unit; the machine goes a little further."""
    begins: ClassVar[float]
    """How far from the middle episodes begin."""
    calm_rad_s: ClassVar[float]
    """Speed of the pole that is no longer calm."""
    left: ClassVar[str]
    """What to say of a base that has gone too far."""

    def start(self, key: PRNGKeyArray, n: int) -> Signals:
        """Hanging nearly at rest, near the middle."""
        keys = jax.random.split(key, 2)
        return {
            f"{self.base_joint}.position": jax.random.uniform(keys[0], (n, 1), minval=-self.begins, maxval=self.begins),
            f"{self.pole_joint}.position": 0.05 * jax.random.normal(keys[1], (n, 1)),
        }

    def explore(self, key: PRNGKeyArray, n: int) -> Signals:
        """Half of the episodes from anywhere: from hanging starts only, the top is never seen."""
        keys, reach = jax.random.split(key, 6), self.reach
        hanging = self.start(keys[0], n)
        anywhere = {
            f"{self.base_joint}.position": 0.7 * reach * jax.random.uniform(keys[1], (n, 1), minval=-1.0, maxval=1.0),
            f"{self.pole_joint}.position": jax.random.uniform(keys[2], (n, 1), minval=-jnp.pi, maxval=jnp.pi),
            f"{self.base_joint}.velocity": 1.2 * reach * jax.random.normal(keys[3], (n, 1)),
            f"{self.pole_joint}.velocity": 0.5 * self.calm_rad_s * jax.random.normal(keys[4], (n, 1)),
        }
        free = jax.random.bernoulli(keys[5], 0.5, (n, 1))
        return {k: jnp.where(free, v, hanging.get(k, 0.0)) for k, v in anywhere.items()}

    def reward(self, before: Signals, command: Signals, after: Signals) -> Float[Array, " *world"]:
        angle = after[self.pole][..., 0]
        turned = angle - before[self.pole][..., 0]
        spin = jnp.arctan2(jnp.sin(turned), jnp.cos(turned)) / PERIOD_S
        height = (1 - jnp.cos(angle)) / 2
        calm = 0.3 + 0.7 * jnp.exp(-((spin / self.calm_rad_s) ** 2))  # or whirling round and round would pay, too
        off_centre = (after[self.base][..., 0] / self.reach) ** 2
        effort = (command["motor"][..., 0] / VOLTS) ** 2
        return height * calm * (1 - 0.5 * off_centre) - 0.05 * effort

    def terms(self, before: Signals, command: Signals, after: Signals) -> dict[str, Float[Array, " *world"]]:
        """How high the pole is, what it loses by its spin and by being off-centre, and what the volts cost."""
        angle = after[self.pole][..., 0]
        turned = angle - before[self.pole][..., 0]
        spin = jnp.arctan2(jnp.sin(turned), jnp.cos(turned)) / PERIOD_S
        height, calm = (1 - jnp.cos(angle)) / 2, 0.3 + 0.7 * jnp.exp(-((spin / self.calm_rad_s) ** 2))
        off_centre = (after[self.base][..., 0] / self.reach) ** 2
        return {
            "height": height,
            "spin": height * (calm - 1),
            "off-centre": -0.5 * height * calm * off_centre,
            "volts": -0.05 * (command["motor"][..., 0] / VOLTS) ** 2,
        }

    def finished(self, measurement: Signals) -> Bool[Array, " *world"]:
        return jnp.abs(measurement[self.base][..., 0]) > self.reach

    def judge(self, log: Log) -> Verdict:
        early = ended_early(log, self.seconds, self.left)
        if early is not None:
            return early
        times = log.measurement_time[self.pole]
        last = log.measurements[self.pole][times > times[-1] - 1.0, 0]
        lean = float(np.abs(np.angle(np.exp(1j * (last - np.pi)))).max())
        passed = lean < UPRIGHT_RAD
        says = "stays upright" if passed else "falls or never gets up"
        return Verdict(passed, 1 - lean / UPRIGHT_RAD, f"{says}: {lean:.2f} rad off in the last second")


def _observed(base: str, pole: str) -> Observation:
    kinds: tuple[tuple[str, Kind], ...] = (
        (base, "value"),
        (base, "rate"),
        (pole, "sin"),
        (pole, "cos"),
        (pole, "angle_rate"),
    )
    return Observation(tuple(Feature(channel, kind) for channel, kind in kinds), frames=2, commands=3)


class SwingUp(PoleTask):
    """The cart-pole's."""

    name = "swingup"
    base, pole, base_joint, pole_joint = "cart.position", "pole.angle", "slider", "hinge"
    easy: ClassVar[Mapping[str, float]] = {"hinge.position": np.pi}
    reach, begins, calm_rad_s, left = 0.42, 0.05, 4.0, "the cart left the rail"
    measurements = (Channel("cart.position", unit="m"), Channel("pole.angle", unit="rad"))
    mirror: ClassVar[Mapping[str, float]] = {"cart.position": -1.0, "pole.angle": -1.0, "motor": -1.0}
    observe = _observed(base, pole)


class RotarySwingUp(PoleTask):
    """The rotary pendulum's."""

    name = "rotary-swingup"
    base, pole, base_joint, pole_joint = "arm.angle", "pendulum.angle", "arm", "pendulum"
    easy: ClassVar[Mapping[str, float]] = {"pendulum.position": np.pi}
    reach, begins, calm_rad_s, left = 2.0, 0.1, 6.0, "the arm wound its cable too far"
    measurements = (Channel("arm.angle", unit="rad"), Channel("pendulum.angle", unit="rad"))
    mirror: ClassVar[Mapping[str, float]] = {"arm.angle": -1.0, "pendulum.angle": -1.0, "motor": -1.0}
    observe = _observed(base, pole)
