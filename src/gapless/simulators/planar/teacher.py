"""Box2D as the teacher of a clone: a scene stepped until its solver has converged, so that the next state follows from this one.

Warm starting is off, because impulses remembered from step to step are a state that nobody sees; many iterations stand in for it.
Continuous collision is off for the same reason: walls are thick instead.
"""

from dataclasses import dataclass
from types import ModuleType
from typing import Any

import jax
import numpy as np
from jaxtyping import Float

from gapless.core import GaplessError

from . import matter
from .scene import Mass, Motion, Scene, masses, motion_of, sized

SPIN_ARM = 0.943
"""Lever of a table's friction against turning, in radii of gyration: that of a disc pressed evenly."""


@dataclass(frozen=True)
class Teacher:
    """How Box2D is run."""

    velocity_iterations: int = 100
    """Rounds over all contacts per step."""
    position_iterations: int = 3
    """Rounds that push overlaps apart."""
    warm: bool = False
    """Whether impulses are remembered from step to step, as Box2D does by itself."""
    scatter: float = 0.0
    """How much friction, as a logarithm, differs from step to step and contact to contact; the logit of the bounce, too."""


class Box2DWorld:
    """One scene in Box2D."""

    def __init__(self, scene: Scene, motion: Motion, recipe: Teacher | None = None, seed: int = 0) -> None:
        self.recipe = recipe or Teacher()
        b2 = box2d()
        self.bodies = int(scene.free.shape[0])
        self.world = b2.b2World(gravity=tuple(map(float, scene.gravity)), doSleep=False)
        self.world.warmStarting, self.world.continuousPhysics = self.recipe.warm, False
        self.free = np.asarray(scene.free)
        self.there = np.isin(np.arange(self.bodies), np.asarray(scene.owner)[np.asarray(scene.count) > 0])
        self.mass = masses_of(scene)
        self.listener: Any = None
        self.handles: list[Any] = [self._body(b2, motion, k) if self.there[k] else None for k in range(self.bodies)]
        self._shape(b2, scene)
        if self.recipe.scatter > 0:
            self.listener = self.world.contactListener = _scattering(
                b2, self.recipe.scatter, np.random.default_rng(seed)
            )
        if float(scene.table) > 0:
            self._rub(scene)

    def step(
        self, dt_s: float, force: Float[np.ndarray, "body 2"] | None = None, torque: Float[np.ndarray, " body"] | None = None,
        commanded: Float[np.ndarray, "body 3"] | None = None,
    ) -> Motion:  # fmt: skip
        """Where everything is after one step; `commanded` gives velocity and spin of bodies that are not free."""
        for k, body in enumerate(self.handles):
            if body is None:
                continue
            if not self.free[k]:
                if commanded is not None:
                    body.linearVelocity, body.angularVelocity = (
                        tuple(map(float, commanded[k, :2])),
                        float(commanded[k, 2]),
                    )
                continue
            if force is not None and np.any(force[k]):
                body.ApplyForceToCenter(tuple(map(float, force[k])), True)
            if torque is not None and torque[k]:
                body.ApplyTorque(float(torque[k]), True)
        self.world.Step(dt_s, self.recipe.velocity_iterations, self.recipe.position_iterations)
        self.world.ClearForces()
        return self.motion()

    def motion(self) -> Motion:
        """Where all bodies are now; those that are not there stay at the origin."""
        rows = np.zeros((self.bodies, 6))
        for k, body in enumerate(self.handles):
            if body is not None:
                place, velocity = body.worldCenter, body.linearVelocity
                rows[k] = place.x, place.y, body.angle, velocity.x, velocity.y, body.angularVelocity
        return motion_of(rows)

    def _body(self, b2: ModuleType, motion: Motion, which: int) -> Any:
        return self.world.CreateBody(
            type=b2.b2_dynamicBody if self.free[which] else b2.b2_kinematicBody,
            position=tuple(map(float, motion.position[which])), angle=float(motion.angle[which]),
            linearVelocity=tuple(map(float, motion.velocity[which])), angularVelocity=float(motion.spin[which]),
            allowSleep=False,
        )  # fmt: skip

    def _shape(self, b2: ModuleType, scene: Scene) -> None:
        """Give bodies their parts, and then their mass: the parts' own is not asked."""
        outline, count, radius = map(np.asarray, sized(scene))
        friction, restitution = (np.asarray(matter.named(scene.z, name)) for name in ("friction", "restitution"))
        for part in np.flatnonzero(count > 0):
            corners = outline[part, : count[part]].astype(float)
            if count[part] == 1:
                shape = b2.b2CircleShape(pos=tuple(corners[0]), radius=float(radius[part]))
            else:
                shape = b2.b2PolygonShape(vertices=[tuple(c) for c in corners])
            self.handles[int(scene.owner[part])].CreateFixture(
                shape=shape, density=1.0, friction=float(friction[part]), restitution=float(restitution[part]),
                userData=int(part),
            )  # fmt: skip
        for k in np.flatnonzero(self.free & self.there):
            own = b2.b2MassData(mass=float(self.mass.kg[k]), I=float(self.mass.inertia[k]), center=(0, 0))
            self.handles[k].massData = own

    def _rub(self, scene: Scene) -> None:
        """A table under every free body."""
        mass, ground = self.mass, self.world.CreateStaticBody()
        grip = table_grip(scene)
        for k, body in enumerate(self.handles):
            if body is not None and self.free[k]:
                arm = SPIN_ARM * float(np.sqrt(mass.inertia[k] / mass.kg[k]))
                most = float(grip[k])
                self.world.CreateFrictionJoint(
                    bodyA=ground, bodyB=body, localAnchorA=tuple(body.worldCenter), localAnchorB=(0, 0),
                    maxForce=most, maxTorque=most * arm,
                )  # fmt: skip


_masses = jax.jit(masses)


def masses_of(scene: Scene) -> Mass:
    """Mass and inertia of each body, as plain arrays."""
    return jax.tree.map(np.asarray, _masses(scene))


def table_grip(scene: Scene) -> Float[np.ndarray, " body"]:
    """The largest force with which a table holds each body, in N."""
    kg = np.where(np.asarray(scene.count) > 0, np.asarray(matter.named(scene.z, "mass")), 0.0)
    hold = kg * np.asarray(matter.named(scene.z, "drag")) * float(scene.table)
    return np.bincount(np.maximum(np.asarray(scene.owner), 0), hold, minlength=scene.free.shape[0])


def box2d() -> ModuleType:
    """The package, or one sentence that says how to get it."""
    try:
        import Box2D  # pyright: ignore[reportMissingImports]
    except ImportError:
        raise GaplessError(
            "Box2D is not installed, and it is the teacher here. Run pip install 'gapless[world]'."
        ) from None
    return Box2D


def impulses_of(world: Box2DWorld) -> dict[tuple[int, int], Float[np.ndarray, "2 point"]]:
    """From now on, normal and tangential impulses of the newest step by pair of parts: a dictionary that fills itself."""
    found: dict[tuple[int, int], np.ndarray] = {}

    class Listener(box2d().b2ContactListener):
        def BeginContact(self, contact: Any) -> None:
            found.pop(_parts(contact), None)

        def EndContact(self, contact: Any) -> None:
            found.pop(_parts(contact), None)

        def PostSolve(self, contact: Any, impulse: Any) -> None:
            found[_parts(contact)] = np.array([impulse.normalImpulses, impulse.tangentImpulses], float)

    world.listener = world.world.contactListener = Listener()  # Box2D keeps no reference of its own
    return found


def _scattering(b2: ModuleType, scatter: float, rng: np.random.Generator) -> Any:
    class Listener(b2.b2ContactListener):
        def PreSolve(self, contact: Any, old: Any) -> None:
            contact.ResetFriction()
            contact.ResetRestitution()
            chance = scatter * rng.normal(size=2)
            share = min(max(contact.restitution, 1e-3), 1 - 1e-3)
            contact.friction *= float(np.exp(chance[0]))
            contact.restitution = float(1 / (1 + (1 / share - 1) * np.exp(-chance[1])))

    return Listener()


def _parts(contact: Any) -> tuple[int, int]:
    return contact.fixtureA.userData, contact.fixtureB.userData
