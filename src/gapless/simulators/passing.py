"""A compiled call that hands through what a function only passes on: XLA would copy every such output, once per use."""

from collections.abc import Callable
from typing import Any

import jax
from jax.extend.core import Literal, jaxpr_as_fun


class Passing:
    """`jax.jit` for functions over large pytrees of arrays, much of which comes out as it went in."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._calls: dict[Any, Callable[[list], Any]] = {}

    def __call__(self, *inputs: Any) -> Any:
        return self.holding(inputs[0])(*inputs[1:])

    def holding(self, first: Any) -> Callable[..., Any]:
        """The same with its first input as it is now, for calls whose other inputs keep their shapes as long as they keep their
        structure: what stays is not taken apart and looked at for every call."""
        held, held_structure = jax.tree.flatten(first)
        held_form = held_structure, *((x.shape, x.dtype) for x in held)
        known: dict[Any, Callable[[list], Any]] = {}

        def call(*rest: Any) -> Any:
            flat, structure = jax.tree.flatten(rest)
            found = known.get(structure)
            if found is None:
                form = held_form, structure, *((x.shape, x.dtype) for x in flat)
                if form not in self._calls:
                    self._calls[form] = _compiled(self._function, (first, *rest))
                found = known[structure] = self._calls[form]
            return found(held + flat)

        return call


def _compiled(function: Callable[..., Any], inputs: Any) -> Callable[[list], Any]:
    traced, shapes = jax.make_jaxpr(function, return_shape=True)(*inputs)
    structure, given = jax.tree.structure(shapes), {v: k for k, v in enumerate(traced.jaxpr.invars)}
    places, wanted, seen = [], [], {}
    for k, v in enumerate(traced.jaxpr.outvars):
        known = None if isinstance(v, Literal) else given.get(v, seen.get(v))
        if known is None:
            known = len(given) + len(wanted)
            wanted.append(k)
            if not isinstance(v, Literal):
                seen[v] = known
        places.append(known)

    @jax.jit
    def computed(flat: list) -> list:
        outputs = jaxpr_as_fun(traced)(*flat)
        return [outputs[k] for k in wanted]

    def call(flat: list) -> Any:
        every = flat + computed(flat)
        return structure.unflatten([every[place] for place in places])

    return call
