"""A world whose step is a network's: geometry is computed, what contacts do is learned, momentum cannot be lost.

Bodies are nodes, contact points are edges. In a few rounds of messages with shared weights each edge learns how crowded
its surroundings are and decides how boldly to push; then edges push in turns: never pulling, never beyond their cone of
friction, always both bodies equally. Pushing ends at the same impulses for any weights, those that let nothing sink in; the
weights decide how near a few rounds come. What a touch does, its friction and its bounce, is the learned law of the two
embeddings.
"""

from collections.abc import Sequence
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from .contacts import Contacts, find
from .law import Law
from .rounds import Edges, Rounds
from .scene import Mass, Motion, Scene, masses
from .settling import Settling


class Moving(NamedTuple):
    """The state of a world: how bodies move, and what contacts held in the last step, from which the next begins."""

    motion: Motion
    held: Float[Array, "part part point 2"]


class Push(NamedTuple):
    """What acts on bodies from outside during one step."""

    force: Float[Array, "body 2"]
    """In N, at the centre of mass."""
    torque: Float[Array, " body"]
    """In N m."""
    commanded: Float[Array, "body 3"]
    """Velocity and spin of bodies that are not free."""


class Clone(eqx.Module):
    """One learned world; scenes, states and embeddings are arguments."""

    law: Law
    rounds: Rounds
    settling: Settling

    def __init__(self, key: PRNGKeyArray, rounds: int = 48) -> None:
        keys = jax.random.split(key, 3)
        self.law, self.rounds, self.settling = Law(keys[0]), Rounds(keys[1], rounds), Settling(keys[2])

    def step(
        self, scene: Scene, moving: Moving, push: Push, dt_s: Float[Array, ""] | float, key: PRNGKeyArray | None = None
    ) -> Moving:
        """One scene `dt_s` later; with a key, as one of the ways in which touches may go."""
        scene = jax.tree.map(jnp.asarray, scene)  # one of NumPy may stand in a compiled program
        motion, mass = moving.motion, masses(scene)
        contacts = find(scene, motion)
        velocity = pushed(scene, mass, motion, push, dt_s)
        edges = Edges.of(contacts, mass, velocity, scene)
        law = self.law(scene, contacts, edges.approach, mass, key)
        velocity, impulse = self.rounds(edges, law, velocity, _remembered(moving.held, contacts), dt_s)
        place = jnp.concatenate([motion.position, motion.angle[:, None]], -1)
        place = self.settling(contacts, edges, place, place + dt_s * velocity)
        after = Motion(place[:, :2], place[:, 2], velocity[:, :2], velocity[:, 2])
        return Moving(after, _remember(moving.held, contacts, impulse))


def stacked(clones: Sequence[Clone]) -> tuple[Clone, Clone]:
    """All of them as one whose arrays lead with the member, and what of it is no array."""
    parts = [eqx.partition(clone, eqx.is_array) for clone in clones]
    return jax.tree.map(lambda *each: jnp.stack(each), *(arrays for arrays, _ in parts)), parts[0][1]


def at(scene: Scene, motion: Motion) -> Moving:
    """A state to begin from: nothing is held yet."""
    parts = scene.count.shape[0]
    motion = jax.tree.map(lambda x: jnp.asarray(x, jnp.float32), motion)
    return Moving(motion, jnp.zeros((parts, parts, 2, 2)))


def no_push(scene: Scene) -> Push:
    bodies = scene.free.shape[0]
    return Push(jnp.zeros((bodies, 2)), jnp.zeros(bodies), jnp.zeros((bodies, 3)))


def unroll(
    clone: Clone, scene: Scene, moving: Moving, pushes: Push, dt_s: Float[Array, ""] | float
) -> tuple[Moving, Motion]:
    """The state after all pushes (each with a leading step axis), and the motion after each."""

    def body(moving: Moving, push: Push) -> tuple[Moving, Motion]:
        moving = clone.step(scene, moving, push, dt_s)
        return moving, moving.motion

    return jax.lax.scan(body, moving, pushes)


def pushed(
    scene: Scene, mass: Mass, motion: Motion, push: Push, dt_s: Float[Array, ""] | float
) -> Float[Array, "body 3"]:
    """Velocities and spins before contacts are asked."""
    free = scene.free & (mass.kg > 0)
    velocity = motion.velocity + dt_s * (scene.gravity + push.force * mass.inverse[:, None])
    spin = motion.spin + dt_s * push.torque * mass.inverse_inertia
    own = jnp.concatenate([velocity, spin[:, None]], -1)
    return jnp.where(free[:, None], own, push.commanded)


def _places(contacts: Contacts) -> tuple[Int[Array, " contact"], ...]:
    return contacts.pair[:, 0], contacts.pair[:, 1], contacts.place


def _remembered(held: Float[Array, "part part point 2"], contacts: Contacts) -> Float[Array, "contact 2"]:
    return jnp.where(contacts.touching[:, None], held[_places(contacts)], 0.0)


def _remember(
    held: Float[Array, "part part point 2"], contacts: Contacts, impulse: Float[Array, "contact 2"]
) -> Float[Array, "part part point 2"]:
    on: Bool[Array, "contact 1"] = contacts.touching[:, None]
    return jnp.zeros_like(held).at[_places(contacts)].add(jnp.where(on, impulse, 0.0))
