"""A watch with sums for each look and measurement, and for each sign, apart: it sees what is little and always to one side.

Much to and fro does not add up, little that lasts does. So many sums need thresholds that fit the robot, which only its own
episodes can say.
"""

from typing import Self

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from gapless.core import Interface

from .watch import Blame, Look, Past, Watch, Watching

RUNAWAY = 6.0
"""Deviations in one period beyond which more do not count: a single bad reading is not a fault."""


class Apart(Watch):
    """What is off beyond a slack, too high and too low, in sums of their own."""

    slack: Float[Array, ""]
    """Deviations that are still well."""
    threshold: Float[Array, "sign number"]

    @classmethod
    def blank(cls, interface: Interface, past: Past, looks: tuple[Look, ...]) -> Self:
        width = interface.measurement_width
        never = jnp.full((2, len(looks) * width), jnp.inf)
        return cls(interface, past, looks, jnp.full(width, jnp.inf), jnp.ones(()), never)

    def added(self, total: Float[Array, "sign number"], off: Float[Array, "look width"]) -> Float[Array, "sign number"]:
        one_way = jnp.clip(off.reshape(-1), -RUNAWAY, RUNAWAY)
        return jnp.maximum(total + jnp.stack([one_way, -one_way]) - self.slack, 0.0)

    def blame(self, memory: Watching) -> Blame:
        share = np.asarray(memory.total) / np.asarray(self.threshold)
        sign, number = np.unravel_index(int(share.argmax()), share.shape)
        look, column = divmod(int(number), self.interface.measurement_width)
        return Blame(look, column, int(memory.rising[sign, number]))
