"""Arrays side by side in one row: on small networks an update costs what its operations count, not what they work on."""

from typing import Any

import equinox as eqx
import jax
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float


class InRow:
    """The arrays of a pytree in one row, and those of all that has its structure, such as an optimizer's moments."""

    def __init__(self, like: Any) -> None:
        arrays, self._rest = eqx.partition(like, eqx.is_array)
        self._structure, self._unravelled = jax.tree.structure(arrays), ravel_pytree(arrays)[1]

    def flat(self, tree: Any) -> Any:
        """A tree of arrays with one row in the place of each part that has the structure."""
        arrays = eqx.filter(tree, eqx.is_array)
        return jax.tree.map(lambda x: ravel_pytree(x)[0] if self._alike(x) else x, arrays, is_leaf=self._alike)

    def shaped(self, row: Float[Array, " number"]) -> Any:
        """What lies in a row, in the pytree's own shape."""
        return eqx.combine(self._unravelled(row), self._rest)

    def restored(self, tree: Any, like: Any) -> Any:
        """What `flat` makes of a tree like this one, in its own shape again."""
        return jax.tree.map(
            lambda old, x: self._unravelled(x) if self._alike(old) else x, like, tree, is_leaf=self._alike
        )

    def _alike(self, x: Any) -> bool:
        return jax.tree.structure(x) == self._structure
