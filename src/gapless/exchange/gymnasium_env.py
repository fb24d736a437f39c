"""Practice worlds as a Gymnasium vector environment. Needs the extra `gymnasium`."""

from typing import Any

import numpy as np
from gymnasium.spaces import Box  # pyright: ignore[reportMissingImports]
from gymnasium.vector import AutoresetMode, VectorEnv  # pyright: ignore[reportMissingImports]
from gymnasium.vector.utils import batch_space  # pyright: ignore[reportMissingImports]

from gapless.core import GaplessError

from .practice import Sight, Turn, Worlds


class PracticeVectorEnv(VectorEnv):
    """Actions are commands in ±1. Episodes that the task finished are terminated, those out of time truncated."""

    def __init__(self, worlds: Worlds, autoreset: str = AutoresetMode.SAME_STEP.value) -> None:
        self.worlds, self.num_envs, self._mode = worlds, worlds.practice.worlds, AutoresetMode(autoreset)
        self.metadata = {"autoreset_mode": self._mode, "render_modes": []}
        self.single_observation_space = Box(-np.inf, np.inf, (worlds.observation_width,), np.float32)
        self.single_action_space = Box(-1.0, 1.0, (worlds.command_width,), np.float32)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._ended, self._earned = np.zeros(self.num_envs, bool), np.zeros(self.num_envs)
        self._sight: Sight | None = None

    @property
    def state_space(self) -> Box:
        """The space of `state`, one world at a time; skrl builds its critic for it."""
        return Box(-np.inf, np.inf, (self.state().shape[1],), np.float32)

    def state(self) -> np.ndarray:
        """What a critic may see: the observation, the privileged signals and the params, (world, known)."""
        if self._sight is None:
            self.reset()
        assert self._sight is not None
        return self._sight.known()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """All worlds anew, or those in `options["reset_mask"]`."""
        super().reset(seed=seed)
        mask = (options or {}).get("reset_mask")
        if mask is None or self._sight is None:
            mask = np.ones(self.num_envs, bool)
            self._sight = self.worlds.begin(self.np_random)
        else:
            mask = _mask(mask, self.num_envs)
            self._sight = self.worlds.restart(mask)
        self._ended, self._earned = self._ended & ~mask, np.where(mask, 0.0, self._earned)
        return self._sight.observation, _told(self._sight, mask)

    def step(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """What came of the commands; which observation ended worlds show depends on the autoreset mode."""
        again, last = self._ended, {}
        if self._mode is AutoresetMode.DISABLED and again.any():
            raise GaplessError(f"world {again.argmax()} has ended. Reset it with options={{'reset_mask': …}} first.")
        turn = self.worlds.step(actions)
        self._sight = turn.sight
        if again.any():  # its last step ended an episode, so that this one only begins the next
            self._sight, quiet = self.worlds.restart(again), ~again
            turn = Turn(self._sight, turn.reward * quiet, turn.finished & quiet, turn.timed_out & quiet)
        if self._mode is AutoresetMode.SAME_STEP:
            last = self._begin_anew(turn)
        else:
            self._ended = turn.ended
        told = _told(self._sight, np.ones(self.num_envs, bool))
        return self._sight.observation, turn.reward, turn.finished, turn.timed_out, told | last

    def render(self) -> None:
        """Nothing is drawn."""

    def call(self, name: str, *args: Any, **options: Any) -> tuple[Any, ...]:
        """What each world answers, as Gymnasium's own vector environments say it; all worlds are one and answer alike."""
        asked = getattr(self, name)
        return (asked(*args, **options) if callable(asked) else asked,) * self.num_envs

    def _begin_anew(self, turn: Turn) -> dict[str, Any]:
        """Restarts the worlds that ended; how they did, which the observation no longer shows."""
        self._earned = self._earned + turn.reward
        ended, final = turn.ended, np.full(self.num_envs, None, object)
        if not ended.any():
            return {}
        for k in np.flatnonzero(ended):
            final[k] = turn.sight.observation[k]
        # Return and length stand where Gymnasium's RecordEpisodeStatistics puts them inside a single world.
        episode = _masked({"r": self._earned * ended, "l": self.worlds.age * ended}, ended)
        told = _told(turn.sight, ended) | _masked({"episode": episode}, ended)
        self._sight, self._earned = self.worlds.restart(ended), self._earned * ~ended
        return _masked({"final_obs": final, "final_info": told}, ended)


def _told(sight: Sight, where: np.ndarray) -> dict[str, Any]:
    """What only a simulator knows, with Gymnasium's masks of the worlds that it is told of."""
    sides = {"privileged": sight.privileged, "params": sight.params}
    return _masked({name: _masked(side, where) for name, side in sides.items()}, where)


def _masked(named: dict[str, Any], where: np.ndarray) -> dict[str, Any]:
    return named | {f"_{name}": where.copy() for name in named}


def _mask(mask: Any, worlds: int) -> np.ndarray:
    mask = np.asarray(mask)
    if mask.shape != (worlds,) or mask.dtype != np.bool_:
        raise GaplessError(f"reset_mask must be {worlds} truth values, one per world; it is {mask.dtype}{mask.shape}.")
    return mask
