"""A residual on disk: its arrays as safetensors, and beside them what it sees and where it acts."""

import hashlib
import json
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from gapless.core import GaplessError
from gapless.core.reading import LARGEST_JSON, plain_object, read_limited
from gapless.nets.weights import most_bytes, weights_bytes, weights_from_bytes, write_whole

from .residual import Correction, Residual, silent_correction
from .sight import Sight

WEIGHTS, DESCRIPTION = "residual.safetensors", "residual.json"
FORMAT = 1
LARGEST = {"history": 1000, "width": 2**14, "members": 1000, "centres": 2**16}
"""Sizes beyond which a description is taken to be damaged."""


def save_residual(folder: Path, residual: Residual) -> None:
    """Write residual.safetensors and residual.json; the same residual gives the same bytes."""
    weights = weights_bytes(residual)
    described = [_described(c) for c in residual.corrections]
    description = {"format": FORMAT, "corrections": described, "weights_sha256": hashlib.sha256(weights).hexdigest()}
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / WEIGHTS, weights)
    # The description comes last: with its hash it vouches for the weights beside it.
    write_whole(folder / DESCRIPTION, (json.dumps(description, indent=1, ensure_ascii=False) + "\n").encode())


def load_residual(folder: Path) -> Residual:
    """The residual that `save_residual` wrote, exact to the last bit."""
    path = folder / DESCRIPTION
    try:
        description = plain_object(read_limited(path, LARGEST_JSON))
        if description["format"] != FORMAT:
            raise ValueError(f"format {description['format']!r:.20}, and {FORMAT} is what is read")
        like = Residual(tuple(_like(c) for c in description["corrections"]))
        expected = str(description["weights_sha256"])
    except (GaplessError, ValueError, TypeError, KeyError, AttributeError, ArithmeticError) as error:
        raise GaplessError(
            f"{path} is not the description of a residual ({type(error).__name__}: {str(error)[:200]}). Learn it again."
        ) from None
    weights = read_limited(folder / WEIGHTS, most_bytes(like))
    if hashlib.sha256(weights).hexdigest() != expected:
        raise GaplessError(
            f"{folder / WEIGHTS} is damaged or belongs to another {DESCRIPTION}: its hash is not the one written "
            "there. Learn the residual again."
        )
    return weights_from_bytes(weights, like, str(folder / WEIGHTS))


def has_residual(folder: Path) -> bool:
    """Whether a residual is stored there."""
    return (folder / DESCRIPTION).is_file()


def _described(c: Correction) -> dict[str, Any]:
    seen = {"channels": list(c.sight.channels), "turns": list(c.sight.turns), "history": c.sight.history}
    sizes = {"width": c.networks.width_size, "members": c.members, "centres": len(c.centres)}
    return {"name": c.name, **seen, **sizes}


def _like(plain: dict[str, Any]) -> Correction:
    """A correction of the described form, with shapes in place of arrays."""
    channels, turns = plain["channels"], plain["turns"]
    right = isinstance(plain["name"], str) and all(isinstance(c, str) for c in channels)
    if not right or len(channels) != len(turns) or not all(isinstance(t, bool) for t in turns):
        raise ValueError("its name, channels or turns are not what they must be")
    sizes = {k: plain[k] for k in LARGEST}
    if not all(type(v) is int and 1 <= v <= LARGEST[k] for k, v in sizes.items()):
        raise ValueError(f"sizes {sizes} are not those of a residual")
    sight = Sight(tuple(channels), tuple(turns), sizes["history"])

    def made() -> Correction:
        silent = silent_correction(plain["name"], sight, sizes["width"], sizes["members"], jax.random.key(0))
        return eqx.tree_at(lambda c: c.centres, silent, jnp.zeros((sizes["centres"], sight.present)))

    return eqx.filter_eval_shape(made)
