"""A residual learned from motion alone: it finds a hidden force, and is refused where it does not predict better."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gapless.core import Chosen, Gaussian, Log, prior_belief
from gapless.learn import Identified, Identify, LearnResidual, identify, learn_residual, with_residual
from gapless.learn.held_out import compare, prediction_errors
from gapless.logs import Parted
from gapless.simulators import MujocoSimulator
from gapless.simulators.parts import MEMBER

QUICK = Identify(method="least-squares", window_s=0.4, windows=16, starts=1, iterations=4)
Hilly = Callable[[str, float, float], MujocoSimulator]
RECIPE = LearnResidual(members=2, rounds=1, windows=24, refit=QUICK)


@pytest.fixture
def hilly(with_hills: Hilly) -> MujocoSimulator:
    return with_hills("slider", 3.0, 8.0)


def identified(cartpole: MujocoSimulator, logs: list[Log], held_out: list[Log]) -> tuple[Gaussian, Identified]:
    prior = prior_belief(p for p in cartpole.parameters if p.name in ("slider.damping", "motor.gain"))
    return prior, identify(cartpole, prior, logs, held_out, QUICK)


def test_a_hidden_force_along_the_rail_is_found(cartpole: MujocoSimulator, hilly: MujocoSimulator, drive: Any) -> None:
    logs, held_out, unseen = drive(hilly, 3, 0), drive(hilly, 2, 10), drive(hilly, 1, 20)
    prior, found = identified(cartpole, logs, held_out)
    learnt = learn_residual(cartpole, prior, found, Parted(logs, held_out), RECIPE)
    assert learnt is not None
    whole = with_residual(cartpole, learnt.residual)
    belief = Chosen(learnt.identified.belief, MEMBER, learnt.residual.members)
    before, after = prediction_errors(cartpole, found.belief, unseen), prediction_errors(whole, belief, unseen)
    assert np.median(after) < np.median(before) / 3
    assert np.array_equal(learnt.identified.belief.covariance, found.belief.covariance)  # no surer than without it
    assert "place" in learnt.terms["slider.force"]


@pytest.mark.slow
def test_a_hidden_force_on_a_joint_that_nothing_drives_is_found(
    cartpole: MujocoSimulator, with_hills: Hilly, drive: Any
) -> None:
    uneven = with_hills("hinge", 0.1, 3.0)
    logs, held_out, unseen = drive(uneven, 3, 0), drive(uneven, 1, 10), drive(uneven, 1, 20)
    prior, found = identified(cartpole, logs, held_out)
    learnt = learn_residual(cartpole, prior, found, Parted(logs, held_out), RECIPE)
    assert learnt is not None
    assert [c.name for c in learnt.residual.corrections] == ["slider.force", "hinge.force"]
    belief = Chosen(learnt.identified.belief, MEMBER, learnt.residual.members)
    after = prediction_errors(with_residual(cartpole, learnt.residual), belief, unseen)
    assert np.median(after) < np.median(prediction_errors(cartpole, found.belief, unseen)) / 2


def test_nothing_is_learned_where_the_physics_explains_the_logs(cartpole: MujocoSimulator, drive: Any) -> None:
    logs, held_out = drive(cartpole, 2, 0), drive(cartpole, 1, 10)
    prior, found = identified(cartpole, logs, held_out)
    assert learn_residual(cartpole, prior, found, Parted(logs, held_out), RECIPE) is None


@pytest.mark.slow
def test_what_held_out_logs_do_not_confirm_is_refused(
    cartpole: MujocoSimulator, hilly: MujocoSimulator, drive: Any
) -> None:
    logs, held_out = drive(hilly, 2, 0), drive(cartpole, 1, 10)
    prior, found = identified(cartpole, logs, drive(hilly, 1, 10))
    assert learn_residual(cartpole, prior, found, Parted(logs, held_out), RECIPE) is None


def test_a_comparison_calls_noise_no_improvement() -> None:
    rng = np.random.default_rng(0)
    before = rng.uniform(0.5, 1.5, 40)
    assert compare(before, 0.5 * before).better
    assert not compare(before, rng.permutation(before)).better
