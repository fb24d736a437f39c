"""One game: a scene that Box2D and every member of an ensemble step, and what was drawn, dropped and pushed in it."""

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from gapless.core import GaplessError, by_world
from gapless.core.seeds import generator_for
from gapless.simulators.planar import matter
from gapless.simulators.planar.clone import Clone, Moving
from gapless.simulators.planar.contacts import find
from gapless.simulators.planar.scene import Motion, Scene, masses
from gapless.simulators.planar.scenes import Kind
from gapless.simulators.planar.teacher import Box2DWorld

from .arena import HALF_M, SLOTS, empty, filled, inside, random_bodies, taken
from .clock import Clock
from .ensemble import Ensemble, lost
from .hand import Hand, no_hand, pull
from .outline import Drawn, Matter

DT_S = 1 / 60
SHOWN = ("mass", "friction", "restitution", "drag")
AHEAD, AHEAD_FRAMES = 10, 6
"""How many places are foreseen, and the frames between them."""
DEEPEST_M = 0.02
"""How far a new body may reach into another."""


class Session:
    """Both worlds of one game, and their clock; `turn` counts all that happens, so that a page knows when to draw anew."""

    def __init__(self, members: Sequence[Clone], bodies: int = 6, seed: int = 0, kind: Kind = "fall") -> None:
        if not 0 <= bodies <= SLOTS:
            raise GaplessError(f"a game begins with 0 to {SLOTS} bodies; {bodies} is not.")
        self.ensemble, self.bodies, self.seed = Ensemble(members, DT_S), bodies, seed
        self.clock, self.paused, self.turn = Clock(DT_S), False, 0
        self._masses, self._pull, self._touching = jax.jit(masses), jax.jit(pull), jax.jit(_deepest)
        self.reset(kind)

    def reset(self, kind: Kind) -> None:
        """The bodies that the seed says, under gravity or on a table."""
        self._begin(kind, random_bodies(kind, self.bodies, generator_for(self.seed, "play", kind)))

    def clear(self, kind: Kind) -> None:
        """Walls and nothing else."""
        self._begin(kind, [])

    def align(self) -> None:
        """Put every member where Box2D is."""
        self.moving = self.ensemble.at(self.scene, self.truth)
        self.turn += 1

    def pause(self, paused: bool) -> None:
        """Stand still, or go on, for all who look."""
        self.paused = paused
        self.turn += 1

    def run(self, hand: Hand | None = None) -> None:
        """Everything as many frames later as real time has gone on, unless it is paused."""
        frames = self.clock.due()
        if frames and not self.paused:
            self.step(frames, hand)

    def add(self, drawn: Drawn, of: Matter) -> int:
        """A body more in every world, at rest; the slot that it got."""
        free = sorted(set(range(SLOTS)) - set(taken(self.scene)))
        if not free:
            raise GaplessError(f"the scene is full: it holds {SLOTS} bodies. Clear it first.")
        before = self.scene, self.truth, self.moving
        place = self._fill(free[0], inside(drawn), of.z)
        self.moving = Moving(_put(self.moving.motion, (slice(None), free[0]), place), self.moving.held)
        if max(float(self._touching(self.scene, motion, free[0])) for motion in self._shown()) > DEEPEST_M:
            self.scene, self.truth, self.moving = before
            raise GaplessError("something is there already. Draw where there is room.")
        self._rebuild()
        self.turn += 1
        return free[0]

    def step(self, frames: int, hand: Hand | None = None) -> None:
        """Everything some frames later, the hand pulling at the same body in all worlds."""
        held = self._held(hand)
        self.truth = self._taught(self.teacher, self.truth, held, frames)
        self.moving = self.ensemble.step(self.scene, self.moving, held, frames)
        self.frames += frames
        self.turn += 1
        self._recover()

    def foresee(self, hand: Hand | None = None) -> dict[str, Any]:
        """Where all worlds will have each body during the next second, which does not begin: places every few frames."""
        held, truth, moving = self._held(hand), self.truth, self.moving
        teacher = Box2DWorld(self.scene, truth)
        told = []
        for _ in range(AHEAD):
            truth = self._taught(teacher, truth, held, AHEAD_FRAMES)
            moving = self.ensemble.step(self.scene, moving, held, AHEAD_FRAMES)
            told.append(np.concatenate([np.asarray(truth.position)[None], np.asarray(moving.motion.position)]))
        paths = np.nan_to_num(np.stack(told, 2)[:, taken(self.scene)]).round(4).tolist()
        return {"truth": paths[0], "members": paths[1:]}

    def warm(self) -> None:
        """Compile all that a game needs, and begin anew."""
        self._touching(self.scene, self._shown()[0], 0)
        self.step(1)
        self.reset(self.kind)

    def state(self) -> dict[str, Any]:
        """All that is to be seen: what bodies are, where Box2D has them and where each member does."""
        slots = taken(self.scene)
        members = np.asarray(_places(self.moving.motion))[:, slots]
        truth = np.asarray(_places(self.truth))[slots]
        return {
            "kind": self.kind, "half": HALF_M.tolist(), "room": SLOTS, "time": round(self.frames * DT_S, 3),
            "paused": self.paused, "turn": self.turn,
            "bodies": self.described, "truth": truth.round(4).tolist(),
            "members": members.round(4).tolist(), **_figures(truth, members), "lost": self.times_lost,
        }  # fmt: skip

    def _begin(self, kind: Kind, bodies: list[tuple[Drawn, np.ndarray]]) -> None:
        self.kind: Kind = kind
        self.frames = self.times_lost = 0
        self.scene, self.truth = empty(kind)
        for slot, (drawn, z) in enumerate(bodies):
            self._fill(slot, drawn, z)
        self._rebuild()
        self.align()

    def _fill(self, slot: int, drawn: Drawn, z: np.ndarray) -> Float[np.ndarray, "6"]:
        """Put a body at rest into the scene and into what Box2D will begin from; its row of motion."""
        row = np.array([*drawn.centre, 0.0, 0.0, 0.0, 0.0], np.float32)
        self.scene, self.truth = filled(self.scene, slot, drawn, z), _put(self.truth, (slot,), row)
        return row

    def _rebuild(self) -> None:
        """Box2D remembers nothing from step to step, so a new one goes on where the old one was."""
        self.teacher, self.described = Box2DWorld(self.scene, self.truth), _described(self.scene)

    def _held(self, hand: Hand | None) -> Hand:
        if hand is None:
            return no_hand()
        there = taken(self.scene)
        if int(hand.body) not in there:
            raise GaplessError(f"there is no body {int(hand.body)} to push (there are: {there}).")
        return hand

    def _taught(self, teacher: Box2DWorld, truth: Motion, hand: Hand, frames: int) -> Motion:
        """Where Box2D has everything some frames later."""
        mass = self._masses(self.scene)
        for _ in range(frames):
            push = self._pull(hand, truth, mass)
            truth = teacher.step(DT_S, np.asarray(push.force), np.asarray(push.torque))
        return truth

    def _shown(self) -> list[Motion]:
        first = jax.tree.map(lambda x: x[0], self.moving.motion)
        return [jax.tree.map(lambda x: jnp.asarray(x, jnp.float32), motion) for motion in (self.truth, first)]

    def _recover(self) -> None:
        """Members whose states are no numbers any more begin again where Box2D is."""
        gone = lost(self.moving)
        if not gone.any():
            return
        self.times_lost += int(gone.sum())
        self.moving = by_world(gone, self.ensemble.at(self.scene, self.truth), self.moving)


def _deepest(scene: Scene, motion: Motion, part: int) -> Float[jax.Array, ""]:
    """How far a part reaches into another, in m."""
    contacts = find(scene, motion)
    its = contacts.touching & (contacts.pair == part).any(-1)
    return jnp.max(jnp.where(its, -contacts.separation, 0.0))


def _put(motion: Motion, where: tuple[Any, ...], row: Float[np.ndarray, "6"]) -> Motion:
    parts = row[:2], row[2], row[3:5], row[5]
    out = [np.array(old) for old in motion]
    for old, new in zip(out, parts, strict=True):
        old[where] = new
    return Motion(*out)  # pyright: ignore[reportArgumentType]


def _places(motion: Motion) -> np.ndarray:
    return np.concatenate([np.asarray(motion.position), np.asarray(motion.angle)[..., None]], -1)


def _figures(truth: Float[np.ndarray, "body 3"], members: Float[np.ndarray, "member body 3"]) -> dict[str, float]:
    """How far members are from one another, and their mean from Box2D: a mean over bodies, in m."""
    if not len(truth):
        return {"spread": 0.0, "error": 0.0}
    mean = members[..., :2].mean(0)
    spread = np.sqrt(((members[..., :2] - mean) ** 2).sum(-1).mean(0)).mean()
    error = np.linalg.norm(mean - truth[:, :2], axis=-1).mean()
    return {"spread": round(float(spread), 5), "error": round(float(error), 5)}


def _described(scene: Scene) -> list[dict[str, Any]]:
    """What each body is, for those who draw it."""
    named = {name: np.asarray(matter.named(jnp.asarray(scene.z), name)).round(3) for name in SHOWN}
    shapes, radii = np.asarray(scene.corners).round(4), np.asarray(scene.radius).round(4)
    return [
        {"slot": k, "corners": shapes[k, : int(scene.count[k])].tolist(), "radius": float(radii[k]),
         **{name: float(values[k]) for name, values in named.items()}}
        for k in taken(scene)
    ]  # fmt: skip
