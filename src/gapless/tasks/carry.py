"""Take a box between two plates, carry it across a table to a target, and leave it there."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from gapless.core import Channel, Feature, Log, Observation, Signals, Task, Verdict

from .on_target import distance, left_at
from .push import FASTEST, KINDS, NEAR_M, TABLE_M, WIDTH_M

TARGET_M = (0.2, 0.8)
"""Where the box should be left, from where it lies at home: plates that only push it aside do not bring it there."""
AWAY_M = (TARGET_M[0] ** 2 + TARGET_M[1] ** 2) ** 0.5
HELD_M = -0.32
"""The gap's joint where plates touch the box."""
CRUSHED_M = -0.42
"""Where they have crushed it."""
ASIDE_M = 0.1
"""How far from home the box may begin; the gripper half as far, so that its plates stand clear."""


class Carry(Task):
    """Reward: how near the box is to the target, nothing if it is farther than at home, a little less for haste."""

    name = "carry"
    seconds = 4.0
    commands = tuple(Channel(f"gripper.{c}", unit="m/s", low=-FASTEST, high=FASTEST) for c in ("vx", "vy", "opening"))
    measurements = tuple(Channel(m, unit="m") for m in ("gripper.x", "gripper.y", "gripper.gap", "box.x", "box.y"))
    observe = Observation(tuple(Feature(c.name, kind) for c in measurements for kind in KINDS), commands=1)

    def start(self, key: PRNGKeyArray, n: int) -> Signals:
        """Box and gripper near home, at rest, the gripper open."""
        at = jax.random.uniform(key, (n, 4), minval=-1, maxval=1) * ASIDE_M * jnp.array([1, 1, 0.5, 0.5])
        names = ("box_x.position", "box_y.position", "gripper_x.position", "gripper_y.position")
        return {name: at[:, k : k + 1] for k, name in enumerate(names)} | {"gripper_gap.position": jnp.zeros((n, 1))}

    def explore(self, key: PRNGKeyArray, n: int) -> Signals:
        """Half of the episodes begin with the box nearly held, somewhere on its way."""
        keys = jax.random.split(key, 3)
        still, way = self.start(keys[0], n), jax.random.uniform(keys[1], (n, 1), maxval=1.2)
        held = jax.random.bernoulli(keys[2], 0.5, (n, 1))
        begun = {"gripper_gap.position": jnp.where(held, HELD_M + 0.01, 0.0)}
        for side, target in zip(("x", "y"), TARGET_M, strict=True):
            box = still[f"box_{side}.position"]
            begun[f"box_{side}.position"] = box + held * way * target
            own = box if side == "x" else still["gripper_y.position"]
            begun[f"gripper_{side}.position"] = jnp.where(held, own + way * target, still[f"gripper_{side}.position"])
        return begun

    def reward(self, before: Signals, command: Signals, after: Signals) -> Float[Array, " *world"]:
        return sum(self.terms(before, command, after).values(), start=jnp.zeros(()))

    def terms(self, before: Signals, command: Signals, after: Signals) -> dict[str, Float[Array, " *world"]]:
        """The box on its target, on its way there, and what haste costs."""
        off = distance(after, TARGET_M, "box")
        haste = sum((command[c.name][..., 0] / FASTEST) ** 2 for c in self.commands)
        nearer = jnp.maximum(1 - off / AWAY_M, 0.0)
        return {
            "on target": 0.5 * jnp.exp(-((off / WIDTH_M) ** 2)),
            "nearer": 0.5 * nearer,
            "haste": -0.02 * jnp.asarray(haste),
        }

    def finished(self, measurement: Signals) -> Bool[Array, " *world"]:
        away = jnp.maximum(jnp.abs(measurement["box.x"][..., 0]), jnp.abs(measurement["box.y"][..., 0])) > TABLE_M
        return away | (measurement["gripper.gap"][..., 0] < CRUSHED_M)

    def judge(self, log: Log) -> Verdict:
        return left_at(log, TARGET_M, NEAR_M, self.seconds, "the box was crushed or left the table", "box")
