"""What a network is told of a robot's motion: angles as sines and cosines, a base relative to itself, and contacts as gaps."""

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
from jaxtyping import Array, Float

from gapless.core import GaplessError

from . import folding
from .contacts import touches

COARSE_M, FINE_M = 0.1, 0.01
"""Gaps are told on two scales: what may come, and what is."""
SINGLE = (mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE)


class Skeleton:
    """A model of hinges and slides, as features over worlds."""

    def __init__(self, model: mujoco.MjModel, period_s: float) -> None:
        other = [j for j in range(model.njnt) if mujoco.mjtJoint(model.jnt_type[j]) not in SINGLE]
        if other:
            raise GaplessError(
                "a clone knows hinges and slides only, and the model has a free or ball joint. "
                "Write a planar base as two slides and a hinge."
            )
        self.period_s, self.joints = period_s, model.njnt
        self._hinges = np.array([model.jnt_type[j] == mujoco.mjtJoint.mjJNT_HINGE for j in range(model.njnt)])
        self._placed = np.array([_placed(model, j) for j in range(model.njnt)])
        self.turned, self.slid = self._hinges & self._placed, ~self._hinges & self._placed
        """Which joints are told as sine and cosine, and which as a place."""
        self._touches = touches(model)
        self._turns = [t.turns for t in self._touches(jnp.zeros((1, self.joints)))]
        shape = jax.eval_shape(self.features, *[jax.ShapeDtypeStruct((1, self.joints), jnp.float32)] * 2)
        self.width = shape.shape[1]

    def features(
        self, position: Float[Array, "world joint"], velocity: Float[Array, "world joint"]
    ) -> Float[Array, "world feature"]:
        """What the next period depends on, but for commands and parameters."""
        angles, slid = position[:, self.turned], position[:, self.slid]
        return jnp.concatenate(
            [jnp.sin(angles), jnp.cos(angles), slid, velocity, *self._contacts(position, velocity)], axis=1
        )

    def _contacts(self, position: Array, velocity: Array) -> list[Float[Array, "world 1"]]:
        gaps, rates = jax.jvp(self._gaps, (position,), (velocity,))
        columns = []
        for (gap, *apart), (closing, *moving), turns in zip(gaps, rates, self._turns, strict=True):
            ahead = gap + self.period_s * closing
            columns += [jnp.clip(g / scale, -1, 1) for g in (gap, ahead) for scale in (COARSE_M, FINE_M)]
            if turns:
                size = jnp.sqrt(sum(a * a for a in apart) + 1e-12)
                columns += [a / size for a in apart]
            columns += [closing, *moving]
        return [c[:, None] for c in columns]

    def _gaps(self, position: Array) -> list[list[Array]]:
        """Gap and changing parts of the vector across, for each pair that may touch."""
        return [[t.gap, *(a for a in t.apart if not folding.fixed(a))] for t in self._touches(position)]


def _placed(model: mujoco.MjModel, joint: int) -> bool:
    """Whether a joint's position matters by itself: not where it only carries everything along, as a base does."""
    if mujoco.mjtJoint(model.jnt_type[joint]) == mujoco.mjtJoint.mjJNT_HINGE:
        return True
    if model.jnt_limited[joint] or model.jnt_stiffness[joint] or _is_served(model, joint):
        return True
    body = int(model.jnt_bodyid[joint])
    before = [j for j in range(joint) if model.jnt_bodyid[j] == body]
    turned = any(mujoco.mjtJoint(model.jnt_type[j]) == mujoco.mjtJoint.mjJNT_HINGE for j in before)
    return bool(model.body_parentid[body]) or turned


def _is_served(model: mujoco.MjModel, joint: int) -> bool:
    """Whether an actuator of it pulls towards a place."""
    drives = [i for i in range(model.nu) if model.actuator_trntype[i] == mujoco.mjtTrn.mjTRN_JOINT]
    return any(model.actuator_trnid[i, 0] == joint and model.actuator_biasprm[i, 1] != 0 for i in drives)
