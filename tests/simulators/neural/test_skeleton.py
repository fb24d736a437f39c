"""What a network is told: contact geometry as MuJoCo has it, and nothing of where a base is."""

import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

from gapless.core import GaplessError
from gapless.simulators import MujocoSimulator
from gapless.simulators.neural import Skeleton
from gapless.simulators.neural.contacts import touches

PERIOD_S = 0.02


def gap_in_mujoco(model: mujoco.MjModel, place: np.ndarray, pair: tuple[str, str]) -> float:
    state = mujoco.MjData(model)
    state.qpos[:] = place
    mujoco.mj_forward(model, state)
    return mujoco.mj_geomDistance(model, state, *(model.geom(name).id for name in pair), 10.0, None)


def test_gaps_are_mujocos_own_distances(hopper: MujocoSimulator, puck: MujocoSimulator) -> None:
    rng = np.random.default_rng(0)
    for physics, pairs in ((hopper, [("floor", "foot")]), (puck, [("table", "puck"), ("finger", "puck")])):
        places = rng.uniform(-0.4, 0.4, (5, physics.model.nq))
        places[:, -1] = 0.05 * rng.random(5)
        found = touches(physics.model)(jnp.asarray(places, jnp.float32))
        assert len(found) == len(pairs)
        for touch, pair in zip(found, pairs, strict=True):
            expected = [gap_in_mujoco(physics.model, place, pair) for place in places]
            assert np.allclose(touch.gap, expected, atol=1e-5)


def test_a_base_is_relative_to_itself(hopper: MujocoSimulator) -> None:
    skeleton, rng = Skeleton(hopper.model, PERIOD_S), np.random.default_rng(0)
    place, speed = jnp.asarray(rng.normal(0, 0.3, (2, 4, 5)), jnp.float32)
    away = place.at[:, 0].add(7.0)
    assert np.allclose(skeleton.features(place, speed), skeleton.features(away, speed), atol=1e-5)
    near = 0.05 * place  # further away, heights are all the same to it
    lifted = skeleton.features(near.at[:, 1].add(0.02), speed)
    assert not np.allclose(skeleton.features(near, speed), lifted, atol=1e-3)


def test_a_whole_turn_changes_nothing(cartpole: MujocoSimulator) -> None:
    skeleton = Skeleton(cartpole.model, PERIOD_S)
    place, speed = jnp.asarray([[0.1, 2.0]]), jnp.asarray([[0.3, -1.0]])
    assert np.allclose(
        skeleton.features(place, speed), skeleton.features(place.at[:, 1].add(2 * jnp.pi), speed), atol=1e-5
    )


def test_rates_of_gaps_follow_from_speeds(hopper: MujocoSimulator) -> None:
    gap = touches(hopper.model)
    place, speed = jnp.zeros((1, 5)).at[0, 2].set(0.2), jnp.asarray([[0.5, -1.0, 0.3, 0.4, 0.2]])
    later = (gap(place + 1e-3 * speed)[0].gap - gap(place)[0].gap) / 1e-3
    skeleton = Skeleton(hopper.model, PERIOD_S)
    assert np.isclose(skeleton.features(place, speed), later[0], atol=2e-3).any()


def test_free_joints_are_refused() -> None:
    model = mujoco.MjModel.from_xml_string(
        '<mujoco><worldbody><body><freejoint/><geom size="0.1"/></body></worldbody></mujoco>'
    )
    with pytest.raises(GaplessError, match="two slides and a hinge"):
        Skeleton(model, PERIOD_S)
