"""The scene of a game: a box of four walls with room for some bodies, which are filled in one by one."""

from typing import Any

import numpy as np

from gapless.simulators.planar import matter
from gapless.simulators.planar.scene import CORNERS, Motion, Scene, motion_of
from gapless.simulators.planar.scenes import GRAVITY, Kind, Scenes, draw, walls

from .outline import Drawn

SLOTS = 20
"""Bodies that fit into a scene beside the walls."""
HALF_M = np.array([2.4, 1.8])
"""Half the inner width and height of the walls."""
WALLS = {"friction": 0.6, "restitution": 0.0}
CLEAR_M = 0.05
"""Between bodies at the start."""
TRIES = 200


def empty(kind: Kind) -> tuple[Scene, Motion]:
    """Walls and nothing else; bodies have the first slots, walls the last four."""
    size, falls = SLOTS + 4, kind == "fall"
    fields: dict[str, Any] = {
        "corners": np.zeros((size, CORNERS, 2), np.float32), "count": np.zeros(size, np.int32),
        "radius": np.zeros(size, np.float32), "owner": np.full(size, -1, np.int32),
        "z": np.zeros((size, matter.WIDTH), np.float32), "free": np.zeros(size, bool),
        "gravity": np.array([0.0, -GRAVITY if falls else 0.0], np.float32), "table": np.float32(0 if falls else GRAVITY),
    }  # fmt: skip
    motion = still(size)
    for k, (box, place) in enumerate(walls(HALF_M), start=SLOTS):
        fields["corners"][k, :4], fields["count"][k], fields["owner"][k] = box, 4, k
        motion.position[k] = place  # pyright: ignore[reportIndexIssue]
    fields["z"][SLOTS:] = np.asarray(matter.embedding(**WALLS))
    return Scene(**fields), motion


def still(size: int) -> Motion:
    """Everything at the origin, at rest."""
    return motion_of(np.zeros((size, 6), np.float32))


def taken(scene: Scene) -> list[int]:
    """The slots that hold bodies."""
    return [int(k) for k in np.flatnonzero(np.asarray(scene.count)[:SLOTS] > 0)]


def filled(scene: Scene, slot: int, drawn: Drawn, z: np.ndarray) -> Scene:
    """The scene with a body more."""
    fields = {name: np.array(getattr(scene, name)) for name in ("corners", "count", "radius", "owner", "z", "free")}
    fields["corners"][slot] = 0.0
    fields["corners"][slot, : len(drawn.corners)] = drawn.corners
    fields["count"][slot], fields["radius"][slot], fields["owner"][slot] = len(drawn.corners), drawn.radius, slot
    fields["z"][slot], fields["free"][slot] = z, True
    return scene._replace(**fields)


def inside(drawn: Drawn) -> Drawn:
    """The same body moved just so far that it is within the walls."""
    low, high = (drawn.corners - drawn.radius).min(0), (drawn.corners + drawn.radius).max(0)
    clear = 0.02
    return drawn._replace(centre=np.clip(drawn.centre, -HALF_M + clear - low, HALF_M - clear - high))


def random_bodies(kind: Kind, count: int, rng: np.random.Generator) -> list[tuple[Drawn, np.ndarray]]:
    """Bodies with their embeddings at places where none touches another; fewer where no room is left."""
    recipe = Scenes(kind=kind, bodies=(1, 1), size_m=(0.2, 0.45), walls=False)
    found: list[tuple[Drawn, np.ndarray]] = []
    for _ in range(count):
        scene, _ = draw(recipe, rng)
        corners = np.asarray(scene.corners[0, : int(scene.count[0])], float) @ _turn(rng.uniform(0, 2 * np.pi))
        drawn = _placed(Drawn(corners, float(scene.radius[0]), np.zeros(2)), [d for d, _ in found], rng)
        if drawn is not None:
            found.append((drawn, np.asarray(scene.z[0])))
    return found


def _placed(drawn: Drawn, others: list[Drawn], rng: np.random.Generator) -> Drawn | None:
    for place in rng.uniform(-1, 1, (TRIES, 2)) * (HALF_M - drawn.reach - CLEAR_M):
        if all(np.linalg.norm(place - o.centre) > drawn.reach + o.reach + CLEAR_M for o in others):
            return drawn._replace(centre=place)
    return None


def _turn(angle: float) -> np.ndarray:
    return np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
