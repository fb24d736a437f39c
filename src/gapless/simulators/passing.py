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
        flat, structure = jax.tree.flatten(inputs)
        form = structure, *((x.shape, x.dtype) for x in flat)
        call = self._calls.get(form)
        if call is None:
            call = self._calls[form] = _compiled(self._function, inputs)
        return call(flat)


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
