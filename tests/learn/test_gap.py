"""The gap: none for a simulator's own log, the noise's floor for a right model, more for a wrong one."""

from collections.abc import Callable

import numpy as np
import pytest

from gapless.core import GaplessError, Log, Point, Signals, Simulator, nominal_belief
from gapless.learn.gap import Gap, gap, horizons
from gapless.learn.noise import sensor_noise
from gapless.simulators import MujocoSimulator

Collect = Callable[..., list[Log]]


def test_replay_of_a_simulators_own_log_has_zero_gap(
    any_simulator: Simulator, simulate: Callable[..., Log], lively_commands: Callable[..., Signals]
) -> None:
    log = simulate(any_simulator, {}, lively_commands(any_simulator.interface, 60))
    found = gap(any_simulator, nominal_belief(any_simulator.parameters), [log], every_s=0.4)
    assert found.horizons_s == (0.02, 0.1, 0.5)
    assert max(max(errors) for errors in found.error.values()) < 2e-3


def test_a_right_model_has_a_gap_at_its_floor_and_a_wrong_one_above(
    pendulum: MujocoSimulator, collect: Collect, hidden: dict[str, float]
) -> None:
    logs = collect(2, seconds=4.0)
    true = Point(tuple(hidden), np.array(list(hidden.values())))
    right = gap(pendulum, true, logs)
    wrong = gap(pendulum, nominal_belief(pendulum.parameters), logs, floor_from=true)
    assert right.horizons_s == horizons(0.02)
    for error, floor in zip(right.error["hinge.position"], right.floor["hinge.position"], strict=True):
        assert 0.5 < error / floor < 1.6
    assert wrong.floor == right.floor
    assert wrong.excess(0.5) > 10 * right.excess(0.5)


def test_the_excess_is_taken_in_quadrature_by_hand() -> None:
    found = Gap((0.1, 0.5), {"a": [5.0, 1.0], "b": [1.0, 1.0]}, {"a": [3.0, 1.0], "b": [2.0, 1.0]})
    # a: √(25 − 9) = 4; b lies under its floor and counts a tenth of it.
    assert found.excess(0.1) == pytest.approx((4.0 + 0.2) / 2)


def test_curves_show_the_measured_and_the_predicted(pendulum: MujocoSimulator, collect: Collect) -> None:
    curve = gap(pendulum, nominal_belief(pendulum.parameters), collect(1)).curves["hinge.position"]
    assert len(curve["time_s"]) == len(curve["measured"]) == len(curve["predicted"]) > 10
    assert curve["time_s"][0] == pytest.approx(-0.2)


def test_logs_too_short_to_predict_are_named(pendulum: MujocoSimulator, collect: Collect) -> None:
    with pytest.raises(GaplessError, match="too short to predict anything"):
        gap(pendulum, nominal_belief(pendulum.parameters), collect(1, seconds=0.2))


@pytest.mark.parametrize("noise", [0.002, 0.01])
def test_sensor_noise_is_read_off_the_logs(noise: float, collect: Collect) -> None:
    found = sensor_noise(collect(2, hinge_position_noise=noise))
    assert found["hinge.position"] == pytest.approx(noise, rel=0.3)


def test_silent_sensors_have_a_noise_that_is_never_zero(collect: Collect) -> None:
    assert sensor_noise(collect(1, hinge_position_noise=0.0, idle=True))["hinge.position"] > 0
    assert sensor_noise(collect(1, seconds=0.1))["hinge.position"] > 0
