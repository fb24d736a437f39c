"""Beliefs from files: whatever anybody may have written into one, a belief or one sentence comes out."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from .belief import Belief, Gaussian, Point, Uniform
from .chosen import Chosen
from .errors import GaplessError
from .log_gaussian import LogGaussian
from .particles import Particles
from .reading import LARGEST_JSON, plain_object, read_limited

KINDS: Mapping[str, type[Belief]] = {
    "point": Point, "uniform": Uniform, "gaussian": Gaussian, "particles": Particles, "log_gaussian": LogGaussian,
}  # fmt: skip
MOST_CHOICES = 1000
"""Numbers to choose from beyond which a stored belief is taken to be damaged."""


def belief_from_dict(plain: dict[str, Any]) -> Belief:
    """The belief that `to_dict` wrote; whatever else anybody may have written is refused."""
    kind = KINDS.get(str(plain.get("kind", "")))
    if plain.get("kind") == "chosen":
        return _chosen(plain)
    if kind is None:
        known = ", ".join((*KINDS, "chosen"))
        raise GaplessError(f"unknown kind of belief {plain.get('kind')!r:.60}; it must be one of {known}.")
    try:
        names = _names(plain["names"])
        arrays = {k: _array(k, v, len(names)) for k, v in plain.items() if k not in ("kind", "names")}
        if not np.all(arrays.get("low", -np.inf) <= arrays.get("high", np.inf)):
            raise ValueError("low is above high")
        return kind(names=names, **arrays)
    except (KeyError, TypeError, ValueError, ArithmeticError) as error:
        raise GaplessError(
            f"this is no {plain['kind']} belief: {type(error).__name__} {error}. Learn it again."
        ) from None


def read_belief(path: Path) -> Belief:
    """The belief in a JSON file."""
    try:
        return belief_from_dict(plain_object(read_limited(path, LARGEST_JSON)))
    except (GaplessError, ValueError) as error:
        raise GaplessError(
            f"{path} cannot be read as a belief ({error}). Remove its folder to learn it again."
        ) from None


def _chosen(plain: dict[str, Any]) -> Chosen:
    beside: Any = plain.get("beside")
    choice, count = plain.get("choice"), plain.get("count")
    right = isinstance(beside, dict) and beside.get("kind") in KINDS and isinstance(choice, str)
    if not right or not isinstance(count, int) or not 1 <= count <= MOST_CHOICES:
        raise GaplessError("this is no chosen belief: beside, choice or count is not what it must be. Learn it again.")
    return Chosen(belief_from_dict(beside), str(choice), count)


def _names(plain: Any) -> tuple[str, ...]:
    if (
        not isinstance(plain, list | tuple)
        or not all(isinstance(n, str) for n in plain)
        or len(set(plain)) < len(plain)
    ):
        raise ValueError("its names are not a list of different words")
    return tuple(plain)


def _array(key: str, plain: Any, size: int) -> Float[np.ndarray, "..."]:
    """One array of a belief about `size` parameters; a covariance must be a possible one."""
    found = np.asarray(plain, np.float64)
    shape = {"covariance": (size, size), "particles": (len(found) if found.ndim else 0, size)}.get(key, (size,))
    if (
        found.size != math.prod(shape)
        or (key == "particles" and not found.size)
        or (size and found.shape != shape)
        or not np.all(np.isfinite(found))
    ):
        raise ValueError(f"{key} must hold {' × '.join(map(str, shape))} finite numbers")
    if key == "covariance" and size and not (np.all(np.diag(found) > 0) and np.allclose(found, found.T)):
        raise ValueError("the covariance is not symmetric with a positive diagonal")
    return found.reshape(shape)
