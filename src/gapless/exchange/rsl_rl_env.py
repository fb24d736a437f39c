"""Practice worlds as rsl_rl's vector environment: tensors, observations by group, and which ends were only the clock's."""

from dataclasses import asdict
from typing import Any

import numpy as np
import torch  # pyright: ignore[reportMissingImports]
from rsl_rl.env import VecEnv  # pyright: ignore[reportMissingImports]
from tensordict import TensorDict  # pyright: ignore[reportMissingImports]

from .practice import Sight, Worlds


class PracticeRslRlEnv(VecEnv):
    """Groups of observations: `policy` is what the robot can see, `critic` also what only a simulator knows."""

    def __init__(self, worlds: Worlds, device: str, seed: int) -> None:
        self.worlds, self.device = worlds, device
        self.num_envs, self.num_actions = worlds.practice.worlds, worlds.command_width
        self.max_episode_length = worlds.horizon
        self.cfg = {"task": worlds.task.name, "robot": worlds.simulator.interface.robot, **asdict(worlds.practice)}
        self._seen = self._grouped(worlds.begin(np.random.default_rng(seed)))

    @property
    def episode_length_buf(self) -> torch.Tensor:
        """Periods since each episode began."""
        return self._tensor(self.worlds.age)

    @episode_length_buf.setter
    def episode_length_buf(self, ages: torch.Tensor) -> None:
        # The runner sets random ages before it begins, so that episodes do not end all at once.
        self.worlds.age[:] = ages.cpu().numpy()

    def get_observations(self) -> TensorDict:
        return self._seen

    def step(self, actions: torch.Tensor) -> tuple[TensorDict, torch.Tensor, torch.Tensor, dict[str, Any]]:
        turn = self.worlds.step(actions.detach().cpu().numpy())
        sight = self.worlds.restart(turn.ended) if turn.ended.any() else turn.sight
        self._seen = self._grouped(sight)
        ended = self._tensor(turn.ended).long()
        return self._seen, self._tensor(turn.reward), ended, {"time_outs": self._tensor(turn.timed_out)}

    def _grouped(self, sight: Sight) -> TensorDict:
        groups = {"policy": self._tensor(sight.observation), "critic": self._tensor(sight.known())}
        return TensorDict(groups, batch_size=[self.num_envs], device=self.device)

    def _tensor(self, values: np.ndarray) -> torch.Tensor:
        return torch.tensor(values, device=self.device)
