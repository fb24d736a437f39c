"""Where the robot is: worlds that follow its measurements know its speed, which nobody measures."""

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import pytest

from gapless.core import GaplessError, Signals
from gapless.simulators import JaxCartpole, MujocoSimulator
from gapless.train.planning.following import Follow, begun, corrected

LATE = {"command.latency": np.array([0.03]), "pole.angle.noise": np.zeros(1), "cart.position.noise": np.zeros(1)}


def test_worlds_that_follow_a_late_robot_come_to_know_its_speed(
    traced_cartpole: JaxCartpole, lively_commands: Callable[..., Signals]
) -> None:
    sim, everywhere, key = traced_cartpole, np.ones(1, bool), jax.random.key(0)
    step = jax.jit(sim.step)
    start = {"hinge.velocity": np.array([[3.0]]), "slider.velocity": np.array([[0.3]])}
    true, seen, truth = sim.reset(sim.init(), everywhere, LATE, start, key)
    told, _, _ = sim.reset(sim.init(), everywhere, LATE, begun(sim, LATE, seen), key)
    rows = lively_commands(sim.interface, 26)["motor"]
    joints: Signals = {}
    for row in rows[:25]:
        true, seen, truth = step(true, {"motor": row[None]}, key)
        told, *stepped = step(told, {"motor": row[None]}, key)
        joints = corrected(sim, Follow(), LATE, (stepped[0], stepped[1]), seen)
        told = sim.place(told, joints)
    for name in ("hinge.velocity", "slider.velocity", "hinge.position"):
        assert float(joints[name][0, 0]) == pytest.approx(float(truth[name][0, 0]), abs=2e-3)


def test_an_angle_is_corrected_the_shorter_way_round(traced_cartpole: JaxCartpole) -> None:
    seen = {"cart.position": np.zeros((1, 1)), "pole.angle": np.array([[-3.1]])}
    predicted = {"cart.position": np.zeros((1, 1)), "pole.angle": np.array([[3.1]])}
    states = {f"{j}.{s}": np.zeros((1, 1)) for j in ("slider", "hinge") for s in ("position", "velocity")}
    found = corrected(traced_cartpole, Follow(0.5, 0.25), {}, (predicted, states), seen)
    off = 2 * np.pi - 6.2
    assert found["hinge.position"][0, 0] == pytest.approx(0.5 * off)
    assert found["hinge.velocity"][0, 0] == pytest.approx(0.25 * off / 0.02)


def test_a_sensors_bias_and_scale_are_taken_out(pendulum: MujocoSimulator) -> None:
    params: Any = {"hinge.position.bias": np.array([0.1]), "hinge.position.scale": np.array([2.0])}
    found = begun(pendulum, params, {"hinge.position": np.array([[0.5]]), "hinge.velocity": np.array([[1.0]])})
    assert found["hinge.position"][0, 0] == pytest.approx(0.2)


def test_shares_outside_their_range_are_refused() -> None:
    with pytest.raises(GaplessError, match="shares between 0 and 1"):
        Follow(position=0.0)
