"""A watch with sums for each look and measurement apart: over short whiles, of what is off to each side and of its squares.

Little that lasts to one side adds up over half a second, much to and fro within a few periods; what was long ago is forgotten, so
that a look which is a little wrong for a whole episode does not add up. Each sum is in units of what noise would make of it. So
many sums need thresholds that fit the robot.
"""

from typing import Self

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from gapless.core import Interface

from .watch import Blame, Look, Past, Watch, Watching

RUNAWAY = 6.0
"""Deviations in one period beyond which more do not count: a single bad reading is not a fault."""
ONE_SIDED = (6, 12, 25)
"""Periods over which what is off to one side is summed."""
SQUARED = (3, 6, 12)
"""Periods over which its squares are."""
WHILES = ONE_SIDED + ONE_SIDED + SQUARED
"""Of all sums of a number: too high, too low, and squares."""


class Apart(Watch):
    """What is off in each number over short whiles, too high, too low and squared, in sums of their own."""

    threshold: Float[Array, "while number"]

    @classmethod
    def blank(cls, interface: Interface, past: Past, looks: tuple[Look, ...]) -> Self:
        width = interface.measurement_width
        return cls(
            interface, past, looks, jnp.full(width, jnp.inf), jnp.full((len(WHILES), len(looks) * width), jnp.inf)
        )

    @property
    def recent(self) -> int:
        return max(WHILES)

    def summed(
        self, total: Float[Array, "while number"], offs: Float[Array, "recent look width"]
    ) -> Float[Array, "while number"]:
        off = jnp.clip(offs.reshape(len(offs), -1), -RUNAWAY, RUNAWAY)
        one_way = jnp.stack([off[:n].sum(axis=0) / np.sqrt(n) for n in ONE_SIDED])
        squares = jnp.stack([(off[:n] ** 2 - 1).sum(axis=0) / np.sqrt(2 * n) for n in SQUARED])
        return jnp.concatenate([one_way, -one_way, squares])

    def blame(self, memory: Watching) -> Blame:
        share = np.asarray(memory.total) / np.asarray(self.threshold)
        which, number = np.unravel_index(int(share.argmax()), share.shape)
        look, column = divmod(int(number), self.interface.measurement_width)
        return Blame(look, column, max(int(memory.rising[which, number]), int(memory.alarm) - WHILES[which] + 1))


def one_reading() -> Float[np.ndarray, "while 1"]:
    """The most that a single reading adds to each sum."""
    one_way = [RUNAWAY / np.sqrt(n) for n in ONE_SIDED]
    return np.array([*one_way, *one_way, *((RUNAWAY**2 - 1) / np.sqrt(2 * n) for n in SQUARED)])[:, None]
