"""What somebody drew, as a body: a circle, or the convex outline around a stroke."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.spatial import ConvexHull, QhullError

from gapless.core import GaplessError
from gapless.simulators.planar import matter
from gapless.simulators.planar.scene import CORNERS
from gapless.simulators.planar.scenes import centroid

SMALLEST_M, LARGEST_M = 0.08, 0.8
"""From the centre of mass to the farthest point of a body."""
THINNEST_M = 0.08
"""A polygon is at least so wide in every direction."""
SHORTEST_M = 0.06
"""Of the edges of a polygon."""


@dataclass(frozen=True)
class Matter:
    """What a body is made of."""

    mass: float = 2.0
    """In kg."""
    friction: float = 0.4
    """Against other bodies."""
    restitution: float = 0.2
    """Share of speed after a bounce."""
    drag: float = 0.3
    """Against a table below."""

    def __post_init__(self) -> None:
        for name, (low, high) in LIMITS.items():
            value = getattr(self, name)
            if not low <= value <= high:
                raise GaplessError(f"a body's {name} is between {low} and {high}; {value:g} is not.")

    @property
    def z(self) -> Float[np.ndarray, " embedding"]:
        named = {name: getattr(self, name) for name in LIMITS}
        return np.asarray(matter.embedding(**named), np.float32)


LIMITS = {"mass": (0.1, 20.0), "friction": (0.0, 1.5), "restitution": (0.0, 0.9), "drag": (0.0, 1.5)}


class Drawn(NamedTuple):
    """A shape and where it is."""

    corners: Float[np.ndarray, "corner 2"]
    """Around the centre of mass, counter-clockwise; one corner is a circle."""
    radius: float
    """Of a circle."""
    centre: Float[np.ndarray, "2"]
    """Its centre of mass in the world."""

    @property
    def reach(self) -> float:
        """From the centre to the farthest point, in m."""
        return max(self.radius, float(np.linalg.norm(self.corners, axis=1).max()))


def circle(centre: Float[np.ndarray, "2"], radius: float) -> Drawn:
    """A circle, if it is neither too small nor too large."""
    return _of_a_size(Drawn(np.zeros((1, 2)), radius, centre))


def polygon(stroke: Float[np.ndarray, "point 2"]) -> Drawn:
    """The convex outline of all points of a stroke, with as few corners as Box2D allows."""
    try:
        hull = stroke[ConvexHull(stroke).vertices]
    except (QhullError, ValueError):
        raise GaplessError("the stroke has no inside. Draw around an area.") from None
    corners = _simplified(hull)
    if len(corners) < 3 or _width(corners) < THINNEST_M:
        raise GaplessError(f"the shape is thinner than {THINNEST_M * 100:.0f} cm. Draw a wider one.")
    centre = centroid(corners)
    return _of_a_size(Drawn(corners - centre, 0.0, centre))


def _of_a_size(drawn: Drawn) -> Drawn:
    if not SMALLEST_M <= drawn.reach <= LARGEST_M:
        raise GaplessError(
            f"bodies reach {SMALLEST_M * 100:.0f} to {LARGEST_M * 100:.0f} cm from their centre; "
            f"this one reaches {drawn.reach * 100:.0f}."
        )
    return drawn


def _simplified(hull: Float[np.ndarray, "point 2"]) -> Float[np.ndarray, "corner 2"]:
    """Corners left out, the one that costs least area first, until they are few enough and no edge is too short."""
    corners = hull
    while len(corners) > 3:
        before, after = np.roll(corners, 1, 0), np.roll(corners, -1, 0)
        cost = np.abs(_cross(corners - before, after - before)) / 2
        short = np.linalg.norm(after - corners, axis=1).min() < SHORTEST_M
        flat = cost.min() < SHORTEST_M**2 / 8
        if len(corners) <= CORNERS and not short and not flat:
            break
        corners = np.delete(corners, cost.argmin(), 0)
    return corners


def _width(corners: Float[np.ndarray, "corner 2"]) -> float:
    """The smallest distance between two parallel lines with all corners between them."""
    edges = np.roll(corners, -1, 0) - corners
    normals = np.stack([edges[:, 1], -edges[:, 0]], 1) / np.linalg.norm(edges, axis=1, keepdims=True)
    heights = corners @ normals.T
    return float((heights.max(0) - heights.min(0)).min())


def _cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]
