"""Stable-baselines3's PPO and SAC on the same worlds, task and observation as ours, with the settings that serve it best."""

from typing import Any

import jax
import numpy as np
import torch
from gymnasium import spaces
from stable_baselines3 import PPO, SAC
from stable_baselines3.common.vec_env import VecEnv, VecNormalize

from gapless.core import Simulator, Task

SETTINGS: dict[str, Any] = {
    "n_steps": 64, "batch_size": 512, "n_epochs": 10, "learning_rate": 1e-3, "gamma": 0.975, "gae_lambda": 0.95,
    "clip_range": 0.2, "ent_coef": 0.0,
}  # fmt: skip
WORLDS, HIDDEN, THREADS, LOG_NOISE = 32, (64, 64), 1, -0.36
SAC_WORLDS = 4
SAC_SETTINGS: dict[str, Any] = {
    "learning_rate": 1e-3, "batch_size": 256, "gamma": 0.985, "tau": 0.01, "learning_starts": 2000, "train_freq": 4,
    "gradient_steps": 4, "buffer_size": 200_000, "ent_coef": "auto_0.005",
}  # fmt: skip
"""Rewards are small, being paid per period: from its own first temperature, 1, it would spend most of a run cooling down."""
POOL = 2**14
"""Starts drawn beforehand: drawing them one call at a time would slow the peer down."""


class Worlds(VecEnv):
    """n worlds of one simulator, stepped at once; an action of ±1 is the command's limit."""

    def __init__(self, simulator: Simulator, params: dict[str, float], task: Task, seed: int) -> None:
        self.simulator, self.task, self.params = simulator, task, params
        interface, observe, n = simulator.interface, task.observe, simulator.worlds
        sees = spaces.Box(-np.inf, np.inf, (observe.width(interface),), np.float32)
        self.render_mode = None
        super().__init__(n, sees, spaces.Box(-1, 1, (interface.command_width,), np.float32))
        self._random, (self._command,) = np.random.default_rng(seed), interface.commands
        self._pool = {k: np.asarray(v) for k, v in task.explore(jax.random.key(seed), POOL).items()}
        self.horizon = round(task.seconds / interface.period_s)
        self._frames = {
            k: np.zeros((n, observe.memory, w), np.float32) for k, w in interface.measurement_widths.items()
        }
        self._sent = np.zeros((n, observe.commands, interface.command_width), np.float32)
        features = jax.vmap(lambda frames, sent: observe.features_of(frames, sent, interface.period_s))
        self._observe = jax.jit(features)
        # One compiled call per step, as in our own loop.
        self._judge = jax.jit(
            lambda frames, sent, before, command, seen: (
                features(frames, sent), task.reward(before, command, seen) * interface.period_s, task.finished(seen)
            )
        )  # fmt: skip
        self._state = simulator.init()

    def reset(self) -> np.ndarray:
        # Episodes begin at staggered ages, as ours do.
        self._age = self._random.integers(0, self.horizon, self.num_envs)
        return self.begin(np.ones(self.num_envs, bool), self._drawn())

    def begin(self, where: np.ndarray, start: dict[str, np.ndarray]) -> np.ndarray:
        """The given worlds at their start; what is observed then."""
        self._state, self._seen, _ = self.simulator.reset(self._state, where, self.params, start, self._key())
        for name, past in self._frames.items():
            past[where] = self._seen[name][where, None]
        self._sent[where] = 0
        return np.array(self._observe(self._frames, self._sent))

    def advance(self, actions: np.ndarray) -> tuple[np.ndarray, ...]:
        """One period, nothing restarted: observation, reward, whether finished."""
        command = {self._command.name: np.asarray(actions * self._command.high, np.float32)}
        before = self._seen
        self._state, self._seen, _ = self.simulator.step(self._state, command, self._key())
        for past, newest in [(self._frames[k], self._seen[k]) for k in self._frames] + [
            (self._sent, *command.values())
        ]:
            past[:, 1:] = past[:, :-1]
            past[:, 0] = newest
        return tuple(np.array(v) for v in self._judge(self._frames, self._sent, before, command, self._seen))

    def step_async(self, actions: np.ndarray) -> None:
        self._actions = actions

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict]]:
        observation, reward, finished = self.advance(self._actions)
        self._age += 1
        late = self._age >= self.horizon
        ended, told = finished | late, [{} for _ in range(self.num_envs)]
        if ended.any():
            for k in np.flatnonzero(ended):
                told[k] = {"terminal_observation": observation[k], "TimeLimit.truncated": bool(late[k] & ~finished[k])}
            observation = self.begin(ended, self._drawn())
            self._age[ended] = 0
        return observation, reward, ended, told

    def _drawn(self) -> dict[str, np.ndarray]:
        rows = self._random.integers(0, POOL, self.num_envs)
        return {k: v[rows] for k, v in self._pool.items()}

    def _key(self) -> np.ndarray:
        return self._random.integers(0, 2**32, 2, np.uint32)

    def close(self) -> None:
        """Nothing is open."""

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        return [getattr(self, attr_name)] * self.num_envs

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        setattr(self, attr_name, value)

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> list[Any]:
        raise NotImplementedError(method_name)

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        return [False] * self.num_envs


class Peer:
    """One training of stable-baselines3: by PPO, or else by SAC."""

    def __init__(self, worlds: Worlds, seed: int, algorithm: type[PPO] | type[SAC] = PPO) -> None:
        torch.set_num_threads(THREADS)
        self._envs = VecNormalize(worlds, norm_reward=False)
        network: dict[str, Any] = {"net_arch": list(HIDDEN)}
        if algorithm is PPO:
            network["log_std_init"] = LOG_NOISE
        settings = SETTINGS if algorithm is PPO else SAC_SETTINGS
        self._model = algorithm("MlpPolicy", self._envs, seed=seed, device="cpu", policy_kwargs=network, **settings)

    @property
    def steps_done(self) -> int:
        return self._model.num_timesteps

    def iterate(self, steps: int) -> None:
        """Collect and learn until at least this many more control periods are done."""
        self._model.learn(steps, reset_num_timesteps=False)

    def mean_return(self, looks: Worlds, starts: dict[str, np.ndarray]) -> float:
        """Without exploration, from the given starts."""
        alive, total = np.ones(looks.num_envs, bool), np.zeros(looks.num_envs)
        seen = looks.begin(alive, starts)
        for _ in range(looks.horizon):
            actions, _ = self._model.predict(self._envs.normalize_obs(seen), deterministic=True)
            seen, reward, finished = looks.advance(actions)
            total += reward * alive
            alive = alive & ~finished
        return float(total.mean())
