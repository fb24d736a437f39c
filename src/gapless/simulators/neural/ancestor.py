"""What a robot inherits before its first lesson: layers in which every joint has a slot, and an embedding that is computed.

A robot is introduced by its answers to a few questions that are the same for all (`learn/clone_robot/questions.py`). What its
limb begins with follows from them, so that lessons only correct it.
"""

from pathlib import Path
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import mujoco
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray

from gapless.core import GaplessError
from gapless.nets.described import Described

from .clone import Affine, Clone, Limb, Trunk
from .skeleton import Skeleton

SLOTS = 3
"""Joints that an ancestor has room for."""
TOLD = 6 * SLOTS
"""Sine, cosine, place, speed, and both moments of the command of each slot."""
QUESTIONS = 20
ANSWERS = 2 * SLOTS * QUESTIONS + 5 * SLOTS
FILES = Described("ancestor", 1, "Teach it again: benchmarks/clone_ancestor.py")
LARGEST = 4096


class Introduced(NamedTuple):
    """A robot as an ancestor gets to know it: answers in the middle of its parameters' ranges, and what each changes in them."""

    columns: Int[np.ndarray, " told"]
    """The slot's row for everything that the robot's network is told; −1 for what no ancestor knows, as contacts."""
    middle: Float[np.ndarray, " answer"]
    slope: Float[np.ndarray, "param answer"]
    """Per share, from −1 at the low end of a parameter's range to 1 at the high one."""


class Ancestor(eqx.Module):
    """A trunk, and what all limbs on it begin with."""

    trunk: Trunk
    embed: Affine
    enter: Affine
    leave: Affine

    def __init__(self, key: PRNGKeyArray, width: int = 96, depth: int = 2, mind: int = 64) -> None:
        keys = jax.random.split(key, 4)
        self.trunk = Trunk(keys[0], width, depth, mind)
        self.embed = Affine(ANSWERS, mind, keys[1])
        self.enter = Affine(TOLD, width, keys[2])
        self.leave = Affine(width, 2 * SLOTS, keys[3], 0.1)

    def bequeath(self, limb: Limb, robot: Introduced) -> Clone:
        """The clone of a robot before its first lesson; the limb lends its scales, and the way in for what is unknown here."""
        known, joints = (robot.columns >= 0)[:, None], limb.change.shape[0]
        which = np.concatenate([np.arange(joints), SLOTS + np.arange(joints)])
        enter = jnp.where(known, self.enter.weight[robot.columns], limb.enter.weight)
        new = (*self.embedded(*(jnp.asarray(side) for side in (robot.middle, robot.slope))), enter, self.enter.bias)
        new += (self.leave.weight[:, which], self.leave.bias[which])
        return Clone(self.trunk, eqx.tree_at(_taught, limb, new))

    def embedded(self, middle: Array, slope: Array) -> tuple[Float[Array, "param mind"], Float[Array, " mind"]]:
        """Weights and bias of a limb's embedding."""
        return slope @ self.embed.weight, middle @ self.embed.weight + self.embed.bias


def _taught(limb: Limb) -> tuple[Array, ...]:
    return (limb.embed.weight, limb.embed.bias, limb.enter.weight, limb.enter.bias, limb.leave.weight, limb.leave.bias)


def columns(skeleton: Skeleton, model: mujoco.MjModel) -> Int[np.ndarray, " told"]:
    """Which of an ancestor's rows belongs to each thing that the robot's network is told."""
    if skeleton.joints > SLOTS:
        raise GaplessError(f"the ancestor knows robots of at most {SLOTS} joints, and this one has {skeleton.joints}.")
    joint = np.arange(skeleton.joints)
    turned, slid = joint[skeleton.turned], joint[skeleton.slid]
    driven = model.actuator_trnid[:, 0].astype(int)
    known = np.concatenate([turned, SLOTS + turned, 2 * SLOTS + slid, 3 * SLOTS + joint])
    contacts = np.full(skeleton.width - len(known), -1)
    return np.concatenate([known, contacts, 4 * SLOTS + driven, 5 * SLOTS + driven])


def save_ancestor(folder: Path, ancestor: Ancestor, said: dict[str, Any] | None = None) -> None:
    """Write ancestor.safetensors and ancestor.json."""
    trunk = ancestor.trunk
    size = {"width": trunk.width, "depth": len(trunk.layers), "mind": trunk.mind.weight.shape[0]}
    FILES.save(folder, ancestor, size | {"said": said or {}})


def load_ancestor(folder: Path) -> Ancestor:
    """What `save_ancestor` wrote."""
    return FILES.load(folder, _untrained)


def has_ancestor(folder: Path) -> bool:
    """Whether one is stored there."""
    return FILES.description(folder).is_file()


def _untrained(said: dict[str, Any]) -> Ancestor:
    size = [int(said[k]) for k in ("width", "depth", "mind")]
    if not all(1 <= n <= LARGEST for n in size):
        raise ValueError("its sizes are not those of an ancestor")
    return eqx.filter_eval_shape(lambda key: Ancestor(key, *size), jax.random.key(0))
