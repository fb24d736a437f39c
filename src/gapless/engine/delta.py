"""Adapting by delta actions: the simulator is made to move as the robot did, and the policy is trained further in it.

Follows He et al. 2025 (ASAP): record the policy on the robot, learn the changes of commands that explain its motions, freeze them
into the simulator, train the policy further there, and deploy it without them.
"""

from dataclasses import dataclass, field
from typing import ClassVar

from gapless.core import Belief, Chosen, GaplessError, Log
from gapless.learn import LearnResidual, with_residual
from gapless.learn.delta_action import DELTA_ACTION, learn_delta_action
from gapless.logs import split
from gapless.nets.seeing import SeeingPolicy
from gapless.simulators import Around, MujocoSimulator
from gapless.simulators.parts import MEMBER
from gapless.train import Place, train
from gapless.train.adapting import ADAPTERS, Adapter, Means, Tries, adapter_of


@dataclass(frozen=True)
class Delta(Adapter):
    """Learn the correction of commands that makes simulated motions match the robot's, and train further with it."""

    word: ClassVar[str] = "delta"

    episodes: int = 5
    """Episodes of the policy on the robot, of which every fourth judges what was learned from the others."""
    learn: LearnResidual = field(default_factory=lambda: DELTA_ACTION)
    """How the correction is learned."""

    def prepared(self, place: Place, means: Means) -> SeeingPolicy:
        """The policy in place, or one trained in the simulator as it is."""
        if means.in_place is not None:
            return means.in_place
        along = means.along("delta-before")
        return train(place.simulator, place.belief, place.task, means.recipe, means.key, along).policy

    def tries(self, prepared: SeeingPolicy, place: Place, means: Means) -> Tries:
        """The policy as it is, again and again; then what it becomes where commands are corrected, or itself where none are."""
        simulator = place.simulator
        if not isinstance(simulator, MujocoSimulator):
            raise GaplessError(
                f"delta actions are learned beside MuJoCo, and this simulator is a {type(simulator).__name__}. Adapt a "
                "workspace without a clone, or by another method."
            )
        logs: list[Log] = []
        for _ in range(self.episodes):
            logs.append((yield prepared))
        corrected = corrected_place(place, simulator, logs, self.learn)
        if corrected is None:
            return prepared
        along = means.along("delta-after", prepared)
        return train(corrected.simulator, corrected.belief, place.task, means.again, means.key, along).policy


def corrected_place(place: Place, simulator: MujocoSimulator, logs: list[Log], recipe: LearnResidual) -> Place | None:
    """The place with commands corrected as the logs ask for, or None where that would not predict held-out ones better."""
    belief = _of_physics(place.belief)
    learnt = learn_delta_action(simulator, belief, split(logs), recipe)
    if learnt is None:
        return None
    whole = with_residual(simulator.with_around(Around()), learnt.residual)
    return place._replace(simulator=whole, belief=Chosen(belief, MEMBER, learnt.residual.members))


def _of_physics(belief: Belief) -> Belief:
    """A belief without the choice of a member of what was learned beside the physics before."""
    return belief.beside if isinstance(belief, Chosen) and belief.choice == MEMBER else belief


def way_of(word: str) -> Adapter:
    """The way of adapting with this name, among those that train alone and those that learn from logs as well."""
    return adapter_of(word, {**ADAPTERS, Delta.word: Delta})
