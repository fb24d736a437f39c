"""stable-baselines3 trains in practice worlds, and its policy comes home; docs/envs.md says how to install it."""

import numpy as np
import pytest

from gapless.core import GaplessError, Simulator, Task, Uniform
from gapless.exchange import Practice, sb3_env
from gapless.simulators import JaxCartpole

pytestmark = pytest.mark.interop
FOUR = Practice(worlds=4, explore=False)


@pytest.fixture(autouse=True)
def sb3():
    return pytest.importorskip("stable_baselines3", reason="stable-baselines3 is not installed; see docs/envs.md")


def test_ended_worlds_tell_their_last_observation_and_whether_it_was_the_clock(
    traced_cartpole: JaxCartpole, quiet: Uniform, mirror: Task
) -> None:
    env = sb3_env(traced_cartpole, quiet, mirror, Practice(worlds=2))
    env.seed(3)
    first, ends = env.reset(), []
    # The first cart is driven off to the right, where the task ends the episode; the other one stays until the clock does.
    for _ in range(8):
        seen, _, done, told = env.step(np.array([[1.0], [0.1]], np.float32))
        ends.append([t.get("TimeLimit.truncated") for t in told])
        assert np.allclose([t["terminal_observation"][-2] for t in told if t], np.array([10.0, 1.0])[done])
        assert np.allclose(seen[done, -2], 0.0)
    assert {k for k, _ in ends} == {None, False}
    assert [k for _, k in ends] == [None] * 7 + [True]
    env.seed(3)
    assert np.array_equal(env.reset(), first)


def test_worlds_are_one_simulator_and_cannot_be_changed_one_by_one(
    traced_cartpole: JaxCartpole, quiet: Uniform, mirror: Task
) -> None:
    env = sb3_env(traced_cartpole, quiet, mirror, FOUR)
    assert env.get_attr("num_envs", [0, 2]) == [4, 4]
    with pytest.raises(GaplessError, match="'mass' cannot be set world by world"):
        env.set_attr("mass", 1.0)
    with pytest.raises(GaplessError, match="'shake' cannot be called world by world"):
        env.env_method("shake")


def test_ppo_of_stable_baselines3_learns_what_pays(either_kind: Simulator, quiet: Uniform, mirror: Task) -> None:
    from stable_baselines3 import PPO
    from stable_baselines3.common.evaluation import evaluate_policy
    from stable_baselines3.common.vec_env import VecMonitor, VecNormalize

    env = VecNormalize(VecMonitor(sb3_env(either_kind, quiet, mirror, Practice(worlds=16, explore=False))))
    model = PPO("MlpPolicy", env, n_steps=32, batch_size=128, learning_rate=3e-3, seed=0, device="cpu")
    before, _ = evaluate_policy(model, env, n_eval_episodes=32)
    model.learn(16 * 32 * 20)
    after, _ = evaluate_policy(model, env, n_eval_episodes=32)
    # 8 periods of 0.02 s with full volts of the right sign would pay 0.16.
    assert abs(before) < 0.05
    assert after > 0.12
