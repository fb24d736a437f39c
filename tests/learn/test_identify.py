"""Identification: hidden numbers recovered, with as much doubt as the logs leave."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from gapless.core import Channel, GaplessError, Gaussian, Log, Parameter, on_one_clock, prior_belief
from gapless.learn.identify import Identified, Identify, identify
from gapless.learn.posterior import misfit
from gapless.simulators import MujocoSimulator

Collect = Callable[..., list[Log]]


@pytest.fixture
def identified(pendulum: MujocoSimulator, collect: Collect) -> Identified:
    return identify(pendulum, prior_belief(pendulum.parameters), collect(3), collect(1, first=9))


def test_identification_recovers_hidden_damping_and_gain(identified: Identified, hidden: dict[str, float]) -> None:
    mean, deviation = identified.belief.mean(), identified.belief.deviation()
    for name in ("hinge.damping", "motor.gain"):
        assert mean[name] == pytest.approx(hidden[name], rel=0.02)
        assert abs(mean[name] - hidden[name]) < 4 * deviation[name]
    assert identified.method == "least-squares"


def test_latency_is_recovered_to_a_millisecond_from_a_start_twelve_off(
    pendulum: MujocoSimulator, collect: Collect, hidden: dict[str, float]
) -> None:
    wrong = replace(_parameter(pendulum, "command.latency"), nominal=hidden["command.latency"] + 0.012)
    others = tuple(p for p in pendulum.parameters if p.name != wrong.name)
    found = identify(pendulum, prior_belief((*others, wrong)), collect(3), [])
    assert found.belief.mean()["command.latency"] == pytest.approx(hidden["command.latency"], abs=0.001)


def test_a_model_that_is_right_has_a_chi_square_of_one(pendulum: MujocoSimulator, collect: Collect) -> None:
    noisy = {"hinge_position_noise": 0.005}
    found = identify(pendulum, prior_belief(pendulum.parameters), collect(3, **noisy), collect(2, first=9, **noisy))
    assert 0.7 < found.chi_square < 1.4
    assert 0.6 < found.train_chi_square < 1.4


def test_the_noise_of_the_sensors_enters_the_belief(identified: Identified, hidden: dict[str, float]) -> None:
    name = "hinge.position.noise"
    assert identified.belief.mean()[name] == pytest.approx(hidden[name], rel=0.3)
    assert identified.noise["hinge.position"] == identified.belief.mean()[name]


def test_belief_widens_when_logs_do_not_excite_the_joint(pendulum: MujocoSimulator, collect: Collect) -> None:
    prior = prior_belief(pendulum.parameters)
    lively, idle = (identify(pendulum, prior, collect(2, idle=still), []).belief for still in (False, True))
    for name in prior.names:
        assert idle.deviation()[name] > 0.9 * prior.deviation()[name]
        assert lively.deviation()[name] < 0.1 * prior.deviation()[name]


def test_more_logs_narrow_the_belief(pendulum: MujocoSimulator, collect: Collect) -> None:
    prior = prior_belief(pendulum.parameters)
    noisy = {"hinge_position_noise": 0.005}  # what the time step leaves in doubt does not shrink, and must not rule
    one, four = (identify(pendulum, prior, collect(n, **noisy), []).belief for n in (1, 4))
    assert all(four.deviation()[name] < one.deviation()[name] for name in prior.names)


def test_the_belief_widens_with_the_held_out_chi_square(pendulum: MujocoSimulator, collect: Collect) -> None:
    """The same fit, judged by logs of this machine and by logs of a weaker one."""
    prior, logs = prior_belief(pendulum.parameters), collect(2)
    alone = Identify(doubt=0.0, posterior="gaussian", window_s=0.4)
    right = identify(pendulum, prior, logs, collect(1, first=9), alone)
    wrong = identify(pendulum, prior, logs, collect(1, first=9, motor_gain=1.0), alone)
    assert wrong.chi_square > 10 > right.chi_square
    grown = [float(wrong.belief.deviation()[n] / right.belief.deviation()[n]) for n in prior.names]
    assert min(grown) > 0.5 * np.sqrt(wrong.chi_square)


def test_identification_is_deterministic(pendulum: MujocoSimulator, collect: Collect, identified: Identified) -> None:
    again = identify(pendulum, prior_belief(pendulum.parameters), collect(3), collect(1, first=9))
    assert again.belief.to_dict() == identified.belief.to_dict()


def test_evolution_finds_the_same_numbers(
    pendulum: MujocoSimulator, collect: Collect, hidden: dict[str, float]
) -> None:
    recipe = Identify(method="cma", windows=24)
    found = identify(pendulum, prior_belief(pendulum.parameters), collect(2), [], recipe, seed=3)
    assert found.method == "cma"
    assert found.belief.mean()["motor.gain"] == pytest.approx(hidden["motor.gain"], rel=0.03)


def test_a_fit_stays_within_what_is_plausible(pendulum: MujocoSimulator, collect: Collect) -> None:
    tight = replace(_parameter(pendulum, "motor.gain"), high=1.1)
    found = identify(pendulum, prior_belief((tight,)), collect(1), []).belief
    assert found.mean()["motor.gain"] <= 1.1


def test_logs_that_are_too_short_are_measured_in_the_sentence(pendulum: MujocoSimulator, collect: Collect) -> None:
    prior = prior_belief(pendulum.parameters)
    with pytest.raises(GaplessError, match=r"the longest has 0\.20 s and windows need 0\.1 s and a little before"):
        identify(pendulum, prior, collect(1, seconds=0.2), [])
    with pytest.raises(GaplessError, match=r"the longest has 0\.00 s"):
        identify(pendulum, prior, [], [])


def test_logs_of_another_machine_are_refused(pendulum: MujocoSimulator, collect: Collect) -> None:
    log = collect(1)[0]
    slower = replace(pendulum.interface, period_s=0.04)
    stranger = on_one_clock(slower, log.commands, log.measurements, log.command_time)
    with pytest.raises(GaplessError, match=r"the simulator and the log do not fit: period 0\.02 s against 0\.04 s"):
        identify(pendulum, prior_belief(pendulum.parameters), [log], [stranger])
    renamed = replace(pendulum.interface, commands=(Channel("engine"),))
    other = on_one_clock(renamed, {"engine": log.commands["motor"]}, log.measurements, log.command_time)
    with pytest.raises(GaplessError, match=r"commands motor\[1\] against engine\[1\]"):
        identify(pendulum, prior_belief(pendulum.parameters), [other], [])


def test_nothing_to_identify_is_said(pendulum: MujocoSimulator, collect: Collect) -> None:
    nothing: Gaussian = prior_belief([])
    with pytest.raises(GaplessError, match="no parameter is free, so there is nothing to identify"):
        identify(pendulum, nothing, collect(1), [])


@pytest.mark.parametrize("wrong", [{"window_s": 0.0}, {"windows": 0}, {"iterations": 0}])
def test_a_recipe_without_windows_is_refused(wrong: dict) -> None:
    with pytest.raises(GaplessError, match="identification needs window_s > 0"):
        Identify(**wrong)


def _parameter(simulator: MujocoSimulator, name: str) -> Parameter:
    return next(p for p in simulator.parameters if p.name == name)


def test_a_model_that_cannot_explain_the_logs_doubts_all_its_parameters(
    pendulum: MujocoSimulator, collect: Collect
) -> None:
    prior, logs = prior_belief(pendulum.parameters), collect(2)
    wrong = identify(pendulum, prior, logs, collect(1, first=9, motor_gain=1.0), Identify(doubt=0.2)).belief
    for name in prior.names:
        assert wrong.deviation()[name] >= 0.2 * abs(wrong.mean()[name])


def test_misfit_runs_from_a_chi_square_of_one_to_ten() -> None:
    assert misfit(0.9) == 0.0
    assert misfit(np.sqrt(10.0)) == pytest.approx(0.5)
    assert misfit(50.0) == 1.0
