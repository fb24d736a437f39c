"""A residual on disk: its arrays as safetensors, and beside them what it sees and where it acts."""

from pathlib import Path
from typing import Any

import equinox as eqx
import jax.numpy as jnp

from gapless.nets.described import Described

from .residual import Correction, Residual, silent_correction
from .sight import Sight

FILES = Described("residual", 2, "Learn the residual again")
SIZES = {
    "history": (1, 1000), "recall": (1, 1000), "units": (1, 2**14), "members": (2, 1000), "centres": (1, 2**16),
    "heard": (0, 2**20),
}  # fmt: skip
"""Least and largest of each; beyond them a description is taken to be damaged."""


def save_residual(folder: Path, residual: Residual) -> None:
    """Write residual.safetensors and residual.json; the same residual gives the same bytes."""
    described = [_described(c) | {"heard": residual.heard} for c in residual.corrections]
    FILES.save(folder, residual, {"corrections": described})


def load_residual(folder: Path) -> Residual:
    """The residual that `save_residual` wrote, exact to the last bit."""
    return FILES.load(folder, _residual_like)


def has_residual(folder: Path) -> bool:
    """Whether a residual is stored there."""
    return FILES.description(folder).is_file()


def _described(c: Correction) -> dict[str, Any]:
    seen = {"joint": c.sight.joint, "commands": list(c.sight.commands), "turns": c.sight.turns}
    sizes = {"history": c.sight.history, "recall": c.sight.recall}
    sizes |= {"units": len(c.units.phases), "members": c.members, "centres": len(c.centres)}
    return {"name": c.name, **seen, **sizes}


def _residual_like(plain: dict[str, Any]) -> Residual:
    """A residual of the described form, with shapes in place of arrays."""
    corrections = tuple(_like(c) for c in plain["corrections"])
    return Residual(corrections, plain["corrections"][0]["heard"])


def _like(plain: dict[str, Any]) -> Correction:
    words = (plain["name"], plain["joint"], *plain["commands"])
    if not all(isinstance(word, str) for word in words) or not isinstance(plain["turns"], bool):
        raise ValueError("its name, joint, commands or turns are not what they must be")
    sizes = {k: plain[k] for k in SIZES}
    if not all(type(v) is int and SIZES[k][0] <= v <= SIZES[k][1] for k, v in sizes.items()):
        raise ValueError(f"sizes {sizes} are not those of a residual")

    def made() -> Correction:
        form = plain["turns"], sizes["history"], sizes["recall"], jnp.ones(()), jnp.ones(())
        sight = Sight(plain["joint"], tuple(plain["commands"]), *form)
        silent = silent_correction(plain["name"], sight, sizes["members"], sizes["units"])
        return eqx.tree_at(lambda c: c.centres, silent, jnp.zeros((sizes["centres"], sight.present)))

    return eqx.filter_eval_shape(made)
