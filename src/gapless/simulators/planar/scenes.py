"""Random scenes: circles, boxes and convex polygons between walls, falling or on a table seen from above."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from gapless.core import GaplessError

from . import matter
from .scene import CORNERS, Motion, Scene, motion_of

GRAVITY = 9.81
WALL_M = 2.0
"""Thickness: nothing is fast enough to pass through within a step."""
CLEAR_M = 0.03
"""Between bodies at the start."""
Kind = Literal["fall", "table"]


@dataclass(frozen=True)
class Scenes:
    """Which scenes are drawn."""

    kind: Kind = "fall"
    """Bodies that fall between walls, or that slide on a table."""
    bodies: tuple[int, int] = (1, 10)
    """Fewest and most bodies beside the walls."""
    slots: int = 0
    """Bodies with room; 0 is just enough for the most."""
    size_m: tuple[float, float] = (0.2, 0.6)
    """Smallest and largest radius of the circle around a body."""
    corners: tuple[int, int] = (3, 6)
    """Fewest and most corners of polygons."""
    speed: float = 3.0
    """Largest speed at the start, m/s; spins are as fast at the rim."""
    walls: bool = True
    """Whether four walls stand around."""
    meet: bool = False
    """Whether all bodies fly at the middle, where they meet, and nothing pulls them down."""

    def __post_init__(self) -> None:
        if not 1 <= self.bodies[0] <= self.bodies[1] or not 3 <= self.corners[0] <= self.corners[1] <= CORNERS:
            raise GaplessError(
                f"scenes need at least one body and polygons of 3 to {CORNERS} corners "
                f"(found bodies {self.bodies}, corners {self.corners})."
            )

    @property
    def room(self) -> int:
        return (self.slots or self.bodies[1]) + (4 if self.walls else 0)


def draw(recipe: Scenes, rng: np.random.Generator) -> tuple[Scene, Motion]:
    """One scene, free of overlaps at the start; walls come last but for padding."""
    count = int(rng.integers(recipe.bodies[0], recipe.bodies[1] + 1))
    shapes = [_shape(recipe, rng) for _ in range(count)]
    reach = np.array([radius for *_, radius in shapes])
    places, half = _places(reach, _room_for(reach, recipe.kind, rng), rng)
    size = recipe.room
    corners, counts, radii = np.zeros((size, CORNERS, 2)), np.zeros(size, int), np.zeros(size)
    owner, z, free = np.full(size, -1), np.zeros((size, matter.WIDTH)), np.zeros(size, bool)
    rows = np.zeros((size, 6))
    for k, (outline, round_m, _) in enumerate(shapes):
        corners[k, : len(outline)], counts[k], radii[k], owner[k], free[k] = outline, len(outline), round_m, k, True
    z[:count] = _matter(count, reach, rng)
    rows[:count, :2], rows[:count, 2] = places, rng.uniform(-np.pi, np.pi, count)
    pace = recipe.speed * rng.uniform(0, 1)
    rows[:count, 3:5] = pace * _discs(rng, count)
    if recipe.meet:
        rows[:count, 3:5] = _inward(places, pace, rng)
    rows[:count, 5] = pace * rng.uniform(-1, 1, count) / reach
    if recipe.walls:
        for k, (box, at) in enumerate(walls(half), start=count):
            corners[k, :4], counts[k], owner[k], rows[k, :2] = box, 4, k, at
        z[count : count + 4] = np.asarray(
            matter.embedding(friction=rng.uniform(0.1, 0.9), restitution=rng.uniform(0, 0.5))
        )
    falls = recipe.kind == "fall" and not recipe.meet
    scene = Scene(
        corners.astype(np.float32), counts.astype(np.int32), radii.astype(np.float32), owner.astype(np.int32),
        z.astype(np.float32), free, np.array([0.0, -GRAVITY if falls else 0.0], np.float32),
        np.float32(GRAVITY if recipe.kind == "table" else 0.0),
    )  # fmt: skip  # pyright: ignore[reportArgumentType]
    return scene, motion_of(rows.astype(np.float32))


def _matter(count: int, reach: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    density = np.exp(rng.uniform(np.log(0.5), np.log(4.0), count))
    return np.asarray(
        matter.embedding(
            mass=2 * np.pi * density * reach**2,
            friction=np.exp(rng.uniform(np.log(0.05), np.log(1.0), count)),
            restitution=rng.uniform(0, 0.8, count) * rng.integers(0, 2, count),
            drag=np.exp(rng.uniform(np.log(0.05), np.log(0.8), count)),
            inertia=np.exp(rng.uniform(-0.3, 0.3, count)),
        )
    )  # fmt: skip


def _shape(recipe: Scenes, rng: np.random.Generator) -> tuple[np.ndarray, float, float]:
    """Corners around the centre of mass, the radius of a circle, and that of the circle around it all."""
    size = rng.uniform(*recipe.size_m)
    kind = rng.integers(3)
    if kind == 0:
        size = max(0.7 * size, recipe.size_m[0] / 2)
        return np.zeros((1, 2)), size, size
    if kind == 1:
        tilt = rng.uniform(0.25, 0.75) * np.pi / 2
        half = size * np.array([np.cos(tilt), np.sin(tilt)])
        outline = half * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    else:
        outline = size * polygon(int(rng.integers(recipe.corners[0], recipe.corners[1] + 1)), rng)
    return outline, 0.0, float(np.linalg.norm(outline, axis=1).max())


def polygon(corners: int, rng: np.random.Generator) -> np.ndarray:
    """A convex polygon in the unit circle, its centre of mass at the origin, no corner nearly flat or sharp."""
    while True:
        gaps = rng.uniform(0.5, 1.5, corners)
        angles = np.cumsum(gaps) / gaps.sum() * 2 * np.pi
        outline = np.stack([np.cos(angles), np.sin(angles)], 1) * np.array([1.0, rng.uniform(0.6, 1.0)])
        outline = outline - centroid(outline)
        edges = np.linalg.norm(np.roll(outline, -1, 0) - outline, axis=1)
        if edges.min() > 0.25:
            return outline / np.linalg.norm(outline, axis=1).max()


def centroid(outline: np.ndarray) -> np.ndarray:
    """Centre of mass of a polygon."""
    after = np.roll(outline, -1, 0)
    cross = outline[:, 0] * after[:, 1] - outline[:, 1] * after[:, 0]
    return (cross[:, None] * (outline + after)).sum(0) / (3 * cross.sum())


def _room_for(reach: np.ndarray, kind: Kind, rng: np.random.Generator) -> np.ndarray:
    """Half the inner width and height of the walls."""
    side = np.sqrt((4 * reach**2).sum()) * rng.uniform(0.8, 1.3) + reach.max()
    return np.array([side, side * (1.5 if kind == "fall" else 1.0)])


def _places(reach: np.ndarray, half: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Places without overlap, large bodies first, and the half widths, which grow until all fit."""
    while True:
        places: dict[int, np.ndarray] = {}
        for k in np.argsort(-reach):
            at = _gap(places, reach, int(k), half, rng)
            if at is None:
                break
            places[int(k)] = at
        else:
            return np.array([places[k] for k in range(len(reach))]), half
        half = 1.15 * half


def _gap(
    places: dict[int, np.ndarray], reach: np.ndarray, which: int, half: np.ndarray, rng: np.random.Generator
) -> np.ndarray | None:
    tries = rng.uniform(-1, 1, (200, 2)) * np.maximum(half - reach[which] - CLEAR_M, 0.0)
    if not places:
        return tries[0]
    others = np.array(list(places.values()))
    far = np.linalg.norm(tries[:, None] - others, axis=-1) > reach[list(places)] + reach[which] + CLEAR_M
    fits = np.flatnonzero(far.all(1))
    return tries[fits[0]] if len(fits) else None


def _inward(places: np.ndarray, pace: float, rng: np.random.Generator) -> np.ndarray:
    """Velocities towards the middle, more or less."""
    away = places - places.mean(0)
    aim = away / np.maximum(np.linalg.norm(away, axis=1, keepdims=True), 1e-6)
    return -pace * (aim + 0.3 * _discs(rng, len(places)))


def _discs(rng: np.random.Generator, count: int) -> np.ndarray:
    angle, radius = rng.uniform(0, 2 * np.pi, count), np.sqrt(rng.uniform(0, 1, count))
    return radius[:, None] * np.stack([np.cos(angle), np.sin(angle)], 1)


def walls(half: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Floor, ceiling and two sides around an inside of half that width and height, each a box and its place."""
    corner = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]], float)
    wide, high = half[0] + WALL_M, half[1]
    out = []
    for side in (-1, 1):
        out.append((corner * np.array([wide, WALL_M / 2]), np.array([0.0, side * (high + WALL_M / 2)])))
        out.append((corner * np.array([WALL_M / 2, high]), np.array([side * (half[0] + WALL_M / 2), 0.0])))
    return out
