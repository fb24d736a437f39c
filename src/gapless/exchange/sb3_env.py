"""Practice worlds as stable-baselines3's own kind of vector environment, which is not Gymnasium's."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.spaces import Box  # pyright: ignore[reportMissingImports]
from stable_baselines3.common.vec_env import VecEnv  # pyright: ignore[reportMissingImports]

from gapless.core import GaplessError

from .practice import Sight, Worlds


class PracticeVecEnv(VecEnv):
    """Worlds that end begin anew in the same step; their last observation is `terminal_observation`, as SB3 wants it."""

    render_mode = None
    sight: Sight
    """The newest sight of all worlds, privileged signals and params included."""

    def __init__(self, worlds: Worlds) -> None:
        self.worlds = worlds
        seen = Box(-np.inf, np.inf, (worlds.observation_width,), np.float32)
        super().__init__(worlds.practice.worlds, seen, Box(-1.0, 1.0, (worlds.command_width,), np.float32))
        self._noise = np.random.default_rng()
        self._sent = np.zeros((self.num_envs, worlds.command_width), np.float32)

    def reset(self) -> np.ndarray:
        if self._seeds[0] is not None:
            self._noise = np.random.default_rng(self._seeds[0])
        self._reset_seeds()
        self._reset_options()
        self.sight = self.worlds.begin(self._noise)
        return self.sight.observation

    def step_async(self, actions: np.ndarray) -> None:
        self._sent = actions

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        turn = self.worlds.step(self._sent)
        self.sight = turn.sight
        told: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for k in np.flatnonzero(turn.ended):
            told[k] = {
                "terminal_observation": turn.sight.observation[k],
                "TimeLimit.truncated": bool(turn.timed_out[k]),
                "params": {name: float(v[k]) for name, v in turn.sight.params.items()},
            }
        if turn.ended.any():
            self.sight = self.worlds.restart(turn.ended)
        return self.sight.observation, turn.reward, turn.ended, told

    def close(self) -> None: ...

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        return [getattr(self, attr_name) for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        raise GaplessError(
            f"{attr_name!r} cannot be set world by world: all worlds are one simulator. Make new worlds."
        )

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **options: Any) -> list[Any]:
        raise GaplessError(f"{method_name!r} cannot be called world by world: all worlds are one simulator.")

    def env_is_wrapped(self, wrapper_class: type, indices: Any = None) -> Sequence[bool]:  # type: ignore[override]
        return [False for _ in self._get_indices(indices)]
