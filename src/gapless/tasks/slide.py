"""Shove a puck so that it slides to a target out of the arm's reach, and stops there."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from gapless.core import Channel, Feature, Log, Observation, Signals, Task, Verdict
from gapless.core.observation import Kind

from .on_target import distance, left_at

TARGET_M = (0.32, 0.0)
"""Where the puck should come to rest, from where it lies at home."""
NEAR_M = 0.08
"""How far from the target it may lie at the end."""
WIDTH_M = 0.12
"""Distance from the target at which it is worth little."""
TABLE_M = 0.8
"""Where the table ends."""
ARM_RAD = 1.3
"""How far from home a joint may turn; the arm goes a little further."""
VOLTS = 10.0
KINDS: tuple[Kind, ...] = ("value", "rate")
"""What is observed of each channel."""
HOME_M = 0.01
"""How far from its home the puck lies at the start."""


class Slide(Task):
    """Reward: how near the puck is to the target, nothing if it is further than at home, less for volts.

    Joint angles and the puck are measured from home.
    """

    name = "slide"
    seconds = 2.0
    commands = (
        Channel("shoulder", unit="V", low=-VOLTS, high=VOLTS),
        Channel("elbow", unit="V", low=-VOLTS, high=VOLTS),
    )
    measurements = (
        Channel("shoulder.angle", unit="rad"),
        Channel("elbow.angle", unit="rad"),
        Channel("puck.x", unit="m"),
        Channel("puck.y", unit="m"),
    )
    observe = Observation(
        tuple(Feature(c.name, kind) for c in measurements for kind in KINDS),
        frames=2,
        commands=3,
    )

    def start(self, key: PRNGKeyArray, n: int) -> Signals:
        """Arm and puck near home, at rest."""
        keys = jax.random.split(key, 2)
        arm = 0.02 * jax.random.normal(keys[0], (n, 2))
        puck = jax.random.uniform(keys[1], (n, 2), minval=-HOME_M, maxval=HOME_M)
        return {
            "shoulder.position": arm[:, :1],
            "elbow.position": arm[:, 1:],
            "puck_x.position": puck[:, :1],
            "puck_y.position": puck[:, 1:],
        }

    def explore(self, key: PRNGKeyArray, n: int) -> Signals:
        """A third of the episodes begin with the puck on its way, a third with the arm in a shove: both are seldom met."""
        keys = jax.random.split(key, 6)
        still, which = self.start(keys[0], n), jax.random.randint(keys[1], (n, 1), 0, 3)
        shove = jax.random.uniform(keys[2], (n, 1), minval=0.0, maxval=4.0)
        sliding = {
            "puck_x.position": jax.random.uniform(keys[3], (n, 1), minval=0.0, maxval=0.3),
            "puck_y.position": 0.03 * jax.random.normal(keys[4], (n, 1)),
        }
        found = still | {k: jnp.where(which == 1, v, still[k]) for k, v in sliding.items()}
        speed = jax.random.uniform(keys[5], (n, 1), minval=0.0, maxval=1.2)
        return found | {
            "puck_x.velocity": jnp.where(which == 1, speed, 0.0),
            "shoulder.velocity": jnp.where(which == 2, -shove, 0.0),  # both together move the finger ahead
            "elbow.velocity": jnp.where(which == 2, 2 * shove, 0.0),
        }

    def reward(self, before: Signals, command: Signals, after: Signals) -> Float[Array, " *world"]:
        return sum(self.terms(before, command, after).values(), start=jnp.zeros(()))

    def terms(self, before: Signals, command: Signals, after: Signals) -> dict[str, Float[Array, " *world"]]:
        """The puck on its target, on its way there, and what the volts cost."""
        off = distance(after, TARGET_M)
        effort = sum((command[name][..., 0] / VOLTS) ** 2 for name in ("shoulder", "elbow"))
        nearer = jnp.maximum(1 - off / TARGET_M[0], 0.0)
        return {
            "on target": 0.6 * jnp.exp(-((off / WIDTH_M) ** 2)),
            "nearer": 0.4 * nearer,
            "volts": -0.01 * jnp.asarray(effort),
        }

    def finished(self, measurement: Signals) -> Bool[Array, " *world"]:
        away = jnp.maximum(jnp.abs(measurement["puck.x"][..., 0]), jnp.abs(measurement["puck.y"][..., 0]))
        bent = jnp.maximum(jnp.abs(measurement["shoulder.angle"][..., 0]), jnp.abs(measurement["elbow.angle"][..., 0]))
        return (away > TABLE_M) | (bent > ARM_RAD)

    def judge(self, log: Log) -> Verdict:
        return left_at(log, TARGET_M, NEAR_M, self.seconds, "the puck left the table, or the arm its range,")
