"""SimOpt: worlds that do what the robot did become likelier."""

import jax
import numpy as np
import pytest

from gapless.nets.policy import NetworkPolicy
from gapless.nets.settled import settled
from gapless.simulators import Rollout
from gapless.train import Place
from gapless.train.adapting import Means
from gapless.train.adapting.simopt import SimOpt, start_of
from gapless.train.adapting.spread import spread

WAY = SimOpt(episodes=3, samples=64)


def test_discrepancy_by_hand() -> None:
    real = {"a": np.array([[0.0], [2.0]])}
    seen = {"a": np.array([[[0.0], [1.0]], [[2.0], [3.0]]])}  # as it was, and one off
    spreads = np.std([0, 2, 0, 2, 1, 3])
    found = SimOpt(absolute=0.5, smooth_s=1e-9).discrepancy(seen, real, 0.02)
    assert found == pytest.approx([0.0, 0.5 / spreads + 1 / spreads**2])


def test_what_was_not_measured_says_nothing() -> None:
    real, seen = {"a": np.array([[0.0], [np.nan]])}, {"a": np.array([[[0.0]], [[2.0]]])}
    assert SimOpt(smooth_s=1e-9).discrepancy(seen, real, 0.02) == pytest.approx([0.0])


def test_the_distribution_finds_the_gain_of_the_robot(
    run_right: Place, told_gain: NetworkPolicy, means: Means, on_robot
) -> None:
    policy = settled(told_gain, {"motor.gain": np.float32(1.0)})
    (log,) = on_robot(1.6)(iter_once(policy)).logs
    rollout, over = Rollout(run_right.simulator.with_worlds(256), run_right.task), spread(*run_right[:2])
    assert start_of(rollout.simulator, log)["slider.position"].shape == (256, 1)
    before = over
    for key in jax.random.split(jax.random.key(0), 4):
        over = SimOpt(samples=256).nearer(rollout, over, policy, log, key)
    assert float(over.mean()["motor.gain"]) == pytest.approx(1.6, abs=0.2)
    assert float(over.deviation()["motor.gain"]) < 0.5 * float(before.deviation()["motor.gain"])


@pytest.mark.slow
def test_each_round_trains_on_and_the_same_logs_give_the_same_policies(
    run_right: Place, told_gain: NetworkPolicy, means: Means, on_robot
) -> None:
    first = WAY.prepared(run_right, means)
    made = on_robot(1.6)(WAY.tries(first, run_right, means))
    assert len(made.logs) == 3 and made.kept is made.tried[-1]
    again = on_robot(1.6)(WAY.tries(first, run_right, means))
    for a, b in zip(jax.tree.leaves(made.kept), jax.tree.leaves(again.kept), strict=True):
        assert np.array_equal(a, b)


def iter_once(policy):
    yield policy
    return policy
