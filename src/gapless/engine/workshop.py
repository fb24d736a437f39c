"""What every stage works with: a workspace, settings, a seed, and what the artifacts in it mean."""

from collections.abc import Callable
from dataclasses import dataclass

import jax
import numpy as np
from jaxtyping import PRNGKeyArray

from gapless.core import (
    Artifact,
    Belief,
    Block,
    Chosen,
    GaplessError,
    Gaussian,
    Log,
    Params,
    Particles,
    Simulator,
    key_for,
    nominal_belief,
    prior_belief,
    read_belief,
)
from gapless.nets.seeing import SeeingPolicy
from gapless.nets.stored_policy import load_policy
from gapless.simulators import Rollout, logs_of

from .parts import BELIEF, identified_alone, simulator_of
from .recipe import Recipe
from .workspace import Workspace

Tell = Callable[..., None]
"""Takes a message and, where known, the share that is done."""


def to_nobody(message: str, share: float | None = None) -> None:
    """Tell nobody."""


@dataclass(frozen=True)
class Workshop:
    """One workspace and how to work in it. `seed` decides everything random; `crank` names the turn that work belongs to."""

    workspace: Workspace
    recipe: Recipe
    seed: int
    crank: int = 0
    tell: Tell = to_nobody

    def prior(self) -> Gaussian:
        return prior_belief(self.workspace.parameters)

    def belief(self, artifact: Artifact) -> Belief:
        return read_belief(artifact.file(BELIEF))

    def believed(self, artifact: Artifact | None) -> Belief:
        """What a policy is trained and judged over: a belief, or without one the data sheet."""
        return nominal_belief(self.workspace.parameters) if artifact is None else self.belief(artifact)

    def identified(self, artifact: Artifact) -> Belief:
        """The belief about the physics alone, as it was before parts were learned beside it."""
        return identified_alone(artifact)

    def simulator(self, belief: Artifact | None) -> Simulator:
        """The simulator that a belief is about: the workspace's, with the parts that were learned beside it, or its clone."""
        return simulator_of(self.workspace.simulator, belief)

    def policy(self, artifact: Artifact) -> SeeingPolicy:
        return load_policy(artifact.folder)

    def known(self, artifact: Artifact | None) -> Gaussian:
        """What motions are chosen under: a belief, or without one the prior."""
        if artifact is None:
            return self.prior()
        belief = self.belief(artifact)
        belief = belief.beside if isinstance(belief, Chosen) else belief
        if isinstance(belief, Particles):
            return belief.gaussian()
        if not isinstance(belief, Gaussian):
            raise GaplessError(
                f"the belief {artifact.id} is no Gaussian, so that nothing can be excited by it. Learn it again."
            )
        return belief

    def is_wide(self, belief: Artifact) -> bool:
        """Whether some parameter is still nearly as unknown as before."""
        before, after = self.prior().deviation(), self.belief(belief).deviation()
        return any(float(after[n]) > self.recipe.wide * float(before[n]) for n in before)

    def simulate(
        self, belief: Artifact | None, policy: Block, draws: int, each: int, what: str
    ) -> tuple[list[Log], list[float]]:
        """Episodes of a policy in draws from the belief, `each` episodes per draw."""
        drawn, key = self.drawn(belief, draws, what)
        params = {k: np.repeat(v, each) for k, v in drawn.items()}
        rollout = Rollout(self.simulator(belief).with_worlds(draws * each), self.workspace.task)
        episodes = rollout.run(policy, params, key)
        return logs_of(episodes, rollout.simulator), episodes.returns.tolist()

    def drawn(self, belief: Artifact | None, draws: int, what: str) -> tuple[Params, PRNGKeyArray]:
        """The parameters that `simulate` draws from a belief for some purpose, and the key of its episodes."""
        keys = jax.random.split(key_for(self.seed, what, self.crank))
        return {k: np.asarray(v, np.float64) for k, v in self.believed(belief).sample(keys[0], draws).items()}, keys[1]

    @property
    def one_by_one(self) -> bool:
        """Whether each log was recorded by a decision of its own."""
        return self.recipe.schedule == "next-best"
