"""The two benches where something happens to the robot: loads that come and go, and ground that gives and slips."""

from functools import partial
from typing import Any

import jax
import numpy as np
import pytest

from gapless.robots import find_robot
from gapless.robots.arm import HOOK_KG, LOADS_KG
from gapless.robots.finding import reality_of
from gapless.robots.hopper import SHIN_KG, THIGH_KG, TORSO_COM_M
from gapless.robots.reality import Reality


def later(reality: Any, state: Any, seconds: float, volts: float = 0.0) -> Any:
    """The state so much later, under a steady command."""
    sent = {name: np.array([volts], np.float32) for name in reality.interface.command_names}
    hidden = jax.tree.map(lambda v: np.asarray(v, np.float32), reality.hidden)
    return _later(type(reality), hidden, state, sent, round(seconds / reality.tick_s))


@partial(jax.jit, static_argnums=0)
def _later(kind: type[Reality], hidden: Any, state: Any, sent: Any, ticks: int) -> Any:
    reality = kind(0)
    state = reality.send(hidden, state, sent, jax.random.key(0))
    return jax.lax.fori_loop(0, ticks, lambda _, s: reality.tick(hidden, s), state)


def test_the_hook_is_loaded_for_a_while_unless_the_arm_is_left_alone() -> None:
    reality = reality_of("twin:arm?seed=3")
    start = reality.start(reality.hidden, jax.random.key(5))
    alone = reality.undisturbed(start)
    assert LOADS_KG[0] <= float(start["load_kg"]) <= LOADS_KG[1]
    for seconds, loaded in ((1.0, False), (2.4, True), (4.2, False)):
        ends = [np.asarray(reality._tip_kg(later(reality, s, seconds))) for s in (start, alone)]  # type: ignore[attr-defined]
        assert (ends[0] > HOOK_KG) == loaded
        assert ends[1] == pytest.approx(HOOK_KG)


def test_a_load_pulls_the_arm_down_and_nobody_hangs_one_on_it_in_episodes_that_teach() -> None:
    robot = find_robot("twin:arm?seed=0")
    robot.connect()
    try:
        paths = []
        for for_task in (True, False):
            robot.announce(for_task)
            robot.reset(7)
            angles = []
            for k in range(120):
                robot.send_action({"shoulder": np.array([3.0]), "elbow": np.array([1.0])})
                robot.wait_until((k + 1) * 0.02)
                angles.append(float(robot.get_observation()["shoulder.angle"][0]))
            paths.append(np.array(angles))
    finally:
        robot.disconnect()
    assert np.array_equal(paths[0][:58], paths[1][:58])
    assert paths[0][-1] < paths[1][-1] - 0.05


def standing(reality: Any) -> Any:
    home = {f"{joint}.position": np.zeros(1) for joint in reality.joints}
    return reality.place(reality.start(reality.hidden, jax.random.key(0)), home)


def test_a_hopper_that_stands_sinks_into_leg_and_ground_as_far_as_its_weight_says() -> None:
    reality = reality_of("twin:hopper?seed=0")
    hidden = reality.hidden
    hidden["coulomb"], hidden["damping"] = np.zeros(2), np.array([0.3, 60.0])
    state = later(reality, standing(reality), 1.5)
    carried, whole = ((hidden["torso_kg"] + kg) * 9.81 for kg in (THIGH_KG, THIGH_KG + SHIN_KG))
    x, z, pitch, hip, leg = np.asarray(state["position"])
    assert leg == pytest.approx(-carried / hidden["stiffness"], abs=2e-4)
    assert z == pytest.approx(leg - whole / hidden["ground"], abs=2e-4)
    assert np.allclose([x, pitch, hip], 0.0, atol=1e-5)


def test_a_hopper_in_the_air_falls_as_everything_does_whatever_its_motors_do() -> None:
    reality = reality_of("twin:hopper?seed=0")
    lifted = {"root_z.position": np.array([0.5]), "root_x.velocity": np.array([0.7]), "hip.velocity": np.array([2.0])}
    start = reality.place(standing(reality), lifted)
    state = later(reality, start, 0.2, volts=6.0)
    before, after = centre(reality, start), centre(reality, state)
    speed = (before - centre(reality, later(reality, start, 0.001))) / -0.001
    assert after[0] - before[0] == pytest.approx(speed[0] * 0.2, abs=2e-3)
    assert after[1] - before[1] == pytest.approx(speed[1] * 0.2 - 9.81 * 0.2**2 / 2, abs=4e-3)


def centre(reality: Any, state: Any) -> np.ndarray:
    """The centre of mass."""
    x, z, pitch, hip, leg = np.asarray(state["position"], np.float64)
    down = -np.array([np.sin(pitch + hip), np.cos(pitch + hip)])
    hip_at, kg = np.array([x, z]), reality.hidden["torso_kg"]
    torso = hip_at + TORSO_COM_M * np.array([np.sin(pitch), np.cos(pitch)])
    parts = [(kg, torso), (THIGH_KG, hip_at + 0.12 * down), (SHIN_KG, hip_at + (0.38 + leg) * down)]
    return np.sum([m * at for m, at in parts], axis=0) / sum(m for m, _ in parts)


def test_a_foot_that_is_pushed_harder_than_friction_holds_slides() -> None:
    reality = reality_of("twin:hopper?seed=0")
    ends = []
    for sliding in (0.05, 1.0):
        reality.hidden["sliding"] = sliding
        pushed = reality.place(later(reality, standing(reality), 0.6), {"root_x.velocity": np.array([0.8])})
        ends.append(later(reality, pushed, 0.15)["position"])
    feet = [float(p[0] - (0.5 + p[4]) * np.sin(p[2] + p[3])) for p in map(np.asarray, ends)]
    assert feet[0] > 3 * abs(feet[1])
