"""Push a puck across a table to a target, and leave it there."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from gapless.core import Channel, Feature, Log, Observation, Signals, Task, Verdict
from gapless.core.observation import Kind

from .on_target import distance, left_at

TARGET_M = (0.9, 0.0)
"""Where the puck should come to rest, from where it lies at home."""
NEAR_M = 0.1
"""How far from the target it may lie at the end."""
WIDTH_M = 0.25
"""Distance from the target at which it is worth little."""
TABLE_M = 2.0
"""Where the table ends for the puck."""
FASTEST = 1.5
"""Of the pusher, m/s."""
ASIDE_M = 0.2
"""How far from home puck and pusher may begin."""
KINDS: tuple[Kind, ...] = ("value", "rate")
"""What is observed of each channel."""


class Push(Task):
    """Reward: how near the puck is to the target, nothing if it is further than at home, a little less for haste."""

    name = "push"
    seconds = 4.0
    commands = (
        Channel("pusher.vx", unit="m/s", low=-FASTEST, high=FASTEST),
        Channel("pusher.vy", unit="m/s", low=-FASTEST, high=FASTEST),
    )
    measurements = (
        Channel("pusher.x", unit="m"),
        Channel("pusher.y", unit="m"),
        Channel("puck.x", unit="m"),
        Channel("puck.y", unit="m"),
    )
    observe = Observation(tuple(Feature(c.name, kind) for c in measurements for kind in KINDS), commands=1)

    def start(self, key: PRNGKeyArray, n: int) -> Signals:
        """Both near home, at rest; the pusher behind the puck."""
        keys = jax.random.split(key, 2)
        puck = jax.random.uniform(keys[0], (n, 2), minval=-ASIDE_M, maxval=ASIDE_M)
        pusher = jax.random.uniform(keys[1], (n, 2), minval=-ASIDE_M, maxval=ASIDE_M)
        return {
            "puck_x.position": jnp.abs(puck[:, :1]),
            "puck_y.position": puck[:, 1:],
            "pusher_x.position": -jnp.abs(pusher[:, :1]),
            "pusher_y.position": pusher[:, 1:],
        }

    def explore(self, key: PRNGKeyArray, n: int) -> Signals:
        """Half of the episodes begin with the puck somewhere on its way and the pusher behind it."""
        keys = jax.random.split(key, 3)
        still, way = self.start(keys[0], n), jax.random.uniform(keys[1], (n, 1), maxval=1.3)
        moved = jnp.where(jax.random.bernoulli(keys[2], 0.5, (n, 1)), way, 0.0)
        return still | {k: still[k] + moved for k in ("puck_x.position", "pusher_x.position")}

    def reward(self, before: Signals, command: Signals, after: Signals) -> Float[Array, " *world"]:
        return sum(self.terms(before, command, after).values(), start=jnp.zeros(()))

    def terms(self, before: Signals, command: Signals, after: Signals) -> dict[str, Float[Array, " *world"]]:
        """The puck on its target, on its way there, and what haste costs."""
        off = distance(after, TARGET_M)
        haste = sum((command[c.name][..., 0] / FASTEST) ** 2 for c in self.commands)
        nearer = jnp.maximum(1 - off / TARGET_M[0], 0.0)
        return {
            "on target": 0.5 * jnp.exp(-((off / WIDTH_M) ** 2)),
            "nearer": 0.5 * nearer,
            "haste": -0.02 * jnp.asarray(haste),
        }

    def finished(self, measurement: Signals) -> Bool[Array, " *world"]:
        return jnp.maximum(jnp.abs(measurement["puck.x"][..., 0]), jnp.abs(measurement["puck.y"][..., 0])) > TABLE_M

    def judge(self, log: Log) -> Verdict:
        return left_at(log, TARGET_M, NEAR_M, self.seconds, "the puck left the table")
