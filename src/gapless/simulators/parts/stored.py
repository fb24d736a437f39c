"""A residual on disk: its arrays as safetensors, and beside them what it sees and where it acts."""

from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from gapless.nets.described import Described

from .residual import Correction, Residual, silent_correction
from .sight import Sight

FILES = Described("residual", 1, "Learn the residual again")
SIZES = {"history": (1, 1000), "recall": (0, 1000), "width": (1, 2**14), "members": (1, 1000), "centres": (1, 2**16)}
"""Least and largest of each; beyond them a description is taken to be damaged."""


def save_residual(folder: Path, residual: Residual) -> None:
    """Write residual.safetensors and residual.json; the same residual gives the same bytes."""
    FILES.save(folder, residual, {"corrections": [_described(c) for c in residual.corrections]})


def load_residual(folder: Path) -> Residual:
    """The residual that `save_residual` wrote, exact to the last bit."""
    return FILES.load(folder, lambda plain: Residual(tuple(_like(c) for c in plain["corrections"])))


def has_residual(folder: Path) -> bool:
    """Whether a residual is stored there."""
    return FILES.description(folder).is_file()


def _described(c: Correction) -> dict[str, Any]:
    seen = {"channels": list(c.sight.channels), "turns": list(c.sight.turns)}
    sizes = {"history": c.sight.history, "recall": c.sight.recall}
    sizes |= {"width": c.networks.width_size, "members": c.members, "centres": len(c.centres)}
    return {"name": c.name, **seen, **sizes}


def _like(plain: dict[str, Any]) -> Correction:
    """A correction of the described form, with shapes in place of arrays."""
    channels, turns = plain["channels"], plain["turns"]
    right = isinstance(plain["name"], str) and all(isinstance(c, str) for c in channels)
    if not right or len(channels) != len(turns) or not all(isinstance(t, bool) for t in turns):
        raise ValueError("its name, channels or turns are not what they must be")
    sizes = {k: ({"recall": 0} | plain)[k] for k in SIZES}
    if not all(type(v) is int and SIZES[k][0] <= v <= SIZES[k][1] for k, v in sizes.items()):
        raise ValueError(f"sizes {sizes} are not those of a residual")
    sight = Sight(tuple(channels), tuple(turns), sizes["history"], sizes["recall"])

    def made() -> Correction:
        silent = silent_correction(plain["name"], sight, sizes["width"], sizes["members"], jax.random.key(0))
        return eqx.tree_at(lambda c: c.centres, silent, jnp.zeros((sizes["centres"], sight.present)))

    return eqx.filter_eval_shape(made)
