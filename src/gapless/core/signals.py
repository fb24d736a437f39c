"""The two dictionaries that everything speaks: signals by channel and parameters by name."""

from collections.abc import Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

Array = np.ndarray | jax.Array
Signals = dict[str, Any]
"""Channel name → array of NumPy or JAX, e.g. "pole.angle" → (world, width) or (time, width)."""
Params = dict[str, Any]
"""Parameter name → array of values in SI units, one number per world."""


def by_world(where: Any, new: Any, old: Any) -> Any:
    """Arrays that are new in the masked worlds and old in the others, leaf by leaf; worlds are the first axis."""
    mask = jnp.asarray(where)
    return jax.tree.map(lambda a, b: jnp.where(mask.reshape(-1, *[1] * (jnp.ndim(a) - 1)), a, b), new, old)


def stack(signals: Mapping[str, Array], names: Sequence[str]) -> np.ndarray:
    """The named channels side by side on the last axis, in the order of `names`."""
    return np.concatenate([np.asarray(signals[name]) for name in names], axis=-1)


def unstack(values: Array, widths: Mapping[str, int]) -> Signals:
    """The inverse of `stack`, also inside jit: columns cut into channels of the given widths."""
    named, first = {}, 0
    for name, width in widths.items():
        named[name] = values[..., first : first + width]
        first += width
    return named
