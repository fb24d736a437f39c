"""Clones on disk: independent members, each a trunk and the limbs of the robots that share it, and those of the package."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import equinox as eqx
import jax

from gapless.core import Channel, GaplessError
from gapless.nets.described import Described

from ..mujoco_cpu import MujocoSimulator
from .clone import Clone, Limb, Trunk
from .simulator import CloneSimulator

FILES = Described("robots", 1, "Clone the robots again")
SHIPPED = Path(__file__).parent / "weights"
MOST = 4096
"""Members, robots, layers and numbers of one layer that are taken for those of a clone."""
Family = tuple[Trunk, dict[str, Limb]]


def save_family(
    folder: Path, members: Sequence[dict[str, Clone]], said: dict[str, Any] | None = None,
    taught: Mapping[str, MujocoSimulator] | None = None,
) -> None:  # fmt: skip
    """Write robots.safetensors and robots.json, with what was taught and whatever is `said` about how they came to be."""
    if not members or not members[0]:
        raise GaplessError("clones without a member or a robot are not stored. Fit at least one.")
    families = [_family(clones) for clones in members]
    trunk, limbs = families[0]
    described = {
        "members": len(members),
        "width": trunk.width,
        "depth": len(trunk.layers),
        "mind": trunk.mind.weight.shape[0],
        "robots": {
            name: [limb.enter.weight.shape[0], limb.embed.weight.shape[0], limb.change.shape[0]]
            for name, limb in limbs.items()
        },
        "knows": {name: _knowledge(physics) for name, physics in (taught or {}).items()},
        "said": said or {},
    }
    FILES.save(folder, families, described)


def load_family(folder: Path = SHIPPED) -> list[dict[str, Clone]]:
    """The clones that `save_family` wrote, by member and robot; without a folder, those of the package."""
    return _load(folder)[0]


def cloned(physics: MujocoSimulator, folder: Path = SHIPPED, members: int | None = None) -> CloneSimulator:
    """The stored clones of a robot as its simulator, after a look at whether they were taught this robot."""
    families, known = _load(folder)
    robot = physics.interface.robot
    clones = _of_robot(families, robot, folder)
    found, wanted = known.get(robot), _knowledge(physics)
    differs = [k for k in wanted if found is not None and found.get(k) != wanted[k]]
    if differs:
        raise GaplessError(
            f"the clone of {robot!r} in {folder} was taught other {' and '.join(differs)} than this robot has. "
            "Clone it anew: gapless clone."
        )
    return CloneSimulator(physics, clones[:members])


def has_family(folder: Path) -> bool:
    """Whether clones are stored there."""
    return FILES.description(folder).is_file()


def clones_of_robot(robot: str, folder: Path = SHIPPED) -> list[Clone]:
    """All members of one robot."""
    return _of_robot(load_family(folder), robot, folder)


def _of_robot(members: list[dict[str, Clone]], robot: str, folder: Path) -> list[Clone]:
    if robot not in members[0]:
        known = ", ".join(sorted(members[0]))
        raise GaplessError(f"there is no clone of {robot!r} in {folder} (there is: {known}). Teach one: gapless clone.")
    return [clones[robot] for clones in members]


def _load(folder: Path) -> tuple[list[dict[str, Clone]], dict[str, Any]]:
    """Clones by member and robot, and what each robot was when they were taught."""
    known: dict[str, Any] = {}

    def like(said: dict[str, Any]) -> list[Family]:
        known.update(said.get("knows", {}))
        return _untrained(said)

    families = FILES.load(folder, like)
    return [{name: Clone(trunk, limb) for name, limb in limbs.items()} for trunk, limbs in families], known


def _knowledge(physics: MujocoSimulator) -> dict[str, Any]:
    """What must be the same where a clone is used as where it was taught."""
    return {
        "period": physics.interface.period_s,
        "joints": list(physics.joints),
        "commands": [[c.name, *_limits(c)] for c in physics.interface.commands],
        "parameters": [[p.name, p.low, p.high] for p in physics.physical if p.free],
    }


def _limits(channel: Channel) -> list[float | None]:
    return [limit if math.isfinite(limit) else None for limit in (channel.low, channel.high)]


def _family(clones: dict[str, Clone]) -> Family:
    return next(iter(clones.values())).trunk, {name: clones[name].limb for name in sorted(clones)}


def _untrained(said: dict[str, Any]) -> list[Family]:
    members, width, depth, mind = (int(said[k]) for k in ("members", "width", "depth", "mind"))
    robots = {str(name): [int(n) for n in sizes] for name, sizes in said["robots"].items()}
    numbers = [members, width, depth, mind, len(robots), *(n for sizes in robots.values() for n in sizes)]
    if not all(0 <= n <= MOST for n in numbers) or min(members, width, depth, mind, len(robots)) < 1:
        raise ValueError("its sizes are not those of a clone")

    def like(key: jax.Array) -> Family:
        trunk = Trunk(key, width, depth, mind)
        return trunk, {
            name: Limb(trunk, told, moved, joints, key) for name, (told, moved, joints) in sorted(robots.items())
        }

    return [eqx.filter_eval_shape(like, jax.random.key(0))] * members
