"""How a crank is turned: every setting of every stage in one place."""

from dataclasses import dataclass, field
from typing import Literal

from gapless.core import GaplessError
from gapless.exchange.curves import Kept
from gapless.learn import Attribute, Excite, Identify, LearnResidual
from gapless.learn.clone_robot import LearnClone
from gapless.learn.watch import LearnWatch
from gapless.robots import Limits
from gapless.train import Ppo, Train, method_of
from gapless.train.adapting import adapter_of

FINISHED = 0.95
"""Share of simulated episodes that a policy must have passed at the end of its training to count as finished."""


@dataclass(frozen=True)
class Recipe:
    """Settings of the loop."""

    schedule: Literal["next-best", "fixed"] = "next-best"
    """Whether each robot second is spent where it is expected to add most return, or as counted beforehand: `excite_first`
    motions, then in each crank one more while the belief is `wide`, and `deploy` episodes."""
    worth: float = 0.01
    """Least gain for which anything is done, as a share of the return above rest that is forecast."""
    adapt: str | None = None
    """How a policy may be adapted on the robot where that is the best use of its seconds, as `gapless adapt` calls it; without
    it, not at all."""
    excite_s: float = 6.0
    """Length of an excitation episode."""
    excite_first: int = 2
    """Excitation episodes before the first policy; where each is decided, at most as many."""
    wide: float = 0.25
    """Excite again when a parameter's doubt is above this share of its prior's."""
    deploy: int = 2
    """Episodes on the robot after each training; where each is decided, at most as many."""
    checks: int = 10
    """Starts of the check."""
    draws: int = 64
    """Draws from the belief behind each forecast."""
    scenario_draws: int = 64
    """Worlds in which each scenario is played."""
    share: float = 0.8
    """Probability that the forecast's interval claims."""
    least: float | None = None
    """Hold a policy back when its forecast's lower end is below this; without it, it must beat a robot that rests."""
    force: bool = False
    """Send a policy to the robot whatever its forecast and its scenarios."""
    monitor: bool = False
    """Whether a policy is watched on the robot and hands over when the robot does what nobody expects of it."""
    watch: LearnWatch = field(default_factory=LearnWatch)
    """How the monitor is learned."""
    fallback: Literal["rest", "standing"] = "rest"
    """Who commands after the monitor's alarm: rest, or the policy in place where there is one."""
    limits: Limits = field(default_factory=Limits)
    """When the robot is stopped, beyond the limits of its interface."""
    excite: Excite = field(default_factory=Excite)
    """How excitation is chosen."""
    preflight: bool = True
    """Whether logs with a wrong convention are refused before a fit; without it nothing looks for one."""
    identify: Identify = field(default_factory=Identify)
    """How parameters are identified."""
    attribute: Attribute = field(default_factory=Attribute)
    """How the gap is split between its causes."""
    parts: bool = True
    """Whether parts may be learned beside the parameters, where they predict held-out logs better; else, identification only."""
    residual: LearnResidual = field(default_factory=LearnResidual)
    """How a residual is learned."""
    clone: bool = False
    """Whether a clone, pulled towards the logs, may take the place of the physics where it predicts held-out logs better."""
    pull: LearnClone = field(default_factory=LearnClone)
    """How a clone is pulled towards the logs."""
    train: Train = field(default_factory=lambda: Train(Ppo(budget=1_200_000), looks=30))
    """How the first policy is trained; it stops earlier where all episodes pass and nothing is gained any more."""
    again: Train = field(default_factory=lambda: Train(Ppo(budget=1_200_000).further(), looks=15))
    """How a policy is trained further from the last crank's."""
    curves: Kept = "tensorboard"
    """Who keeps the curves of a training: event files in the workspace's folder `curves`, or a tracker that is installed."""
    explain: bool = True
    """Whether each crank also says what causes the gap."""
    beginnings: int = 2
    """How many trainings there may be for the first policy, as long as none is finished; the best in simulation is kept. How
    well one ends hangs on chance."""
    afresh: bool = True
    """Whether later cranks also train from scratch and keep the better one: a policy seldom leaves the way it has found."""
    inset: bool = True
    """Whether episodes of a training end early by as much as the simulator may be wrong about where they end."""

    def __post_init__(self) -> None:
        if (
            not 0 < self.share < 1
            or self.deploy < 1
            or self.excite_first < 1
            or self.beginnings < 1
            or min(self.checks, self.scenario_draws) < 1
        ):
            raise GaplessError(
                "a recipe needs 0 < share < 1 and at least one deployment, excitation, beginning, check and draw."
            )
        if self.adapt is not None:
            adapter_of(self.adapt)
        if self.worth <= 0:
            raise GaplessError(f"a recipe's worth is {self.worth:g}; it must be above 0, or nothing is ever enough.")

    @classmethod
    def by(cls, word: str) -> "Recipe":
        """The usual settings, with policies trained by the method of this name."""
        method = method_of(word)
        if isinstance(method, Ppo):
            return cls()
        return cls(train=Train(method, looks=10), again=Train(method.further(), looks=5))

    def ways(self, further: bool) -> list[tuple[Train, bool]]:
        """How to train, after a policy or without one, and whether to go on from it.

        A policy is improved, and challenged by one from scratch. Without one, trainings begin until one is finished.
        """
        if not further:
            return [(self.train, False)] * self.beginnings
        return [(self.again, True)] + ([(self.train, False)] if self.afresh else [])
