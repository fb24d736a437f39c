"""Identification to trust: its windows, its beginnings, what it cannot tell, when it is refused, and its shape."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from gapless.core import Log, nominal_belief, prior_belief
from gapless.learn.divergence import window_length
from gapless.learn.identify import Identify, bounds_of, identify
from gapless.learn.least_squares import Bounds, Fit, Problem, fit, told_of_starts
from gapless.learn.noise import sensor_noise
from gapless.learn.shooting import Shooting, Slopes
from gapless.learn.tempering import Likelihood, Temper, bend, temper
from gapless.learn.untold import untold
from gapless.learn.windows import cut, per_query
from gapless.simulators import MujocoSimulator

Collect = Callable[..., list[Log]]


def test_a_simulator_that_is_right_earns_longer_windows(
    pendulum: MujocoSimulator, collect: Collect, hidden: dict[str, float]
) -> None:
    logs, true = collect(3), {**nominal_belief(pendulum.parameters).mean(), **hidden}
    wrong, right = (window_length(pendulum, logs, p, 1.0) for p in ({**true, "motor.gain": 4.0}, true))
    assert wrong is not None and right is not None
    assert right > wrong


def test_logs_too_short_for_any_window_have_no_length(pendulum: MujocoSimulator, collect: Collect) -> None:
    log = collect(1)[0]
    few = {k: v[:4] for k, v in log.measurement_time.items()}
    short = Log(
        log.interface, {k: v[:4] for k, v in log.commands.items()}, {k: v[:4] for k, v in log.measurements.items()},
        log.command_time[:4], few,
    )  # fmt: skip
    assert window_length(pendulum, [short], nominal_belief(pendulum.parameters).mean(), 1.0) is None


def test_a_combination_that_leaves_no_trace_is_named() -> None:
    visible = np.array([1.0, -1.0]) / np.sqrt(2)
    information = 1e4 * np.outer(visible, visible) + np.eye(2)
    found = untold(("pole.mass", "motor.gain"), information, np.ones(2))
    assert found.parameters == ()
    assert {n for n, _ in found.combinations[0]} == {"pole.mass", "motor.gain"}
    assert found.combinations[0][1][1] == pytest.approx(1.0, abs=0.01)
    assert "pole.mass and motor.gain can only be told together" in found.sentence()


def test_a_parameter_that_idle_logs_do_not_tell_is_named(pendulum: MujocoSimulator, collect: Collect) -> None:
    prior = prior_belief(pendulum.parameters)
    idle, lively = (identify(pendulum, prior, collect(2, idle=still), []) for still in (True, False))
    assert set(idle.untold.parameters) | {n for c in idle.untold.combinations for n, _ in c} == set(prior.names)
    assert lively.untold.sentence() == ""


def test_a_fit_that_predicts_held_out_logs_worse_than_the_prior_is_refused(
    pendulum: MujocoSimulator, collect: Collect
) -> None:
    nominal = {p.name: p.nominal for p in pendulum.parameters if p.free}
    prior = prior_belief(pendulum.parameters)
    found = identify(
        pendulum, prior, collect(2), collect(2, first=9, **{k.replace(".", "_"): v for k, v in nominal.items()})
    )
    assert "worse than the prior" in found.refused
    assert np.array_equal(found.belief.centre[: len(prior.names)], prior.centre)


def test_seeds_agree_within_what_they_state(pendulum: MujocoSimulator, collect: Collect) -> None:
    logs, prior = collect(3), prior_belief(pendulum.parameters)
    one, other = (identify(pendulum, prior, logs, [], seed=s).belief for s in (0, 1))
    again = identify(pendulum, prior, logs, [], seed=0).belief
    assert np.array_equal(one.centre, again.centre)
    assert (np.abs(one.centre - other.centre) < np.sqrt(np.diag(one.covariance))).all()


def test_a_start_that_leaves_no_trace_does_not_run_away() -> None:
    slopes = np.random.default_rng(0).standard_normal((3, 40, 2)) * 1e3
    slopes[:, :, 1] *= 1e-9  # a speed that dry friction has swallowed
    step = np.linalg.solve(told_of_starts(slopes), np.einsum("wqs,wq->ws", slopes, np.ones((3, 40)))[..., None])
    assert np.abs(step).max() < 0.1


def _likelihood(pendulum: MujocoSimulator, logs: list[Log]) -> tuple[Likelihood, Fit, Bounds]:
    prior, windows = prior_belief(pendulum.parameters), cut(pendulum, logs, 0.4)
    assert windows is not None
    level, bounds = per_query(windows, sensor_noise(logs)), bounds_of(prior)
    shooting = Shooting(pendulum, windows, prior.names, nominal_belief(pendulum.parameters).mean())
    problem = Problem(shooting, bounds, level)
    found = fit(problem, bounds.centre)
    return Likelihood(problem, found, 1.0), found, bounds


def test_particles_of_a_gaussian_posterior_are_that_gaussian(pendulum: MujocoSimulator, collect: Collect) -> None:
    likelihood, found, _ = _likelihood(pendulum, collect(2))
    covariance = np.linalg.inv(found.information)
    assert bend(likelihood, covariance) < 2
    cloud = temper(likelihood, covariance, Temper(particles=64), seed=0)
    assert cloud is not None
    deviation = np.sqrt(np.diag(covariance))
    assert (np.abs(cloud.mean(axis=0) - found.params) < 0.6 * deviation).all()
    assert (np.abs(np.log(cloud.std(axis=0) / deviation)) < 0.5).all()


NO_SLOPES = Slopes(np.zeros((0, 0)), np.zeros((0, 0, 2)), np.zeros((0, 0, 0)))


class Banana(Likelihood):
    """A posterior on a bend: the second parameter is half the square of the first."""

    def __init__(self, bounds: Bounds) -> None:
        self.bounds = bounds
        self.found = Fit(np.zeros(2), np.zeros((0, 0)), np.eye(2), 1.0, 1, np.zeros(0), NO_SLOPES)
        self.least, self.scale = 0.0, 1.0

    def of(self, params: np.ndarray) -> np.ndarray:
        return params[:, 0] ** 2 + ((params[:, 1] - 0.5 * params[:, 0] ** 2) / 0.2) ** 2


def test_particles_follow_a_posterior_that_bends() -> None:
    bounds = Bounds(np.zeros(2), np.ones(2), np.full(2, -9.0), np.full(2, 9.0))
    likelihood, covariance = Banana(bounds), np.diag([1.0, 0.04])
    assert bend(likelihood, covariance) > 2
    cloud = temper(likelihood, covariance, Temper(particles=400, moves=10), seed=0)
    assert cloud is not None
    assert cloud[:, 1].mean() == pytest.approx(0.5, abs=0.15)
    assert np.corrcoef(cloud[:, 0] ** 2, cloud[:, 1])[0, 1] > 0.9


def test_a_belief_of_particles_comes_with_its_first_moments(pendulum: MujocoSimulator, collect: Collect) -> None:
    recipe = replace(Identify(posterior="particles", windows=20), temper=Temper(particles=24, moves=1, steps=4))
    found = identify(pendulum, prior_belief(pendulum.parameters), collect(2), [], recipe)
    assert found.particles is not None
    for name, mean in found.particles.mean().items():
        assert mean == pytest.approx(float(found.belief.mean()[name]), rel=0.2)


class Needle(Banana):
    """A posterior far narrower than the Gaussian it is sought from."""

    def of(self, params: np.ndarray) -> np.ndarray:
        return 1e12 * (params**2).sum(axis=1)


def test_particles_that_die_out_are_none() -> None:
    bounds = Bounds(np.zeros(2), np.ones(2), np.full(2, -9.0), np.full(2, 9.0))
    assert temper(Needle(bounds), np.eye(2), Temper(particles=32, moves=1, steps=3), seed=0) is None
