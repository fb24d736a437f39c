"""Plain networks: what is given to them, and what they leave alone."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gapless.simulators.planar.baselines import ObjectTransformer, VertexGraph
from gapless.simulators.planar.baselines.moves import MOVES, moved
from gapless.simulators.planar.clone import at, no_push
from gapless.simulators.planar.scenes import Scenes, draw

DT_S = 1 / 60


def test_a_network_that_says_nothing_leaves_bodies_to_gravity_and_walls_where_they_are() -> None:
    scene, motion = draw(Scenes(bodies=(2, 2)), np.random.default_rng(0))
    begun = at(scene, motion)
    after = moved(jnp.zeros((6, MOVES)), scene, begun, no_push(scene), DT_S).motion
    velocity = motion.velocity[:2] + DT_S * scene.gravity
    np.testing.assert_allclose(after.velocity[:2], velocity, atol=1e-5)
    np.testing.assert_allclose(after.position[:2], motion.position[:2] + DT_S * velocity, atol=1e-5)
    loud = moved(jnp.ones((6, MOVES)), scene, begun, no_push(scene), DT_S).motion
    assert np.abs(np.asarray(loud.velocity[:2] - after.velocity[:2])).min() > 0.5
    np.testing.assert_array_equal(loud.position[2:], motion.position[2:])


@pytest.mark.slow
@pytest.mark.parametrize("kind", [pytest.param(VertexGraph, marks=pytest.mark.slow), ObjectTransformer])
def test_room_for_more_bodies_changes_nothing(kind: type) -> None:
    network, ends = kind(jax.random.key(0)), []
    for slots in (2, 4):
        scene, motion = draw(Scenes(bodies=(2, 2), slots=slots), np.random.default_rng(1))
        after = network.step(scene, at(scene, motion), no_push(scene), DT_S).motion
        ends.append(np.asarray(after.velocity[:2]))
    np.testing.assert_allclose(*ends, atol=1e-4)
