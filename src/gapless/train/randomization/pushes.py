"""Pushes at random times on a simulated robot's joints: a block beside the physics whose strength is a parameter."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from gapless.core import Block, GaplessError, Parameter, Params, Signals
from gapless.core.block import Memory
from gapless.simulators import Around, MujocoSimulator


class Pushes(Block):
    """Each joint is pushed for a while, one way or the other, up to as hard as its parameter `<joint>.push` says."""

    joints: tuple[str, ...] = eqx.field(static=True)
    every_s: float = eqx.field(static=True)
    """Mean time between the beginnings of two pushes of one joint."""
    lasts_s: float = eqx.field(static=True)

    def init(self, key: PRNGKeyArray) -> Memory:
        return {"left_s": jnp.zeros(len(self.joints)), "share": jnp.zeros(len(self.joints))}

    def step(
        self, params: Params, memory: Memory, inputs: Signals, dt_s: float, key: PRNGKeyArray
    ) -> tuple[Memory, Signals]:
        keys = jax.random.split(jax.random.fold_in(key, 7))
        begins = jax.random.bernoulli(keys[0], jnp.minimum(dt_s / self.every_s, 1.0), (len(self.joints),))
        begins &= memory["left_s"] <= 0
        fresh = jax.random.uniform(keys[1], (len(self.joints),), minval=-1.0, maxval=1.0)
        left_s = jnp.where(begins, self.lasts_s, jnp.maximum(memory["left_s"] - dt_s, 0.0))
        share = jnp.where(begins, fresh, jnp.where(left_s > 0, memory["share"], 0.0))
        forces: dict[str, Any] = {
            f"{joint}.force": (share[k] * params[f"{joint}.push"])[None] for k, joint in enumerate(self.joints)
        }
        return {"left_s": left_s, "share": share}, forces


def with_pushes(
    simulator: MujocoSimulator, hardest: dict[str, float], every_s: float = 1.0, lasts_s: float = 0.1
) -> MujocoSimulator:
    """The simulator with pushes on these joints, in N or N m at most; nominally there are none, `<joint>.push` says how hard."""
    if simulator.around.residual is not None:
        raise GaplessError("this simulator has a residual beside its physics already. Push the one without it.")
    unknown = [joint for joint in hardest if joint not in simulator.joints]
    if unknown:
        raise GaplessError(f"there is no joint {unknown[0]!r} to push; the joints are {', '.join(simulator.joints)}.")
    own = tuple(Parameter(f"{j}.push", "", 0.0, 0.0, most, "contact", free=False) for j, most in hardest.items())
    block, held = Pushes(tuple(hardest), every_s, lasts_s), simulator.around
    return simulator.with_around(Around(held.actuator, block, held.sensor, held.physics_rate, (*held.parameters, *own)))
