"""A fit whose starts are held: a hidden truth is found, and a model that cannot be right does not run away."""

from collections.abc import Callable

import numpy as np
import pytest

from gapless.core import GaplessError, Log, prior_belief
from gapless.learn.anchored import Anchored, anchored
from gapless.simulators import MujocoSimulator

QUICK = Anchored(window_s=0.4, windows=30, iterations=8, share=0.002)


def test_anchored_fit_recovers_hidden_numbers(
    pendulum: MujocoSimulator, hidden: dict[str, float], collect: Callable[..., list[Log]]
) -> None:
    prior = prior_belief(p for p in pendulum.parameters if p.name in ("hinge.damping", "motor.gain", "command.latency"))
    found = anchored(pendulum, prior, collect(), QUICK).mean()
    assert float(found["motor.gain"]) == pytest.approx(hidden["motor.gain"], rel=0.03)
    assert float(found["hinge.damping"]) == pytest.approx(hidden["hinge.damping"], rel=0.15)
    assert float(found["command.latency"]) == pytest.approx(hidden["command.latency"], abs=0.002)


def test_anchored_belief_is_tighter_than_its_prior_and_inside_its_bounds(
    pendulum: MujocoSimulator, collect: Callable[..., list[Log]]
) -> None:
    prior = prior_belief(p for p in pendulum.parameters if p.name == "motor.gain")
    found = anchored(pendulum, prior, collect(1), QUICK)
    assert float(found.deviation()["motor.gain"]) < 0.3 * float(prior.deviation()["motor.gain"])
    assert np.all((found.centre >= prior.low) & (found.centre <= prior.high))


def test_anchored_fit_says_when_logs_are_too_short(
    pendulum: MujocoSimulator, collect: Callable[..., list[Log]]
) -> None:
    with pytest.raises(GaplessError, match="long enough"):
        anchored(pendulum, prior_belief(pendulum.parameters), collect(1, seconds=0.3), QUICK)
