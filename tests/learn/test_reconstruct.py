"""An episode reconstructed from its log: the start and the robot that made it, within the doubt that is claimed."""

from collections.abc import Callable

import numpy as np
import pytest

from gapless.core import GaplessError, Gaussian, Log, Signals, prior_belief
from gapless.learn import Identify
from gapless.learn.reconstruct import reconstruct, without_noise
from gapless.logs import piece
from gapless.simulators import MujocoSimulator

TRUTH = {"motor.gain": 0.8, "hinge.damping": 0.05, "command.latency": 0.03, "hinge.position.noise": 1e-3}
START = {"hinge.position": np.array([[0.7]]), "hinge.velocity": np.array([[-1.5]])}
RECIPE = Identify(windows=20, iterations=8, starts=1)


@pytest.fixture
def happened(pendulum: MujocoSimulator, simulate: Callable[..., Log], lively_commands: Callable[..., Signals]) -> Log:
    params = {k: np.full(1, v) for k, v in TRUTH.items()}
    return simulate(pendulum, params, lively_commands(pendulum.interface, 200), START)


def test_the_start_is_found_within_its_doubt(pendulum: MujocoSimulator, happened: Log) -> None:
    found = reconstruct(pendulum, prior_belief(pendulum.parameters), happened, RECIPE, 0)
    for name, true in (("hinge.position", 0.7), ("hinge.velocity", -1.5)):
        low, high = found.start[name]
        assert abs((low + high) / 2 - true) < 1.5 * (high - low)
        assert high - low < 0.2


def test_the_robot_is_the_one_that_the_log_speaks_of(pendulum: MujocoSimulator, happened: Log) -> None:
    found = reconstruct(pendulum, prior_belief(pendulum.parameters), happened, RECIPE, 0)
    mean, deviation = found.belief.mean(), found.belief.deviation()
    for name in ("motor.gain", "hinge.damping", "command.latency"):
        assert abs(float(mean[name]) - TRUTH[name]) < 4 * float(deviation[name])
    assert float(deviation["motor.gain"]) < 0.1
    assert found.chi_square == pytest.approx(1.0, abs=0.5)


def test_a_short_log_tells_its_start_and_leaves_the_robot_as_it_was_believed(
    pendulum: MujocoSimulator, happened: Log
) -> None:
    prior = prior_belief(pendulum.parameters)
    found = reconstruct(pendulum, prior, piece(happened, -np.inf, 0.5), RECIPE, 0)
    assert found.belief.names == prior.names and np.array_equal(found.belief.centre, prior.centre)
    assert found.chi_square is None
    low, high = found.start["hinge.position"]
    assert abs((low + high) / 2 - 0.7) < high - low < 0.3  # many robots are possible, and so are many starts


def test_a_log_that_is_over_at_once_is_refused(pendulum: MujocoSimulator, happened: Log) -> None:
    with pytest.raises(GaplessError, match="too early to say where it started"):
        reconstruct(pendulum, prior_belief(pendulum.parameters), piece(happened, -np.inf, 0.1), RECIPE, 0)


def test_noise_is_read_off_the_log_and_not_believed() -> None:
    whole = Gaussian(("a", "x.noise", "b"), np.arange(3.0), np.diag([1.0, 2.0, 3.0]), np.zeros(3), np.ones(3) * 9)
    kept = without_noise(whole)
    assert kept.names == ("a", "b") and kept.centre.tolist() == [0.0, 2.0]
    assert np.diag(kept.covariance).tolist() == [1.0, 3.0]
