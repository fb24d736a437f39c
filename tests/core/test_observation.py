"""What a policy sees, worked out by hand."""

import jax.numpy as jnp
import numpy as np
import pytest

from gapless.core import Channel, Feature, Interface, Observation

MACHINE = Interface("cart", 0.1, (Channel("push", width=2),), (Channel("angle"), Channel("place", width=2)))


def test_features_come_frame_by_frame_newest_first_then_commands() -> None:
    observe = Observation((Feature("place"), Feature("place", "rate")), frames=2, commands=1)
    history = {"place": jnp.array([[3.0, 30.0], [2.0, 20.0], [0.0, 0.0]])}
    seen = observe.features_of(history, jnp.array([[7.0, 8.0], [9.0, 9.0]]), 0.1)
    assert np.allclose(seen, [3, 30, 10, 100, 2, 20, 20, 200, 7, 8])
    assert observe.width(MACHINE) == len(seen)
    assert observe.memory == 3


def test_the_rate_of_an_angle_crosses_the_seam() -> None:
    observe = Observation((Feature("angle", "angle_rate"),), commands=0)
    history = {"angle": jnp.array([[-np.pi + 0.05], [np.pi - 0.05]])}
    assert observe.features_of(history, jnp.zeros((0, 2)), 0.1) == pytest.approx([1.0], abs=1e-4)


def test_sine_and_cosine_need_no_frame_before() -> None:
    observe = Observation((Feature("angle", "sin"), Feature("angle", "cos")), commands=0)
    assert observe.memory == 1
    seen = observe.features_of({"angle": jnp.array([[np.pi / 6]])}, jnp.zeros((0, 2)), 0.1)
    assert np.allclose(seen, [0.5, np.sqrt(3) / 2], atol=1e-6)


def test_an_observation_is_the_same_after_its_plain_form() -> None:
    observe = Observation((Feature("angle", "sin"), Feature("place", "rate")), frames=3, commands=2)
    assert Observation.from_dict(observe.to_dict()) == observe
