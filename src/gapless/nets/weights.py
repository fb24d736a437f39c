"""The arrays of a network as one safetensors file; nothing is ever unpickled."""

import itertools
import math
from pathlib import Path
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
import safetensors.numpy

from gapless.core import GaplessError
from gapless.core.artifact import write_bytes
from gapless.core.reading import read_limited

Module = TypeVar("Module")
STORABLE = frozenset(f"{kind}{bits}" for kind, bits in itertools.product(("int", "uint"), (8, 16, 32, 64))) | {
    "float16",
    "float32",
    "float64",
    "complex64",
    "bool",
}
LARGEST_HEADER = 2**24
"""Bytes that a file may have beyond the arrays it must hold."""


def save_weights(path: Path, module: Any) -> None:
    """Write every array of a pytree under the name of its place in it, e.g. "network.layers[0].weight"."""
    write_whole(path, weights_bytes(module))


def load_weights(path: Path, like: Module) -> Module:
    """`like`, whose arrays may be mere shapes, with those that `save_weights` wrote; exact to the last bit."""
    return weights_from_bytes(read_limited(path, most_bytes(like)), like, str(path))


def most_bytes(like: Any) -> int:
    """Bytes that a file with the arrays of a pytree can have."""
    return LARGEST_HEADER + sum(math.prod(a.shape) * np.dtype(a.dtype).itemsize for a in named_arrays(like).values())


def weights_bytes(module: Any) -> bytes:
    """The content of the file: the same arrays give the same bytes."""
    arrays = {name: np.asarray(_plain(name, leaf), order="C") for name, leaf in named_arrays(module).items()}
    return safetensors.numpy.save(arrays)


def weights_from_bytes(content: bytes, like: Module, source: str) -> Module:
    """`like` with the arrays in `content`; `source` names the file in errors."""
    try:
        found = safetensors.numpy.load(content)
    except Exception as error:  # a damaged file raises anything, from deep inside the parser
        reason = (str(error).splitlines() or [""])[0][:200]
        raise GaplessError(
            f"{source} cannot be read as safetensors ({type(error).__name__}: {reason}). Save the weights again."
        ) from None
    expected = named_arrays(like)
    wrong = _differences(found, expected)
    if wrong:
        more = f"; and {len(wrong) - 3} more" if len(wrong) > 3 else ""
        raise GaplessError(
            f"{source} does not hold the weights of this {type(like).__name__}: {'; '.join(wrong[:3])}{more}. "
            "Load it into a network of the sizes with which it was saved."
        )
    places, structure = jax.tree_util.tree_flatten_with_path(like)
    leaves = [_as(found[_name(p)], leaf) if _is_array(leaf) else leaf for p, leaf in places]
    return jax.tree_util.tree_unflatten(structure, leaves)


def write_whole(path: Path, content: bytes) -> None:
    """Write a file that the user asked for, whole or not at all."""
    try:
        write_bytes(path, content)
    except OSError as error:
        raise GaplessError(f"{path} cannot be written ({error.strerror}). Choose another place.") from None


def _differences(found: dict[str, np.ndarray], expected: dict[str, Any]) -> list[str]:
    wrong = [f"it has no {name!r}" for name in expected if name not in found]
    wrong += [f"it has {name!r}, for which there is no place" for name in found if name not in expected]
    for name, leaf in expected.items():
        if name in found and (found[name].dtype, found[name].shape) != (np.dtype(leaf.dtype), leaf.shape):
            there, here = (f"{np.dtype(a.dtype)}{list(a.shape)}" for a in (found[name], leaf))
            wrong.append(f"{name!r} is {there} where {here} is expected")
    return wrong


def named_arrays(module: Any) -> dict[str, Any]:
    """The arrays of a pytree by the names of their places, in its order."""
    return {_name(place): leaf for place, leaf in jax.tree_util.tree_leaves_with_path(module) if _is_array(leaf)}


def _name(place: Any) -> str:
    # The spelling with brackets: keys that contain dots, as channel names do, stay distinct.
    return jax.tree_util.keystr(place).lstrip(".") or "value"


def _is_array(leaf: Any) -> bool:
    return isinstance(leaf, jax.Array | np.ndarray | jax.ShapeDtypeStruct)


def _plain(name: str, leaf: Any) -> np.ndarray:
    if str(leaf.dtype) not in STORABLE:
        raise GaplessError(f"{name!r} has dtype {leaf.dtype}, which is not stored; convert it to float32 first.")
    return np.asarray(leaf).astype(np.dtype(leaf.dtype).newbyteorder("="), copy=False)


def _as(values: np.ndarray, leaf: Any) -> Any:
    return values.copy() if isinstance(leaf, np.ndarray) else jnp.asarray(values)
