"""Clones on disk: independent members of one ensemble, and those that come with the package."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import equinox as eqx
import jax

from gapless.core import GaplessError
from gapless.nets.described import Described

from .clone import Clone

FILES = Described("clone", 1, "Clone the world again")
SHIPPED = Path(__file__).parent / "weights"
MOST_MEMBERS, MOST_ROUNDS = 64, 1000


def save_members(folder: Path, members: Sequence[Clone], said: dict[str, Any] | None = None) -> None:
    """Write clone.safetensors and clone.json, with whatever is `said` about how they came to be."""
    if not members:
        raise GaplessError("an ensemble without members is not stored. Fit at least one clone.")
    described = {"members": len(members), "rounds": members[0].rounds.count, "said": said or {}}
    FILES.save(folder, list(members), described)


def members(folder: Path = SHIPPED) -> list[Clone]:
    """The clones that `save_members` wrote, exact to the last bit; without a folder, those of the package."""
    return FILES.load(folder, _untrained)


def members_and_said(folder: Path) -> tuple[list[Clone], dict[str, Any]]:
    """The same, and what was said about how they came to be."""
    said: dict[str, Any] = {}

    def like(description: dict[str, Any]) -> list[Clone]:
        said.update(description.get("said") or {})
        return _untrained(description)

    return FILES.load(folder, like), said


def _untrained(said: dict[str, Any]) -> list[Clone]:
    count, rounds = int(said["members"]), int(said["rounds"])
    if not (1 <= count <= MOST_MEMBERS and 1 <= rounds <= MOST_ROUNDS):
        raise ValueError(f"{count} members with {rounds} rounds are not those of a clone")
    like = eqx.filter_eval_shape(lambda key: Clone(key, rounds), jax.random.key(0))
    return [like] * count
