"""Starts that are held beside free ones: where the physics does not explain the logs, held-out logs choose between them."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from gapless.core import Log, prior_belief
from gapless.learn import Identified, Identify, identify
from gapless.learn.held_out import prediction_errors
from gapless.simulators import MujocoSimulator

QUICK = Identify(method="least-squares", window_s=0.4, windows=16, starts=1, iterations=6, posterior="gaussian")


def fitted(cartpole: MujocoSimulator, logs: list[Log], held_out: list[Log], recipe: Identify) -> Identified:
    prior = prior_belief(p for p in cartpole.parameters if p.name in ("slider.damping", "motor.gain"))
    return identify(cartpole, prior, logs, held_out, recipe)


def test_held_starts_are_taken_where_they_predict_better(
    cartpole: MujocoSimulator, with_hills: Callable[..., MujocoSimulator], drive: Any
) -> None:
    hilly = with_hills("slider", 3.0, 8.0)
    logs, held_out = drive(hilly, 3, 0), drive(hilly, 2, 10)
    free, either = (fitted(cartpole, logs, held_out, r) for r in (replace(QUICK, anchored=None), QUICK))
    errors = [np.median(prediction_errors(cartpole, f.belief, held_out)) for f in (free, either)]
    assert either.method == "anchored" and errors[1] < errors[0]
    b = either.belief
    assert (np.sqrt(np.diag(b.covariance))[:2] > 0.02 * b.centre[:2]).all()  # the physics is wrong: no belief is narrow


def test_free_starts_stay_where_the_physics_explains_the_logs(cartpole: MujocoSimulator, drive: Any) -> None:
    found = fitted(cartpole, drive(cartpole, 2, 0), drive(cartpole, 1, 10), QUICK)
    assert found.method != "anchored"
