"""A watch with one sum for all that is off: it sees what jumps, wherever it does, and needs no episode of the robot's own.

What is off is freed of the correlations that healthy episodes have, so that its mean square is one in them, and summed as Page
(1954) does: the sum falls back to zero while all is well.
"""

from typing import Self

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from gapless.core import Interface

from .watch import Blame, Look, Past, Watch, Watching

RUNAWAY = 20.0
"""One period adds no more than this to the sum: a single bad reading is not a fault."""


class Together(Watch):
    """The mean square of what is off, beyond a slack, in one sum."""

    whiten: Float[Array, "number number"]
    """Makes what is off in healthy episodes uncorrelated and of size one."""
    slack: Float[Array, ""]
    """Mean square of what is off that is still well."""
    threshold: Float[Array, ""]

    @classmethod
    def blank(cls, interface: Interface, past: Past, looks: tuple[Look, ...]) -> Self:
        width, never = interface.measurement_width, jnp.full((), jnp.inf)
        whiten = jnp.eye(len(looks) * width)
        return cls(interface, past, looks, jnp.full(width, jnp.inf), whiten, jnp.ones(()), never)

    @property
    def recent(self) -> int:
        return 1

    def summed(self, total: Float[Array, ""], offs: Float[Array, "recent look width"]) -> Float[Array, ""]:
        size = jnp.mean(jnp.square(self.whiten @ offs[0].reshape(-1)))
        return jnp.maximum(total + jnp.minimum(size, RUNAWAY) - self.slack, 0.0)

    def blame(self, memory: Watching) -> Blame:
        off = np.abs(np.asarray(memory.offs[0]))
        look, column = np.unravel_index(int(off.argmax()), off.shape)
        return Blame(int(look), int(column), int(memory.rising))
