"""Swing a pole up on a cart and keep it there, without leaving the rail."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from gapless.core import Channel, Feature, Log, Observation, Signals, Task, Verdict

UPRIGHT_RAD = 0.3
"""How far from upright the pole may be in the last second."""
RAIL_M = 0.42
"""Where the episode ends; the rail is a little longer."""
VOLTS = 10.0
CALM_RAD_S = 4.0
PERIOD_S = 0.02


class SwingUp(Task):
    """Angle 0 hangs. Reward: how upright and calm the pole is, less for being off-centre and for volts."""

    name = "swingup"
    seconds = 5.0
    commands = (Channel("motor", unit="V", low=-VOLTS, high=VOLTS),)
    measurements = (Channel("cart.position", unit="m"), Channel("pole.angle", unit="rad"))
    observe = Observation(
        (
            Feature("cart.position"),
            Feature("cart.position", "rate"),
            Feature("pole.angle", "sin"),
            Feature("pole.angle", "cos"),
            Feature("pole.angle", "angle_rate"),
        ),
        frames=2,
        commands=3,
    )

    def start(self, key: PRNGKeyArray, n: int) -> Signals:
        """Hanging nearly at rest, near the middle."""
        keys = jax.random.split(key, 2)
        return {
            "slider.position": jax.random.uniform(keys[0], (n, 1), minval=-0.05, maxval=0.05),
            "hinge.position": 0.05 * jax.random.normal(keys[1], (n, 1)),
        }

    def explore(self, key: PRNGKeyArray, n: int) -> Signals:
        """Half of the episodes from anywhere: from hanging starts only, the top is never seen."""
        keys = jax.random.split(key, 6)
        hanging = self.start(keys[0], n)
        anywhere = {
            "slider.position": jax.random.uniform(keys[1], (n, 1), minval=-0.3, maxval=0.3),
            "hinge.position": jax.random.uniform(keys[2], (n, 1), minval=-jnp.pi, maxval=jnp.pi),
            "slider.velocity": 0.5 * jax.random.normal(keys[3], (n, 1)),
            "hinge.velocity": 2.0 * jax.random.normal(keys[4], (n, 1)),
        }
        free = jax.random.bernoulli(keys[5], 0.5, (n, 1))
        return {k: jnp.where(free, v, hanging.get(k, 0.0)) for k, v in anywhere.items()}

    def reward(self, before: Signals, command: Signals, after: Signals) -> Float[Array, " *world"]:
        angle = after["pole.angle"][..., 0]
        turned = angle - before["pole.angle"][..., 0]
        spin = jnp.arctan2(jnp.sin(turned), jnp.cos(turned)) / PERIOD_S
        height = (1 - jnp.cos(angle)) / 2
        calm = 0.3 + 0.7 * jnp.exp(-((spin / CALM_RAD_S) ** 2))  # or whirling round and round would pay, too
        off_centre = (after["cart.position"][..., 0] / RAIL_M) ** 2
        effort = (command["motor"][..., 0] / VOLTS) ** 2
        return height * calm * (1 - 0.5 * off_centre) - 0.05 * effort

    def finished(self, measurement: Signals) -> Bool[Array, " *world"]:
        return jnp.abs(measurement["cart.position"][..., 0]) > RAIL_M

    def judge(self, log: Log) -> Verdict:
        if log.source.get("stopped"):
            return Verdict(False, -1.0, f"the robot was stopped: {log.source['stopped']}")
        if log.seconds < self.seconds - 2 * log.interface.period_s:
            return Verdict(False, -1.0, f"the cart left the rail after {log.seconds:.1f} s")
        times = log.measurement_time["pole.angle"]
        last = log.measurements["pole.angle"][times > times[-1] - 1.0, 0]
        lean = float(np.abs(np.angle(np.exp(1j * (last - np.pi)))).max())
        passed = lean < UPRIGHT_RAD
        says = "stays upright" if passed else "falls or never gets up"
        return Verdict(passed, 1 - lean / UPRIGHT_RAD, f"{says}: {lean:.2f} rad off in the last second")
