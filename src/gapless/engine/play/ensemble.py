"""Several learned worlds stepped as one: the same scene and the same hand, a state for each member."""

from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int

from gapless.core import GaplessError
from gapless.simulators.planar.clone import Clone, Moving, at, stacked
from gapless.simulators.planar.scene import Motion, Scene, masses

from .hand import Hand, pull


class Ensemble:
    """Members are alike in shape; the number of frames is an argument, so that nothing is compiled twice."""

    def __init__(self, members: Sequence[Clone], dt_s: float) -> None:
        if not members:
            raise GaplessError("an ensemble has at least one member; there is none.")
        self.size, self.dt_s = len(members), dt_s
        self._weights, self._still = stacked(members)
        self._stepped = jax.jit(self._trace)
        self.traces = 0

    def at(self, scene: Scene, motion: Motion) -> Moving:
        """All members where a motion says."""
        begun = at(scene, motion)
        return jax.tree.map(lambda x: jnp.broadcast_to(x, (self.size, *x.shape)), begun)

    def step(self, scene: Scene, moving: Moving, hand: Hand, frames: int) -> Moving:
        """All members some frames later."""
        return self._stepped(self._weights, scene, moving, hand, jnp.asarray(frames, jnp.int32))

    def _trace(self, weights: Clone, scene: Scene, moving: Moving, hand: Hand, frames: Int[Array, ""]) -> Moving:
        self.traces += 1
        mass = masses(scene)

        def member(of: tuple[Clone, Moving]) -> Moving:
            clone: Clone = eqx.combine(of[0], self._still)
            once = lambda _, now: clone.step(scene, now, pull(hand, now.motion, mass), self.dt_s)  # noqa: E731
            return jax.lax.fori_loop(0, frames, once, of[1])

        # One after the other: on a few cores that is twice as fast as all at once.
        return jax.lax.map(member, (weights, moving))


def lost(moving: Moving) -> np.ndarray:
    """Which members' states are no numbers any more."""
    rows = [np.asarray(x).reshape(len(x), -1) for x in moving.motion]
    return np.logical_not(np.isfinite(np.concatenate(rows, 1)).all(axis=1, keepdims=True))[:, 0]
