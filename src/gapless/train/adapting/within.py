"""Policies that adapt within an episode: all is trained in simulation, and the robot only shows what came of it."""

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar

from gapless.nets.seeing import SeeingPolicy

from ..distil import Distil
from ..learning import Method, Place
from ..osi import UpOsi
from ..ppo import Ppo
from ..rma import Rma
from ..train import train
from .adaptation import Adapter, Means, Tries


@dataclass(frozen=True)
class Within(Adapter):
    """Train a policy that finds out what it moves while it acts."""

    episodes: int = 1
    """Episodes that confirm it; none is needed."""

    @abstractmethod
    def method(self, asked: Method) -> Method:
        """How it is trained: as was asked, where that is such a way, or else with the same worlds, steps and budget."""

    def prepared(self, place: Place, means: Means) -> SeeingPolicy:
        recipe = replace(means.recipe, method=self.method(means.recipe.method))
        return train(*place[:3], recipe, means.key, means.along(self.word)).policy

    def tries(self, prepared: SeeingPolicy, place: Place, means: Means) -> Tries:
        for _ in range(self.episodes):
            yield prepared
        return prepared


@dataclass(frozen=True)
class WithinRma(Within):
    """Rapid motor adaptation (train/rma.py)."""

    word: ClassVar[str] = "rma"

    def method(self, asked: Method) -> Method:
        return asked if isinstance(asked, Rma) else Rma(asked.worlds, asked.steps, asked.budget)


@dataclass(frozen=True)
class WithinDistil(Within):
    """A student with memory of a teacher that is told the params (train/distil.py)."""

    word: ClassVar[str] = "distil"

    def method(self, asked: Method) -> Method:
        return asked if isinstance(asked, Distil) else Distil(asked.worlds, asked.steps, asked.budget)


@dataclass(frozen=True)
class WithinMemory(Within):
    """PPO on a network with memory, which nobody is told anything (train/ppo.py)."""

    word: ClassVar[str] = "memory"

    def method(self, asked: Method) -> Method:
        ppo = asked if isinstance(asked, Ppo) else Ppo(asked.worlds, asked.steps, asked.budget)
        return ppo if ppo.network in ("gru", "lstm", "attention") else replace(ppo, network="gru")


@dataclass(frozen=True)
class WithinOsi(Within):
    """A universal policy with online system identification (train/osi.py)."""

    word: ClassVar[str] = "up-osi"

    def method(self, asked: Method) -> Method:
        return asked if isinstance(asked, UpOsi) else UpOsi(asked.worlds, asked.steps, asked.budget)
