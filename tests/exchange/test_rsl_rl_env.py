"""rsl_rl trains in practice worlds, with a critic that sees more than the policy; docs/envs.md says how to install it."""

import copy
import warnings
from pathlib import Path
from typing import Any

import jax
import numpy as np
import onnx
import pytest

from gapless.core import Simulator, Task, Uniform
from gapless.exchange import Practice, bring_home, rsl_rl_env
from gapless.simulators import JaxCartpole

pytestmark = [pytest.mark.interop, pytest.mark.filterwarnings("ignore::DeprecationWarning")]
PPO: dict[str, Any] = {
    "num_steps_per_env": 16,
    "save_interval": 1000,
    "obs_groups": {"actor": ["policy"], "critic": ["critic"]},
    "actor": {
        "class_name": "MLPModel", "hidden_dims": [32, 32], "obs_normalization": True,
        "distribution_cfg": {"class_name": "GaussianDistribution", "init_std": 0.5},
    },
    "critic": {"class_name": "MLPModel", "hidden_dims": [32, 32], "obs_normalization": True},
    "algorithm": {"class_name": "PPO", "learning_rate": 3e-3, "entropy_coef": 0.0, "desired_kl": 0.05},
}  # fmt: skip


@pytest.fixture(autouse=True)
def torch():
    pytest.importorskip("rsl_rl", reason="rsl_rl is not installed; see docs/envs.md")
    found = pytest.importorskip("torch")
    found.manual_seed(0)
    return found


def test_groups_ages_and_ends_are_what_rsl_rl_asks_for(
    torch, traced_cartpole: JaxCartpole, quiet: Uniform, mirror: Task
) -> None:
    from rsl_rl.env import VecEnv

    env = rsl_rl_env(traced_cartpole, quiet, mirror, Practice(worlds=2))
    assert isinstance(env, VecEnv)
    assert (env.num_envs, env.num_actions, env.max_episode_length) == (2, 1, 8)
    seen = env.get_observations()
    assert seen["policy"].shape == (2, 6) and seen["critic"].shape == (2, 13)
    assert torch.equal(seen["critic"][:, :6], seen["policy"])
    env.episode_length_buf = torch.tensor([0, 6])
    # The first cart is driven off to the right, where the task ends the episode; the clock ends the other one after two steps.
    ends = []
    for _ in range(8):
        seen, reward, done, extras = env.step(torch.tensor([[1.0], [0.0]]))
        assert (reward.shape, done.dtype, extras["time_outs"].dtype) == ((2,), torch.long, torch.bool)
        ends.append((done.tolist(), extras["time_outs"].tolist()))
    assert ends[1] == ([0, 1], [False, True])
    assert ([1, 0], [False, False]) in ends
    assert env.episode_length_buf[1] == 6


def test_its_runner_learns_what_pays(torch, either_kind: Simulator, quiet: Uniform, mirror: Task) -> None:
    from rsl_rl.runners import OnPolicyRunner

    env = rsl_rl_env(either_kind, quiet, mirror, Practice(worlds=32, explore=False))
    runner = OnPolicyRunner(env, copy.deepcopy(PPO), log_dir=None, device="cpu")
    before = earned(torch, runner, env)
    runner.learn(40, init_at_random_ep_len=True)
    # 8 periods of 0.02 s with full volts of the right sign would pay 0.16.
    assert abs(before) < 0.05
    assert earned(torch, runner, env) > 0.12


def earned(torch, runner, env) -> float:
    """The mean return of all episodes over five of their lengths."""
    act, rewards, ends = runner.get_inference_policy(), [], 0
    env.episode_length_buf = torch.zeros(env.num_envs, dtype=torch.long)
    with torch.inference_mode():
        for _ in range(5 * env.max_episode_length):
            _, reward, done, _ = env.step(act(env.get_observations()))
            rewards.append(reward.numpy())
            ends += int(done.sum())
    return float(np.sum(rewards)) / ends


def test_its_export_comes_home(
    torch, traced_cartpole: JaxCartpole, quiet: Uniform, mirror: Task, tmp_path: Path
) -> None:
    pytest.importorskip("onnxscript", reason="torch writes ONNX with onnxscript; see docs/envs.md")
    from rsl_rl.runners import OnPolicyRunner

    interface, file = traced_cartpole.interface, tmp_path / "network.onnx"
    env = rsl_rl_env(traced_cartpole, quiet, mirror, Practice(worlds=1, explore=False))
    runner = OnPolicyRunner(env, copy.deepcopy(PPO), log_dir=None, device="cpu")
    runner.learn(1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        runner.export_policy_to_onnx(str(tmp_path), file.name)
    onnx.save(onnx.load(file), file)  # torch puts the weights into another file
    home = bring_home(file, tmp_path / "policy.onnx", interface, mirror.observe)
    env = rsl_rl_env(traced_cartpole, quiet, mirror, Practice(worlds=1, explore=False), seed=1)
    with torch.inference_mode():
        there = runner.get_inference_policy()(env.get_observations())
    angle = env.worlds.begin(np.random.default_rng(1)).privileged["hinge.position"][0]
    key = jax.random.key(0)
    seen = {"pole.angle": angle, "cart.position": np.zeros(1)}
    _, command = home.step({}, home.init(key), seen, 0.0, key)
    assert abs(float(there[0, 0])) > 1e-3
    assert command["motor"] == pytest.approx(10 * np.clip(float(there[0, 0]), -1, 1), abs=1e-4)
