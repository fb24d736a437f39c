"""Adapting by hill climbing in a handful of episodes, from a policy and along steps that evolution has chosen for that.

Follows Song et al. 2020 (ES-MAML); `train/meta/evolution.py` says where it departs.
"""

from dataclasses import asdict, dataclass, field, replace
from typing import Any, ClassVar

import jax

from gapless.core import GaplessError
from gapless.nets.seeing import SeeingPolicy
from gapless.nets.teachable import BySteps, Teachable, by_steps, moved

from ..learning import Place
from ..meta.evolution import Evolution, LearnsByEvolution
from ..meta.preparing import learnt_to_learn
from .adaptation import Adapter, Means, Tries, worth
from .beginning import beginning


@dataclass(frozen=True)
class EsMaml(Adapter):
    """Try steps one after the other and take those that pay, having learnt in simulation which ones to try."""

    word: ClassVar[str] = "es-maml"

    episodes: int = 5
    """Episodes on the robot: the first is the policy's own, each other one tries a step."""
    outer: Evolution = field(default_factory=Evolution)
    """How it learns to adapt."""
    hidden: tuple[int, int] | None = None
    """Width and number of hidden layers of a policy that begins untrained; by default it begins with a trained one."""
    looks: int = 6
    """Evaluations on the way; the policy that adapts best is kept."""

    def __post_init__(self) -> None:
        if self.episodes < 2 or self.looks < 1:
            raise GaplessError("es-maml needs at least two episodes, of which it keeps the better, and one look.")

    def preparation(self) -> dict[str, Any]:
        return {"by": self.word, **asdict(self)}  # what is prepared depends on how many episodes there will be

    def prepared(self, place: Place, means: Means) -> Teachable:
        """A policy, and one step fewer than there are episodes."""
        keys = jax.random.split(means.key, 3)
        policy, trained = beginning(place, replace(means, key=keys[0]), self.hidden, self.word)
        outer = LearnsByEvolution(place, self.outer, by_steps(policy, self.episodes - 1, keys[1]), trained)
        return learnt_to_learn(outer, self.outer.iterations, self.looks, keys[2], means.along(self.word))

    def tries(self, prepared: SeeingPolicy, place: Place, means: Means) -> Tries:
        """The policy, then the best so far with another step."""
        if not isinstance(prepared, Teachable) or not isinstance(prepared.manner, BySteps):
            raise GaplessError(
                f"es-maml changes policies that it has prepared, and this is a {type(prepared).__name__}. Prepare anew."
            )
        best = prepared.network
        value = worth(place.task, (yield prepared.settled(best)))
        for k in range(min(self.episodes - 1, prepared.manner.count)):
            tried = moved(best, jax.tree.map(lambda x, k=k: x[k], prepared.manner.steps))
            found = worth(place.task, (yield prepared.settled(tried)))
            best, value = (tried, found) if found > value else (best, value)
        return prepared.settled(best)
