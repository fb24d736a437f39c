"""The options of a moment, each with its gain estimated from simulation and from what is stored."""

from dataclasses import dataclass, field

import numpy as np

from gapless.core import Artifact, Interface, Params
from gapless.learn import Design, NoSafeMotion, lasting_doubt, lesson_of
from gapless.train.adapting import adapter_of

from .episodes import RESET_S
from .estimates import (
    better_of,
    cost_of_failing,
    learned_by,
    luck_of,
    share_known,
    share_taken,
    told_by_one_more,
    unexplained,
)
from .incumbent import CARRIES_OVER
from .options import Option
from .outlook import Outlook
from .parts import physics_of
from .runner_up import RUNNER_UP
from .stages import Stages

FREE_S = 0.0


@dataclass
class Moment:
    """When a decision is due: what is believed, how the policy in place looks under it, and what may still be asked for."""

    stages: Stages
    belief: Artifact
    limits: Interface
    policy: Artifact | None = None
    outlook: Outlook | None = None
    tries: int = 0
    """Policies trained so far."""
    with_part: bool = False
    """Whether the belief was learned with a part, or one was tried."""
    motions: int = 0
    """Motions that this crank has recorded."""
    may_excite: bool = True
    """Whether the recipe allows another motion in this crank."""
    taught: float = 0.0
    """Gain for which the motions of this crank were recorded."""
    ready: Design | None = field(default=None, init=False)
    """The motion that was weighed, ready to be recorded."""

    def offers(self) -> list[Option]:
        """Everything that may be done next."""
        return [self._excite(), self._deploy(), self._part(), self._adapt(), self._retrain()]

    @property
    def _seconds(self) -> float:
        """Length of the logs that the belief was learned from."""
        return float(self.belief.figures["seconds_of_log"])

    @property
    def _episode_s(self) -> float:
        """Robot seconds of an episode of a policy."""
        return self.stages.workspace.task.seconds + RESET_S

    @property
    def _unexplained(self) -> float:
        return unexplained(float(self.belief.figures["chi_square"]), self.stages.recipe.residual.worth)

    @property
    def _stake(self) -> float:
        """Share of the return that something nobody explains is known to cost; all of it may, before a policy has run."""
        if self.outlook is None or not self.outlook.shown.returns:
            return 1.0
        return self.outlook.shortfall / self.outlook.scale

    def _lasting(self) -> dict[str, float]:
        """Deviation that each parameter keeps, whatever is recorded."""
        doubt = lasting_doubt(float(self.belief.figures["chi_square"]), self.stages.recipe.identify.doubt)
        known = self.stages.known(self.belief)
        return {n: doubt * abs(float(v)) for n, v in known.mean().items()}

    def _excite(self) -> Option:
        seconds = self.stages.recipe.excite_s
        unheard = self._stake * self._unexplained * learned_by(self._seconds, seconds)
        most = unheard + (1.0 if self.outlook is None else self.outlook.doubt / self.outlook.scale)
        cost = seconds + RESET_S
        if not self.may_excite:
            return Option("excite", cost, 0.0, "this crank has recorded its motions", allowed=False)
        if most < self.stages.recipe.worth:
            return Option("excite", cost, most, f"knowing every parameter would add {most:.1%}")
        try:
            self.ready = self.stages.motion(self.limits, self.belief, self.motions)
        except NoSafeMotion:
            return Option("excite", cost, 0.0, "no motion is safe under this belief", allowed=False)
        gain, why = self._of_lesson(self.ready.now, self.ready.after)
        return Option("excite", cost, gain + unheard, _and(why, unheard, "more logs of what no parameter explains"))

    def _of_lesson(self, now: Params, after: Params) -> tuple[float, str]:
        """What it is worth to know the parameters so much better, and why."""
        if self.outlook is None:
            prior = {n: float(v) for n, v in self.stages.prior().deviation().items()}
            share = share_known(now, after, self._lasting(), prior)
            return (
                share,
                f"it takes away {share:.1%} of the variance that was unknown at first",
            )
        doubt = self.outlook.doubt / self.outlook.scale
        share = share_taken(now, after, self._lasting(), self.outlook.weights)
        return doubt * share, f"not knowing the parameters costs {doubt:.1%}, of which it takes away {share:.0%}"

    def _deploy(self) -> Option:
        stages, seconds = self.stages, self.stages.workspace.task.seconds
        if self.policy is None or self.outlook is None:
            return Option("deploy", self._episode_s, 0.0, "there is no policy yet", allowed=False)
        simulator, known = physics_of(stages.workspace.simulator, self.belief), stages.known(self.belief)
        window_s, noise = stages.recipe.excite.window_s, self.belief.figures["channel_noise"]
        lesson = lesson_of(simulator, known, self.limits, stages.policy(self.policy), seconds, window_s, noise)
        taught, why = self._of_lesson(lesson.now, lesson.after)
        gain, said = again(self.outlook, seconds)
        return Option("deploy", self._episode_s, taught + gain, f"{why}; {said}")

    def _part(self) -> Option:
        recipe, share = self.stages.recipe, self._unexplained
        why = f"no parameter explains {share:.0%} of the held-out error" if share else "the parameters explain the logs"
        gain = share * self._stake
        if self.with_part:
            return Option("part", FREE_S, 0.0, "it has been tried with these logs", allowed=False)
        if not recipe.parts and not recipe.clone:
            return Option("part", FREE_S, gain, f"{why}, and the recipe allows no part", allowed=False)
        return Option("part", FREE_S, gain, why)

    def _adapt(self) -> Option:
        word, fell = self.stages.recipe.adapt, self.outlook is not None and self.outlook.shortfall > 0
        if word is None or not fell:
            why = "the recipe names no way to adapt" if word is None else "no policy fell short of what is simulated"
            return Option("adapt", self._episode_s, 0.0, why, allowed=False)
        episodes = max(adapter_of(word).episodes, 1)
        left = self._stake * (1 - self._part().gain / self._stake if self._part().allowed else 1)
        why = f"the robot showed {self._stake:.1%} less than is simulated, of which a part may leave {left:.1%}"
        return Option("adapt", episodes * self._episode_s, left, why)

    def _retrain(self) -> Option:
        if self.policy is None or self.outlook is None:
            return Option("retrain", FREE_S, 1.0, "there is no policy yet")
        gain, why = training_gain(self.policy, self.outlook, self.tries)
        if self.taught > gain:
            return Option("retrain", FREE_S, self.taught, "motions have taught what a policy is yet to use")
        return Option("retrain", FREE_S, gain, why)


def once_more(outlook: Outlook, seconds: float) -> Option:
    """Another episode of a policy that has just been on the robot."""
    gain, why = again(outlook, seconds)
    return Option("deploy", seconds + RESET_S, gain, why)


def instead(policy: Artifact, outlook: Outlook, seconds: float) -> Option:
    """An episode of the second best of the trainings that this policy came from, where the robot thought less of the best.

    A part of what the simulator missed about the one it misses about the other, too.
    """
    fell, less = outlook.shortfall, float(policy.figures["return"]) - float(policy.figures[RUNNER_UP]["return"])
    if fell <= 0:
        why = "the best did not fall short of what is simulated"
        return Option("runner-up", seconds + RESET_S, 0.0, why, allowed=False)
    gain = better_of((1 - CARRIES_OVER) * fell - less, CARRIES_OVER * fell)
    why = f"the best showed {fell / outlook.scale:.1%} less than is simulated, where this one earns "
    why += f"{abs(less) / outlook.scale:.1%} {'less' if less >= 0 else 'more'}"
    return Option("runner-up", seconds + RESET_S, gain / outlook.scale, why)


def again(outlook: Outlook, seconds: float) -> tuple[float, str]:
    """What one more episode of a policy says about it, beyond parameters: share of the return, and why."""
    episodes, fell = len(outlook.shown.returns), outlook.shortfall
    gain = told_by_one_more(outlook.deviation, episodes) + fell * learned_by(episodes * seconds, seconds)
    if fell > 0:
        return gain / outlook.scale, f"the robot showed {fell / outlook.scale:.1%} less than is simulated"
    so_far = (
        f"on the robot it went as simulated, in {episodes} of {episodes}" if episodes else "it was never on the robot"
    )
    return gain / outlook.scale, so_far


def training_gain(policy: Artifact, outlook: Outlook, tries: int) -> tuple[float, str]:
    """What another training is expected to add for the best of four reasons, as a share of the return, and that reason."""
    simulated, figures = outlook.simulated, policy.figures
    chance = 2 * float(simulated.returns.std()) / np.sqrt(len(simulated.returns))
    moved = max(float(figures["return"]) - outlook.mean - chance, 0.0)
    failing = cost_of_failing(simulated.returns.ravel(), simulated.passed.ravel())
    shown = CARRIES_OVER * outlook.shortfall
    lucky = luck_of(np.array([value for _, value in figures["curve"]], float), tries)
    found = [
        (moved, f"it earns {moved / outlook.scale:.1%} less under today's belief than on the day it was trained"),
        (failing, f"it fails {1 - simulated.passed.mean():.0%} of its simulated episodes"),
        (shown, f"the robot showed {outlook.shortfall / outlook.scale:.1%} less than is simulated"),
        (lucky, f"trainings differ by chance, and this is the best of {tries}"),
    ]
    gain, why = max(found, key=lambda one: one[0])
    return gain / outlook.scale, why


def _and(why: str, gain: float, other: str) -> str:
    return f"{why}; {other}" if gain >= 1e-3 else why
