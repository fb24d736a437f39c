"""What stands on a table: things to be moved, and a pusher or a gripper that moves them."""

from dataclasses import dataclass

import numpy as np

from gapless.core import Channel, GaplessError, Interface, Parameter

from . import matter
from .scene import CORNERS, Scene
from .tabletop import Tabletop

PERIOD_S = 0.05
GRAVITY = 9.81
FASTEST = 1.5
"""Of what is commanded, m/s."""
REACH_M = 2.0
"""How far a robot goes from home in either direction."""
PUSHER_M, PUSHER_HOME_M = 0.15, (-0.6, 0.0)
PLATE_M = (0.04, 0.2)
"""Half thickness and half length of a gripper's plates."""
GAP_M, GAPS_M = 0.8, (0.1, 1.2)
"""How far apart the plates' middles are at home, and how far they may be."""
GRIPPING = 0.8
"""Friction of what is commanded."""
DOUBTS = {
    "mass": ("kg", 0.3, 3.0, "inertia"),
    "inertia": ("", 0.7, 1.4, "inertia"),
    "friction": ("", 0.05, 1.0, "contact"),
    "restitution": ("", 0.0, 0.8, "contact"),
    "drag": ("", 0.05, 0.8, "friction"),
}
"""What may be unknown of a thing: unit, smallest and largest plausible value, and family."""


@dataclass(frozen=True)
class Thing:
    """Something that lies on the table: a disc, or a convex polygon."""

    name: str
    radius_m: float = 0.25
    """Of a disc."""
    corners: tuple[tuple[float, float], ...] = ()
    """Of a polygon, counter-clockwise around its centre of mass; none for a disc."""
    home_m: tuple[float, float] = (0.0, 0.0)
    """Where it lies unless a start says otherwise."""
    mass: float = 1.0
    """In kg."""
    inertia: float = 1.0
    """Over that of uniform matter."""
    friction: float = 0.4
    """Against other bodies."""
    restitution: float = 0.1
    """Share of speed after a bounce."""
    drag: float = 0.3
    """Against the table."""

    def __post_init__(self) -> None:
        if self.corners and not 3 <= len(self.corners) <= CORNERS:
            raise GaplessError(f"{self.name!r} has {len(self.corners)} corners; a polygon has 3 to {CORNERS}.")


@dataclass(frozen=True)
class _Axis:
    """A commanded joint: its channels, its range, and how its bodies move along x and y when it moves by one."""

    joint: str
    command: str
    measurement: str
    range_m: tuple[float, float]
    moves: tuple[tuple[float, float], ...]


def pusher_table(*things: Thing) -> Tabletop:
    """A disc that goes where it is told, commanded by its velocity."""
    disc = Thing("pusher", PUSHER_M, home_m=PUSHER_HOME_M, friction=GRIPPING)
    reach = (-REACH_M, REACH_M)
    axes = [
        _Axis("pusher_x", "pusher.vx", "pusher.x", reach, ((1.0, 0.0),)),
        _Axis("pusher_y", "pusher.vy", "pusher.y", reach, ((0.0, 1.0),)),
    ]
    return _table("pusher", [disc], axes, things)


def gripper_table(*things: Thing) -> Tabletop:
    """Two plates, left and right of what is to be held, commanded by their common velocity and that of their gap."""
    half, long = PLATE_M
    outline = ((-half, -long), (half, -long), (half, long), (-half, long))
    left, right = (
        Thing(name, corners=outline, home_m=(side * GAP_M / 2, 0.0), friction=GRIPPING)
        for name, side in (("left", -1), ("right", 1))
    )
    reach = (-REACH_M, REACH_M)
    axes = [
        _Axis("gripper_x", "gripper.vx", "gripper.x", reach, ((1.0, 0.0), (1.0, 0.0))),
        _Axis("gripper_y", "gripper.vy", "gripper.y", reach, ((0.0, 1.0), (0.0, 1.0))),
        _Axis(
            "gripper_gap", "gripper.opening", "gripper.gap", (GAPS_M[0] - GAP_M, GAPS_M[1] - GAP_M),
            ((-0.5, 0.0), (0.5, 0.0)),
        ),
    ]  # fmt: skip
    return _table("gripper", [left, right], axes, things)


def _table(robot: str, driven: list[Thing], axes: list[_Axis], things: tuple[Thing, ...]) -> Tabletop:
    if not things or len({t.name for t in things}) < len(things):
        raise GaplessError("a table needs at least one thing, and each thing a name of its own.")
    commands = tuple(Channel(a.command, unit="m/s", low=-FASTEST, high=FASTEST) for a in axes)
    sides = [(t, side) for t in things for side in ("x", "y", "turn")]
    measurements = [Channel(a.measurement, unit="m") for a in axes] + [
        Channel(f"{t.name}.angle", unit="rad") if side == "turn" else Channel(f"{t.name}.{side}", unit="m")
        for t, side in sides
    ]
    joints = [a.joint for a in axes] + [f"{t.name}_{side}" for t, side in sides]
    interface = Interface(f"{robot} on a table", PERIOD_S, commands, tuple(measurements), tuple(joints))
    bodies = [*driven, *things]
    moves = np.zeros((len(joints), len(bodies), 3))
    for k, axis in enumerate(axes):
        moves[k, : len(driven), :2] = axis.moves
    for k in range(len(sides)):
        moves[len(axes) + k, len(driven) + k // 3, k % 3] = 1.0
    doubted = tuple(p for t in things for p in _doubts(t))
    home = np.array([[*t.home_m, 0.0] for t in bodies])
    parts = {t.name: len(driven) + k for k, t in enumerate(things)}
    return Tabletop(
        interface, doubted, _scene(bodies, len(driven)), home, moves, np.array([a.range_m for a in axes]), parts
    )  # fmt: skip


def _doubts(thing: Thing) -> tuple[Parameter, ...]:
    return tuple(
        Parameter(f"{thing.name}.{name}", unit, getattr(thing, name), low, high, family)
        for name, (unit, low, high, family) in DOUBTS.items()
    )


def _scene(bodies: list[Thing], driven: int) -> Scene:
    """Bodies of one part each; the first `driven` of them are not free."""
    size = len(bodies)
    corners, count, radius = (
        np.zeros((size, CORNERS, 2), np.float32),
        np.ones(size, np.int32),
        np.zeros(size, np.float32),
    )
    for k, body in enumerate(bodies):
        if body.corners:
            corners[k, : len(body.corners)], count[k] = body.corners, len(body.corners)
        else:
            radius[k] = body.radius_m
    z = np.stack([matter.embedding(**{n: getattr(b, n) for n in DOUBTS}) for b in bodies]).astype(np.float32)
    order = np.arange(size, dtype=np.int32)
    return Scene(corners, count, radius, order, z, order >= driven, np.zeros(2, np.float32), np.float32(GRAVITY))  # pyright: ignore
