"""Lift an arm's tip to a target and hold it there, whatever is hung on its hook or taken off it."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from gapless.core import Change, Channel, Feature, Log, Observation, Signals, Task, Verdict
from gapless.core.observation import Kind

from .early import ended_early

UPPER_M, LOWER_M = 0.3, 0.25
"""Lengths of the links."""
TARGET_RAD = (1.2, 0.5)
"""Joint angles with the tip on the target, one of two ways to be there."""
TARGET_M = (0.5275, -0.0765)
"""Where the tip should be, ahead of and above the shoulder."""
WIDTH_M = 0.03
"""Distance from the target at which the tip is worth little."""
AWAY_M = 0.709
"""Distance of the hanging tip from the target."""
LIFTED_S = 1.0
"""Time to get there; what is judged comes after it."""
NEAR_M = 0.03
"""How far from the target the tip may be on average then."""
ARM_RAD = 2.0
"""How far a joint may turn; the arm goes a little further."""
VOLTS = 10.0
HOOK_KG = 0.05
KINDS: tuple[Kind, ...] = ("value", "rate")


class HoldLoad(Task):
    """Reward: how near the tip is to the target, a little less for volts. The hook is loaded once and unloaded once."""

    name = "hold-load"
    seconds = 5.0
    changes = (
        Change("payload.mass", 0.15, 0.45, 1.2, 2.0),
        Change("payload.mass", HOOK_KG, HOOK_KG, 3.0, 3.8),
    )
    commands = (
        Channel("shoulder", unit="V", low=-VOLTS, high=VOLTS),
        Channel("elbow", unit="V", low=-VOLTS, high=VOLTS),
    )
    measurements = (Channel("shoulder.angle", unit="rad"), Channel("elbow.angle", unit="rad"))
    observe = Observation(tuple(Feature(c.name, kind) for c in measurements for kind in KINDS), frames=2, commands=3)

    def start(self, key: PRNGKeyArray, n: int) -> Signals:
        """The arm hangs, nearly at rest."""
        hangs = 0.05 * jax.random.normal(key, (n, 2))
        return {"shoulder.position": hangs[:, :1], "elbow.position": hangs[:, 1:]}

    def explore(self, key: PRNGKeyArray, n: int) -> Signals:
        """Half of the episodes begin somewhere on the way to the target, or a little beyond it."""
        keys = jax.random.split(key, 4)
        hangs, free = self.start(keys[0], n), jax.random.bernoulli(keys[1], 0.5, (n, 1))
        way = jax.random.uniform(keys[2], (n, 1), maxval=1.1)
        aside = 0.15 * jax.random.normal(keys[3], (n, 2))
        for k, (name, target) in enumerate(zip(hangs, TARGET_RAD, strict=True)):
            hangs[name] = jnp.where(free, way * target + aside[:, k : k + 1], hangs[name])
        return hangs

    def reward(self, before: Signals, command: Signals, after: Signals) -> Float[Array, " *world"]:
        return sum(self.terms(before, command, after).values(), start=jnp.zeros(()))

    def terms(self, before: Signals, command: Signals, after: Signals) -> dict[str, Float[Array, " *world"]]:
        """The tip on its target, on its way there, and what the volts cost."""
        off = tip_off(after)
        effort = sum((command[c.name][..., 0] / VOLTS) ** 2 for c in self.commands)
        return {
            "on target": 0.8 * jnp.exp(-((off / WIDTH_M) ** 2)),
            "nearer": 0.2 * jnp.maximum(1 - off / AWAY_M, 0.0),
            "volts": -0.01 * jnp.asarray(effort),
        }

    def finished(self, measurement: Signals) -> Bool[Array, " *world"]:
        angles = [jnp.abs(measurement[c.name][..., 0]) for c in self.measurements]
        return jnp.maximum(*angles) > ARM_RAD

    def judge(self, log: Log) -> Verdict:
        early = ended_early(log, self.seconds, "the arm left its range")
        if early is not None:
            return early
        lifted = log.measurement_time[self.measurements[0].name] >= LIFTED_S
        off = float(np.mean(np.asarray(tip_off(log.measurements))[lifted]))
        return Verdict(off < NEAR_M, 1 - off / NEAR_M, f"the tip was {off:.3f} m off the target on average")


def tip_off(measurement: Signals) -> Float[Array, " *world"]:
    """From the tip to the target, in m."""
    first = measurement["shoulder.angle"][..., 0]
    second = first + measurement["elbow.angle"][..., 0]
    ahead = UPPER_M * jnp.sin(first) + LOWER_M * jnp.sin(second) - TARGET_M[0]
    above = -UPPER_M * jnp.cos(first) - LOWER_M * jnp.cos(second) - TARGET_M[1]
    return jnp.sqrt(ahead**2 + above**2 + 1e-12)
