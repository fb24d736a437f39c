"""What should happen: where it starts, what is worth what, when it is over, and whether it went well."""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from .change import Change
from .interface import Channel
from .log import Log
from .observation import Observation
from .signals import Signals


@dataclass(frozen=True)
class Verdict:
    """Whether an episode passed, and by how much: the margin is positive when it did, 1 when nothing was off."""

    passed: bool
    margin: float
    reason: str


class Task(ABC):
    """All rewards come from what the robot measures, so that a return means the same in simulation and in reality."""

    name: str
    seconds: float
    """Length of an episode."""
    observe: Observation
    """What the policy sees."""
    commands: tuple[Channel, ...]
    """Channels that it commands."""
    measurements: tuple[Channel, ...]
    """Channels that it reads."""
    mirror: Mapping[str, float] = MappingProxyType({})
    """Channels that change their sign, −1, where robot and task are seen in a mirror; none where they are not symmetric."""
    changes: tuple[Change, ...] = ()
    """Parameters that change at random times within each of its episodes, in simulation as around the robot."""

    @property
    def steady_s(self) -> float:
        """How long after the start of an episode nothing has changed yet."""
        return min((c.from_s for c in self.changes), default=math.inf)

    easy: Mapping[str, float] = MappingProxyType({})
    """A joint state from which the task is nearly done, for curricula; joints not named are at zero. Empty if none is known."""

    @abstractmethod
    def start(self, key: PRNGKeyArray, n: int) -> Signals:
        """n joint states as the robot's episodes begin, `<joint>.position` and `<joint>.velocity`, each (n, width)."""

    def explore(self, key: PRNGKeyArray, n: int) -> Signals:
        """n joint states to begin training episodes from; wider than `start` where that makes the task learnable."""
        return self.start(key, n)

    @abstractmethod
    def reward(self, before: Signals, command: Signals, after: Signals) -> Float[Array, " *world"]:
        """Reward per second, from the measurements before and after a command was sent."""

    def terms(self, before: Signals, command: Signals, after: Signals) -> dict[str, Float[Array, " *world"]]:
        """The reward's named parts, which add up to it; one part where a task names none."""
        return {"reward": self.reward(before, command, after)}

    @abstractmethod
    def finished(self, measurement: Signals) -> Bool[Array, " *world"]:
        """Whether the episode cannot go on; running out of time is not among it."""

    @abstractmethod
    def judge(self, log: Log) -> Verdict:
        """Whether the episode did what it should."""

    def score(self, log: Log) -> float:
        """The return of an episode: rewards of all transitions in it, times the period."""
        return float(np.sum(self.rewards(log))) * log.interface.period_s

    def rewards(self, log: Log) -> Float[np.ndarray, " transition"]:
        """Reward per second of every transition of an episode."""
        return np.zeros(0) if len(log) < 2 else np.asarray(self.reward(*_transitions(log)))

    def shares(self, log: Log) -> dict[str, float]:
        """The return of an episode by the reward's terms."""
        if len(log) < 2:
            return {}
        terms = self.terms(*_transitions(log))
        return {name: float(np.sum(np.asarray(values))) * log.interface.period_s for name, values in terms.items()}


def _transitions(log: Log) -> tuple[Signals, Signals, Signals]:
    """Measurements before, commands, and measurements after, of every period of a log."""
    before = {name: values[: len(log) - 1] for name, values in log.measurements.items()}
    after = {name: values[1 : len(log)] for name, values in log.measurements.items()}
    return before, {name: values[:-1] for name, values in log.commands.items()}, after
