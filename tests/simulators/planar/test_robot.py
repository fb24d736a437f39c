"""A robot on a table, in clones and in Box2D: one contract, one motion, and things that are carried."""

import warnings
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array

from gapless.core import GaplessError, Point, Signals, Simulator, Uniform
from gapless.core.conformance import check_belief, check_simulator
from gapless.simulators.planar.box2d_robot import Box2DRobot
from gapless.simulators.planar.clone import Clone
from gapless.simulators.planar.law import Touching
from gapless.simulators.planar.robot import MEMBER, CloneRobot, over_members
from gapless.simulators.planar.things import GAP_M, REACH_M, Thing, gripper_table, pusher_table

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # its wrapper's own
    pytest.importorskip("Box2D")
BOX = ((-0.2, -0.2), (0.2, -0.2), (0.2, 0.2), (-0.2, 0.2))
PUSHER = pusher_table(Thing("puck"))
GRIPPER = gripper_table(Thing("box", corners=BOX, drag=0.1))


def run(simulator: Simulator, speeds: list[Signals], params: dict | None = None) -> list[Signals]:
    """What is measured at the start and after each command."""
    everywhere, key = np.ones(simulator.worlds, bool), jax.random.key(0)
    step = jax.jit(simulator.step) if simulator.traceable else simulator.step
    state, seen, _ = simulator.reset(simulator.init(), everywhere, params or {}, {}, key)
    found = [{k: np.array(v) for k, v in seen.items()}]
    for command in speeds:
        state, seen, _ = step(state, command, key)
        found.append({k: np.array(v) for k, v in seen.items()})
    return found


def ahead(speed: float, worlds: int = 1) -> Signals:
    return {"pusher.vx": np.full((worlds, 1), speed), "pusher.vy": np.full((worlds, 1), 0.1 * speed)}


@pytest.fixture
def clone(exact_clone: Callable[[int], Clone]) -> Clone:
    return exact_clone(24)


class Slippery(eqx.Module):
    """A law with a share of the friction between bodies."""

    law: eqx.Module
    share: Array

    def __call__(self, *args: Any) -> Touching:
        found: Touching = self.law(*args)  # pyright: ignore[reportCallIssue]
        return found._replace(friction=self.share * found.friction)


@pytest.fixture
def in_clone(clone: Clone) -> CloneRobot:
    """Two members, the second of which knows hardly any friction between bodies; three worlds everywhere, to be compiled once."""
    members = [eqx.tree_at(lambda c: c.law, clone, Slippery(clone.law, jnp.asarray(share))) for share in (1.0, 0.01)]
    return CloneRobot(PUSHER, members, 3)


@pytest.mark.slow
def test_the_robot_in_a_clone_keeps_the_laws_of_simulators(in_clone: CloneRobot) -> None:
    assert check_simulator(in_clone) == []


def test_the_robot_in_box2d_keeps_the_laws_of_simulators() -> None:
    assert check_simulator(Box2DRobot(PUSHER)) == []


def test_a_push_in_the_clone_is_the_push_in_box2d(in_clone: CloneRobot) -> None:
    speeds = [ahead(1.2, 3)] * 12 + [ahead(-0.5, 3)] * 8
    params = {"puck.mass": np.array([0.5, 1.0, 2.5]), "puck.drag": np.array([0.1, 0.3, 0.7])}
    cloned, box2d = (run(s, speeds, params) for s in (in_clone, Box2DRobot(PUSHER, 3)))
    assert np.ptp(cloned[-1]["puck.x"]) > 0.1  # what slides farther is what rubs less
    for name in ("puck.x", "puck.y", "pusher.x", "puck.angle"):
        assert np.abs(cloned[-1][name] - box2d[-1][name]).max() < 0.01, name


def test_each_world_is_stepped_by_the_member_that_its_parameter_names(in_clone: CloneRobot) -> None:
    turned = run(in_clone, [ahead(1.2, 3)] * 10, {MEMBER: np.array([0.0, 1.0, 0.0])})[-1]["puck.angle"][:, 0]
    assert turned[0] == turned[2]
    assert abs(turned[0]) > 1e-3
    assert abs(turned[1]) < 0.1 * abs(turned[0])


def test_a_draw_of_a_member_and_of_matter_is_a_draw_from_a_belief(clone: Clone) -> None:
    listed = PUSHER.parameters
    prior = Uniform(
        tuple(p.name for p in listed), *(np.array([getattr(p, s) for p in listed]) for s in ("low", "high"))
    )
    belief = over_members(prior, CloneRobot(PUSHER, [clone] * 3))
    assert check_belief(belief) == []
    drawn = np.asarray(belief.sample(jax.random.key(0), 200)[MEMBER])
    assert set(drawn) == {0.0, 1.0, 2.0}
    assert over_members(prior, CloneRobot(PUSHER, [clone])) is prior


@pytest.mark.parametrize("kind", [pytest.param("clone", marks=pytest.mark.slow), "Box2D"])
def test_a_gripper_closes_on_a_box_and_carries_it_away(kind: str, clone: Clone) -> None:
    robot = CloneRobot(GRIPPER, [clone]) if kind == "clone" else Box2DRobot(GRIPPER)
    one = lambda x, y, opening: {  # noqa: E731
        "gripper.vx": np.array([[x]]), "gripper.vy": np.array([[y]]), "gripper.opening": np.array([[opening]])
    }  # fmt: skip
    first, *_, last = run(robot, [one(0.0, 0.0, -0.5)] * 14 + [one(0.0, 0.5, -0.5)] * 10)
    assert float(first["gripper.gap"][0, 0]) == pytest.approx(0.0, abs=1e-6)
    assert float(last["gripper.y"][0, 0]) == pytest.approx(0.25, abs=1e-4)
    assert float(last["box.y"][0, 0]) > 0.15
    assert -GAP_M < float(last["gripper.gap"][0, 0]) < -0.3


def test_the_pusher_stops_at_the_end_of_its_range() -> None:
    away = [{"pusher.vx": np.array([[-1.5]]), "pusher.vy": np.zeros((1, 1))}] * 40
    assert float(run(Box2DRobot(PUSHER), away)[-1]["pusher.x"][0, 0]) == pytest.approx(-REACH_M, abs=1e-5)


@pytest.mark.parametrize("make", [lambda clone: CloneRobot(PUSHER, [clone]), lambda clone: Box2DRobot(PUSHER)])
def test_unknown_parameters_and_joints_are_named(make: Callable[[Clone], Simulator], clone: Clone) -> None:
    robot = make(clone)
    with pytest.raises(GaplessError, match=r"no parameter 'puck\.colour'"):
        robot.reset(robot.init(), np.ones(1, bool), {"puck.colour": np.zeros(1)}, {}, jax.random.key(0))
    with pytest.raises(GaplessError, match=r"a start names 'puck_z\.position'"):
        robot.reset(robot.init(), np.ones(1, bool), {}, {"puck_z.position": np.zeros((1, 1))}, jax.random.key(0))


def test_a_table_without_things_is_refused() -> None:
    with pytest.raises(GaplessError, match="at least one thing"):
        pusher_table()
    with pytest.raises(GaplessError, match="2 corners"):
        Thing("stick", corners=((0.0, 0.0), (1.0, 0.0)))


def test_parameters_are_what_the_bodies_are_made_of() -> None:
    known = Point(("puck.mass", "puck.drag"), np.array([2.0, 0.5])).sample(jax.random.key(0), 1)
    z = np.asarray(PUSHER.embeddings(known))[0]
    assert z[1, 0] == pytest.approx(np.log(2.0))
    assert np.array_equal(z[0], PUSHER.scene.z[0])
