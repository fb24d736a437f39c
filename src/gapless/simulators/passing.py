"""A compiled call that hands through what a function only passes on: XLA would copy every such output, once per use."""

from collections.abc import Callable
from typing import Any

import jax
from jax.extend.core import Literal


class Passing:
    """`jax.jit` for functions over large pytrees, most of which come out as they went in."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._calls: dict[Any, Callable[[list], Any]] = {}

    def __call__(self, *inputs: Any) -> Any:
        flat, structure = jax.tree.flatten(inputs)
        call = self._calls.get(structure)
        if call is None:
            call = self._calls[structure] = self._compiled(inputs, structure)
        return call(flat)

    def _compiled(self, inputs: Any, structure: Any) -> Callable[[list], Any]:
        traced, shapes = jax.make_jaxpr(self._function, return_shape=True)(*inputs)
        given = {v: k for k, v in enumerate(traced.jaxpr.invars)}
        places, computed = [], {}
        for k, v in enumerate(traced.jaxpr.outvars):
            if not isinstance(v, Literal) and v in given:
                places.append(given[v])
            else:
                once = k if isinstance(v, Literal) else v
                places.append(len(given) + computed.setdefault(once, (len(computed), k))[0])
        wanted = [k for _, k in computed.values()]
        outside = jax.tree.structure(shapes)

        def compute(flat: list) -> list:
            outputs = jax.tree.leaves(self._function(*jax.tree.unflatten(structure, flat)))
            return [outputs[k] for k in wanted]

        compiled = jax.jit(compute)

        def call(flat: list) -> Any:
            every = flat + compiled(flat)
            return outside.unflatten([every[place] for place in places])

        return call
