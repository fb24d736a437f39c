"""stable-baselines3 trains in practice worlds, and its policy comes home; docs/envs.md says how to install it."""

import warnings
from pathlib import Path

import jax
import numpy as np
import pytest

from gapless.core import GaplessError, Params, Signals, Simulator, Task, Uniform
from gapless.exchange import OnnxPolicy, Practice, bring_home, sb3_env
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


def test_its_policy_comes_home_and_commands_what_it_commanded_there(
    traced_cartpole: JaxCartpole, quiet: Uniform, mirror: Task, tmp_path: Path
) -> None:
    torch = pytest.importorskip("torch")
    pytest.importorskip("onnxscript", reason="torch writes ONNX with onnxscript; see docs/envs.md")
    from stable_baselines3 import PPO
    from stable_baselines3.common.vec_env import VecNormalize

    worlds = sb3_env(traced_cartpole, quiet, mirror, Practice(worlds=1, explore=False))
    env = VecNormalize(worlds)
    model = PPO("MlpPolicy", env, n_steps=64, batch_size=64, seed=0, device="cpu").learn(256)
    env.training = False  # from here on its statistics stay as they are
    network = network_of(torch, model, env).eval()
    seen = torch.zeros(1, mirror.observe.width(traced_cartpole.interface))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(network, (seen,), tmp_path / "network.onnx", dynamo=True, external_data=False, verbose=False)
    home = bring_home(tmp_path / "network.onnx", tmp_path / "policy.onnx", traced_cartpole.interface, mirror.observe)

    observation, there = env.reset(), []
    start, params = worlds.sight.privileged, worlds.sight.params
    for _ in range(8):
        command, _ = model.predict(observation, deterministic=True)
        there.append(10 * float(command[0, 0]))
        observation, _, done, _ = env.step(command)
    assert done
    assert np.ptp(there) > 0.1
    assert np.allclose(commanded(traced_cartpole, home, (start, params)), there, atol=1e-3)


def network_of(torch, model, normal):
    """Observation → command in ±1, with the normalisation of VecNormalize inside."""

    class Normalised(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.policy = model.policy
            rms = normal.obs_rms
            self.register_buffer("mean", torch.tensor(rms.mean, dtype=torch.float32))
            self.register_buffer("deviation", torch.tensor(np.sqrt(rms.var + normal.epsilon), dtype=torch.float32))

        def forward(self, seen):
            seen = ((seen - self.mean) / self.deviation).clamp(-normal.clip_obs, normal.clip_obs)
            return self.policy.action_net(self.policy.mlp_extractor.forward_actor(seen))

    return Normalised()


def commanded(simulator: Simulator, policy: OnnxPolicy, begun: tuple[Signals, Params]) -> list[float]:
    """The volts of one episode in one world."""
    key, one, volts = jax.random.key(0), simulator.with_worlds(1), []
    plain = key if one.traceable else np.zeros(2, np.uint32)
    state, seen, _ = one.reset(one.init(), np.ones(1, bool), begun[1], begun[0], plain)
    memory = policy.init(key)
    for _ in range(8):
        memory, command = policy.step({}, memory, {k: np.asarray(v)[0] for k, v in seen.items()}, 0.0, key)
        volts.append(float(command["motor"][0]))
        state, seen, _ = one.step(state, {k: v[None] for k, v in command.items()}, plain)
    return volts
