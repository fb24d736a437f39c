"""Cranks in which each robot second is spent where it is expected to add most return, and none where nothing would."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from gapless.core import Artifact, GaplessError, Robot
from gapless.learn import Design
from gapless.logs import read_logs
from gapless.train.adapting import adapter_of

from .adapting import Begin, adapt
from .decisions import decide, gain_of, taken_by
from .episodes import LOGS, RESET_S, teaches
from .forecasts import require_promising
from .incumbent import KEPT, deployments, shown_by, standing
from .offers import Moment, instead, once_more
from .options import Kind, Option
from .outlook import outlook
from .runner_up import RUNNER_UP, runner_up
from .sending import Ready, readied
from .stages import Stages
from .training import train_policy
from .turn import Turn, robot_seconds_spent


def next_best(turns: Iterator[Stages], robot: Robot, logs: list[Artifact]) -> Iterator[Turn]:
    """Turn after turn, each beginning with all that was recorded and trained before it."""
    policies: list[Artifact] = []
    last: Turn | None = None
    for stages in turns:
        crank = _Crank(stages, robot, list(logs), policies, last)
        last, logs = crank.turn(), crank.logs
        policies = [*policies, *(p for p in crank.tried if p not in policies)]
        yield last


@dataclass
class _Crank:
    """One turn under way. Episodes of policies are recorded, and so forecast, one at a time."""

    stages: Stages
    robot: Robot
    logs: list[Artifact]
    policies: list[Artifact]
    """Of earlier cranks, the oldest first."""
    last: Turn | None
    decisions: list[Artifact] = field(default_factory=list)
    deployed: list[Artifact] = field(default_factory=list)
    tried: list[Artifact] = field(default_factory=list)
    """Policies of this crank, the one that did best on the robot last."""
    motions: int = 0
    taught: float = 0.0
    """Gain for which motions were recorded in this crank."""
    ready: Design | None = None
    """The motion that was weighed last."""

    def __post_init__(self) -> None:
        self.most = self.stages.recipe.deploy
        self.stages = replace(self.stages, recipe=replace(self.stages.recipe, deploy=1))
        store, crank = self.stages.workspace.store, self.stages.crank
        self.in_place = standing(store, self.policies, crank - 1) if self.policies else None
        self.seen = [] if self.in_place is None else deployments(store, self.in_place, crank)
        self.with_part = self.last is not None and _has_part(self.last.belief)

    def turn(self) -> Turn:
        """Decide, do it, and send a policy that is new to the robot."""
        belief, taken = self._collected(self._known())
        if "part" in taken:
            self.with_part = True
            belief = self._learned()
        policy = self._policy(belief, taken)
        assert policy is not None  # where there is none, a training was decided on
        is_new = policy is not self.in_place and not policy.figures[KEPT]
        if is_new or "deploy" in taken or self.last is None:
            return self._sent(belief, policy)
        return self._stayed(self.last, belief, policy)

    def _policy(self, belief: Artifact, taken: list[Kind]) -> Artifact | None:
        """The policy after what was decided; an adaptation's episodes are logs like others."""
        if "retrain" in taken:
            return train_policy(self.stages, belief, self.in_place)
        word = self.stages.recipe.adapt
        if "adapt" not in taken or word is None:
            return self.in_place
        made = adapt(self.stages, self.robot, adapter_of(word), Begin(belief, self.in_place))
        tries = range(len(made.figures["tries"]))
        self.logs += [self.stages.workspace.store.get(made.parents[f"logs{k}"]) for k in tries]
        return made

    def _known(self) -> Artifact | None:
        """What the logs say so far; where none came since the last fit, that one still holds."""
        if self.last is not None:
            heard = {i for role, i in self.last.belief.parents.items() if role.startswith("logs")}
            if heard == {a.id for a in self.logs}:
                return self.last.belief
        return self._learned() if any(map(_teaches, self.logs)) else None

    def _learned(self) -> Artifact:
        recipe = self.stages.recipe if self.with_part else replace(self.stages.recipe, parts=False, clone=False)
        return replace(self.stages, recipe=recipe).learn(self.logs)

    def _collected(self, belief: Artifact | None) -> tuple[Artifact, list[Kind]]:
        """The belief after all motions that are worth their seconds, and what was decided on then."""
        while True:
            taken = self._decided(belief)
            if "excite" not in taken:
                assert belief is not None  # where there is none, a motion was decided on
                return belief, taken
            self.logs.append(self.stages.excite(self.robot, belief, 1, self.motions, self.ready))
            self.motions += 1
            belief = self._learned()

    def _decided(self, belief: Artifact | None) -> list[Kind]:
        """What is done next, weighed with the policy in place under this belief."""
        self.ready = None
        made_of = {} if belief is None else {"belief": belief.id}
        made_of |= {} if self.in_place is None else {"policy": self.in_place.id}
        made_of |= {f"seen{k}": a.id for k, a in enumerate(self.seen)}
        decision = self._kept(made_of, lambda: self._offers(belief))
        self.taught += gain_of(decision, "excite")
        return taken_by(decision)

    def _offers(self, belief: Artifact | None) -> list[Option]:
        recipe, policy = self.stages.recipe, self.in_place
        if belief is None:
            return [Option("excite", recipe.excite_s + RESET_S, 1.0, "nothing is known of the robot yet")]
        moment = Moment(
            self.stages, belief, self.robot.interface, policy,
            outlook=None if policy is None else outlook(self.stages, belief, policy, self.seen),
            tries=len(self.policies), with_part=self.with_part, motions=self.motions, taught=self.taught,
            may_excite=self.motions < (recipe.excite_first if policy is None else 1),
        )  # fmt: skip
        found, self.ready = moment.offers(), moment.ready
        return found

    def _kept(self, made_of: dict[str, str], offers: Callable[[], list[Option]]) -> Artifact:
        self.decisions.append(decide(self.stages, len(self.decisions), made_of, offers))
        self.stages.tell(self.decisions[-1].figures["why"])
        return self.decisions[-1]

    def _sent(self, belief: Artifact, policy: Artifact) -> Turn:
        """The turn of a policy that goes to the robot: once, again while that is worth it, and its runner-up where that is."""
        gap, attribution = self._explained(belief, policy)
        sent = [self._deployed(readied(self.stages, belief, policy, self.in_place, self.logs))]
        asked: list[Kind] = []
        while episode := self._next_episode(belief, policy, asked):
            asked.append(episode)
            if episode == "deploy":
                self.deployed.append(sent[0].ready.deploy(self.stages, self.robot, len(self.deployed)))
            elif (other := self._other(belief, policy)) is not None:
                sent.append(self._deployed(other))
        self.logs += self.deployed
        sent.sort(key=self._shown)
        self.tried = [each.ready.policy for each in sent]
        ready, outcome = sent[-1]
        spent, best = self._until_now()
        return Turn(
            self.stages.crank, spent, belief, gap, attribution, ready.policy, ready.check, ready.forecast, outcome, best,
            ready.proved, tuple(self.deployed), tuple(self.decisions),
        )  # fmt: skip

    def _deployed(self, ready: Ready) -> "_Sent":
        """Its first episode on the robot, and how that went."""
        self.deployed.append(ready.deploy(self.stages, self.robot, len(self.deployed)))
        return _Sent(ready, self.stages.outcome(ready.forecast, self.deployed[-1]))

    def _shown(self, sent: "_Sent") -> float:
        """What a policy of this crank has shown on the robot, in the mean."""
        mine = [a for a in self.deployed if a.parents["policy"] == sent.ready.policy.id]
        return float(np.mean(shown_by(mine).returns))

    def _next_episode(self, belief: Artifact, policy: Artifact, asked: list[Kind]) -> Kind | None:
        """Which other episode is worth its seconds: another of the same policy, one of its runner-up, or none."""
        is_new = policy is not self.in_place
        seen = [*([] if is_new else self.seen), *(a for a in self.deployed if a.parents["policy"] == policy.id)]
        made_of = {"belief": belief.id, "policy": policy.id} | {f"seen{k}": a.id for k, a in enumerate(seen)}
        seconds, most = self.stages.workspace.task.seconds, self.most - 1 - asked.count("deploy")
        may_differ = is_new and policy.figures.get(RUNNER_UP) is not None and "runner-up" not in asked
        if most <= 0 and not may_differ:
            return None

        def offers() -> list[Option]:
            looked = outlook(self.stages, belief, policy, seen)
            once = [once_more(looked, seconds)] if most > 0 else []
            return [*once, *([instead(policy, looked, seconds)] if may_differ else [])]

        return next(iter(taken_by(self._kept(made_of, offers))), None)

    def _other(self, belief: Artifact, policy: Artifact) -> Ready | None:
        """The runner-up on its way to the robot; none where it may not go there."""
        other, recipe = runner_up(self.stages, policy), self.stages.recipe
        if other is None:
            return None
        try:
            ready = readied(self.stages, belief, other, self.in_place, self.logs)
            if not recipe.force:
                require_promising(ready.forecast, recipe.least)
            return ready
        except GaplessError as refused:
            self.stages.tell(str(refused))
            return None

    def _stayed(self, last: Turn, belief: Artifact, policy: Artifact) -> Turn:
        """The turn of a policy that has been on the robot and stays in place: nothing is asked of the robot."""
        gap, attribution = (last.gap, last.attribution) if belief == last.belief else self._explained(belief, policy)
        self.tried = [policy]
        spent, best = self._until_now()
        return replace(
            last, crank=self.stages.crank, robot_seconds=spent, belief=belief, gap=gap, attribution=attribution,
            policy=policy, standing=best, deployed=(), decisions=tuple(self.decisions),
        )  # fmt: skip

    def _explained(self, belief: Artifact, policy: Artifact) -> tuple[Artifact, Artifact | None]:
        """The gap, and what causes it."""
        stages = self.stages
        attribution = stages.attribute(belief, self.logs, policy) if stages.recipe.explain else None
        return stages.gap(belief, self.logs), attribution

    def _until_now(self) -> tuple[float, Artifact]:
        """Robot seconds spent, and the policy to stand by."""
        store, crank = self.stages.workspace.store, self.stages.crank
        return robot_seconds_spent(store, crank), standing(store, [*self.policies, *self.tried], crank)


class _Sent(NamedTuple):
    """A policy that has been on the robot, and how its first episode went."""

    ready: Ready
    outcome: Artifact


def _has_part(belief: Artifact) -> bool:
    """Whether a part was tried beside this belief."""
    return belief.recipe.get("residual") is not None or "clone" in belief.recipe


def _teaches(logs: Artifact) -> bool:
    return any(map(teaches, read_logs(logs.folder / LOGS)))
