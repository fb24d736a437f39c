"""What a training knows beside its policy: its critic, how it explores, the moments of its descent.

With a fresh critic a trained policy is spoiled before the critic has learnt to judge it; with the one that it was trained by, it
goes on from where it was. What critics are told has names: where the next training tells more or less, what is new counts for
nothing at first.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import safetensors.numpy
from jaxtyping import Shaped

from gapless.core.artifact import write_text
from gapless.core.reading import plain_object, read_limited
from gapless.nets.weights import named_arrays, write_whole

ARRAYS, DESCRIPTION = "learnt.safetensors", "learnt.json"
LARGEST = 2**28
"""Bytes that the arrays can have."""


class Learnt(NamedTuple):
    """What goes along with a policy for whoever trains it further."""

    by: str
    """The word of the way that trained it."""
    known: tuple[str, ...]
    """What its critic is told, number by number."""
    arrays: dict[str, Shaped[np.ndarray, "..."]]
    """By the name of their place."""


def learnt_of(by: str, known: tuple[str, ...], beside: Any) -> Learnt:
    """What a pytree's arrays hold."""
    return Learnt(by, known, {name: np.asarray(leaf) for name, leaf in named_arrays(beside).items()})


def save_learnt(folder: Path, learnt: Learnt) -> None:
    """Write learnt.safetensors and learnt.json; the same knowledge gives the same bytes."""
    write_whole(
        folder / ARRAYS, safetensors.numpy.save({k: np.asarray(v, order="C") for k, v in learnt.arrays.items()})
    )
    write_text(folder / DESCRIPTION, json.dumps({"by": learnt.by, "known": list(learnt.known)}))


def load_learnt(folder: Path) -> Learnt | None:
    """What `save_learnt` wrote; None where nothing was, or where it is damaged: a policy can be trained further without it."""
    try:
        said = plain_object(read_limited(folder / DESCRIPTION, LARGEST))
        arrays = safetensors.numpy.load(read_limited(folder / ARRAYS, LARGEST))
        return Learnt(str(said["by"]), tuple(map(str, said["known"])), arrays)
    except Exception:  # a damaged file raises anything, from deep inside the parser
        return None


def put_back(learnt: Learnt, known: tuple[str, ...], beside: Callable[[int], Any]) -> Any:
    """`beside`, which makes what a training knows for so many numbers told, with what was learnt; None where that does not fit.

    Each number told goes where its name is now. One that nobody told before weighs nothing: a column of zeros in every matrix.
    """
    now = beside(len(known))
    wider = eqx.filter_eval_shape(beside, len(known) + 1)
    here, more = named_arrays(now), named_arrays(wider)
    if here.keys() != learnt.arrays.keys():
        return None
    moved = {k: _moved(learnt, k, known, np.asarray(a), more[k].shape) for k, a in here.items()}
    fitting = {k: m for k, m in moved.items() if m is not None and (m.shape, m.dtype) == (here[k].shape, here[k].dtype)}
    if len(fitting) < len(here):
        return None
    arrays, rest = eqx.partition(now, eqx.is_array)
    structure = jax.tree.structure(arrays)
    return eqx.combine(jax.tree.unflatten(structure, [jnp.asarray(fitting[k]) for k in here]), rest)


def _moved(
    learnt: Learnt, name: str, known: tuple[str, ...], fresh: Shaped[np.ndarray, "..."], wider: tuple[int, ...]
) -> Shaped[np.ndarray, "..."] | None:
    """An array with its axis of what is told, if it has one, in the order of the names now."""
    values, before = learnt.arrays[name], {told: k for k, told in enumerate(learnt.known)}
    axis = next((k for k, (one, other) in enumerate(zip(fresh.shape, wider, strict=True)) if one != other), None)
    if axis is None:
        return values
    if values.ndim != fresh.ndim or values.shape[axis] != len(before):
        return None
    blank = np.zeros_like(fresh) if fresh.ndim > 1 else fresh
    columns = [(values, before[told]) if told in before else (blank, k) for k, told in enumerate(known)]
    return np.stack([np.take(found, k, axis) for found, k in columns], axis)
