"""Hop along on one leg, forward or backward, without falling."""

from typing import ClassVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from gapless.core import Channel, Feature, Log, Observation, Signals, Task, Verdict
from gapless.core.observation import Kind

from .early import ended_early

VOLTS = 10.0
PERIOD_S = 0.02
FASTEST_M_S = 1.0
"""Speed beyond which haste pays no more."""
LEAN_RAD, SPLIT_RAD = 0.7, 1.0
"""How far the body may lean and the leg may be swung before the episode ends."""
LOW_M, HIGH_M = -0.2, 0.6
"""How far below and above its stand the body may be."""
FAR_M = 0.8
"""How far it must have come at the end."""
KINDS: tuple[Kind, ...] = ("value", "rate")


class Hop(Task):
    """Reward: staying up, and the speed along; less for volts. Angles and lengths are measured from standing upright."""

    name = "hop"
    seconds = 4.0
    way: ClassVar[float] = 1.0
    """1 forward, −1 backward."""
    commands = (
        Channel("hip", unit="V", low=-VOLTS, high=VOLTS),
        Channel("leg", unit="V", low=-VOLTS, high=VOLTS),
    )
    measurements = (
        Channel("torso.x", unit="m"),
        Channel("torso.z", unit="m"),
        Channel("torso.pitch", unit="rad"),
        Channel("hip.angle", unit="rad"),
        Channel("leg.length", unit="m"),
    )
    observe = Observation(
        (Feature("torso.x", "rate"), *(Feature(c.name, kind) for c in measurements[1:] for kind in KINDS)),
        frames=2,
        commands=3,
    )

    def start(self, key: PRNGKeyArray, n: int) -> Signals:
        """Upright, a little above the floor, nearly at rest."""
        keys = jax.random.split(key, 3)
        return {
            "root_z.position": jax.random.uniform(keys[0], (n, 1), minval=0.0, maxval=0.1),
            "pitch.position": 0.03 * jax.random.normal(keys[1], (n, 1)),
            "hip.position": 0.03 * jax.random.normal(keys[2], (n, 1)),
        }

    def explore(self, key: PRNGKeyArray, n: int) -> Signals:
        """Half of the episodes begin in the middle of a hop."""
        keys = jax.random.split(key, 8)
        still = self.start(keys[0], n)
        along = jax.random.uniform(keys[1], (n, 1), minval=-0.3, maxval=1.2) * self.way
        hopping = {
            "root_z.position": jax.random.uniform(keys[2], (n, 1), minval=0.0, maxval=0.25),
            "pitch.position": 0.12 * jax.random.normal(keys[3], (n, 1)),
            "hip.position": 0.15 * jax.random.normal(keys[4], (n, 1)),
            "root_x.velocity": along,
            "root_z.velocity": 0.6 * jax.random.normal(keys[5], (n, 1)),
            "pitch.velocity": 0.5 * jax.random.normal(keys[6], (n, 1)),
        }
        free = jax.random.bernoulli(keys[7], 0.5, (n, 1))
        return {k: jnp.where(free, v, still.get(k, 0.0)) for k, v in hopping.items()}

    def reward(self, before: Signals, command: Signals, after: Signals) -> Float[Array, " *world"]:
        return sum(self.terms(before, command, after).values(), start=jnp.zeros(()))

    def terms(self, before: Signals, command: Signals, after: Signals) -> dict[str, Float[Array, " *world"]]:
        """Standing up, the speed along, and what the volts cost."""
        along = self.way * (after["torso.x"] - before["torso.x"])[..., 0] / PERIOD_S
        effort = sum((command[c.name][..., 0] / VOLTS) ** 2 for c in self.commands)
        upright = 1 - (after["torso.pitch"][..., 0] / LEAN_RAD) ** 2
        return {
            "upright": 0.3 * upright,
            "along": jnp.clip(along, -FASTEST_M_S, FASTEST_M_S),
            "volts": -0.02 * jnp.asarray(effort),
        }

    def finished(self, measurement: Signals) -> Bool[Array, " *world"]:
        height = measurement["torso.z"][..., 0]
        leans = jnp.abs(measurement["torso.pitch"][..., 0]) > LEAN_RAD
        splits = jnp.abs(measurement["hip.angle"][..., 0]) > SPLIT_RAD
        return leans | splits | (height < LOW_M) | (height > HIGH_M)

    def judge(self, log: Log) -> Verdict:
        early = ended_early(log, self.seconds, "it fell")
        if early is not None:
            return early
        place = log.measurements["torso.x"][:, 0]
        came = float(self.way * (place[-1] - place[0]))
        return Verdict(came > FAR_M, came / FAR_M - 1, f"it came {came:.2f} m")


class HopBack(Hop):
    """The same robot, the other way."""

    name = "hop-back"
    way = -1.0
