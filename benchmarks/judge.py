"""The judge: what a policy is worth in a reality, what the best there could be, and how wrong a simulator is about it."""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from gapless.core import Block, Interface, Log, Params, Point, Signals, Task, key_for, unstack
from gapless.nets.policy import command_scale
from gapless.nets.seeing import SeeingPolicy
from gapless.nets.stored_policy import load_policy, save_policy
from gapless.robots.finding import reality_of
from gapless.simulators import Rollout, logs_of
from gapless.train import Along, Ppo, Train, train
from inside import Inside
from one_by_one import one_by_one

EPISODES = 32
ORACLES = Path(__file__).parent / "oracles"
BEHAVES = [5, 10, 15, 20, 25]
"""Periods after which a reality is compared with the one that an oracle was trained in."""
NOTHING_UNKNOWN = Point((), np.zeros(0))


class Blind(Block):
    """Zero or random commands: what a robot is worth without a policy."""

    interface: Interface = eqx.field(static=True)
    loudness: float

    def init(self, key: Any) -> Any:
        return jnp.zeros(())

    def step(self, params: Params, memory: Any, inputs: Signals, dt_s: float, key: Any) -> tuple[Any, Signals]:
        middle, half = command_scale(self.interface)
        values = middle + half * self.loudness * jax.random.uniform(key, middle.shape, minval=-1.0, maxval=1.0)
        return memory, unstack(values, self.interface.command_widths)


@dataclass(frozen=True)
class Worth:
    """Mean return and success rate over the judge's own episodes."""

    value: float
    passed: float


class Judge:
    """One reality and task; its episodes are free and are never given to the engine."""

    def __init__(self, spec: str, task: Task) -> None:
        self.spec, self.task, self.reality = spec, task, reality_of(spec)
        self._rollout = Rollout(Inside(self.reality, EPISODES), task)
        self._key = key_for(self.reality.seed, "judge")

    def worth(self, policy: Block) -> Worth:
        """Every policy meets the same starts and the same noise; one that cannot be traced the same starts."""
        if not getattr(policy, "traceable", True):
            return self._stepped(policy)
        episodes = self._rollout.run(policy, {}, self._key, self._starts())
        verdicts = [self.task.judge(log).passed for log in logs_of(episodes, self._rollout.simulator)]
        return Worth(float(episodes.returns.mean()), float(np.mean(verdicts)))

    def _stepped(self, policy: Block) -> Worth:
        logs = one_by_one(Inside(self.reality, EPISODES), policy, self.task, self._starts(), self._key)
        verdicts = [self.task.judge(log).passed for log in logs]
        return Worth(float(np.mean([self.task.score(log) for log in logs])), float(np.mean(verdicts)))

    def without_policy(self) -> float:
        """J0: the better of zero and random commands."""
        return max(self.worth(Blind(self.reality.interface, loud)).value for loud in (0.0, 1.0))

    def logs(self, policy: Block, count: int, what: str) -> list[Log]:
        """The judge's own logs, as far as nothing changes around the robot: whole motions, and how a policy's episodes begin."""
        teaches = not isinstance(policy, SeeingPolicy)
        rollout = Rollout(Inside(self.reality, count, alone=teaches), self.task)
        key = key_for(self.reality.seed, "judge", what)
        logs = logs_of(rollout.run(policy, {}, key, self.task.start(key, count)), rollout.simulator)
        return logs if teaches else [log.first(int(np.sum(log.command_time < self.task.steady_s))) for log in logs]

    def oracle(self, steps: int) -> SeeingPolicy:
        """The best of two policies trained inside the reality with `steps` each; stored with the project."""
        folder = ORACLES / re.sub(r"[^A-Za-z0-9-]", "", re.sub("[?&]", "-", self.spec.removeprefix("twin:")))
        behaves = self.behaviour()
        try:
            stamp = json.loads((folder / "stamp.json").read_text())
            if stamp["steps"] >= steps and _same(stamp["behaves"], behaves):
                return load_policy(folder)
        except FileNotFoundError:
            pass
        found = [self._train(steps, seed) for seed in range(2)]
        best = max(found, key=lambda policy: self.worth(policy).value)
        save_policy(folder, best)
        (folder / "stamp.json").write_text(json.dumps({"steps": steps, "behaves": behaves}))
        return best

    def tuned(self, policy: SeeingPolicy, steps: int) -> SeeingPolicy:
        """A policy trained further inside the reality."""
        return self._train(steps, 2, policy)

    def _train(self, steps: int, seed: int, begin_with: SeeingPolicy | None = None) -> SeeingPolicy:
        recipe = Train(Ppo(budget=steps, rate=2e-3 if begin_with is None else 5e-4), looks=24, patience=24)
        key = key_for(self.reality.seed, "oracle", seed)
        return train(Inside(self.reality), NOTHING_UNKNOWN, self.task, recipe, key, Along(begin_with)).policy

    def _starts(self) -> Signals:
        return self.task.start(key_for(self.reality.seed, "starts"), EPISODES)

    def behaviour(self) -> dict[str, list[float]]:
        """How the reality answers random commands and what the task pays for it: an oracle is as old as these."""
        episodes = self._rollout.run(Blind(self.reality.interface, 1.0), {}, self._key, self._starts())
        found = {name: values[BEHAVES, :4, 0].ravel() for name, values in episodes.measurements.items()}
        return {name: np.round(v, 6).tolist() for name, v in (found | {"return": episodes.returns[:8]}).items()}


def _same(one: dict[str, list[float]], other: dict[str, list[float]]) -> bool:
    """Up to what two machines' arithmetic makes of the same numbers."""
    return one.keys() == other.keys() and all(
        len(one[k]) == len(other[k])
        and np.allclose(one[k], other[k], rtol=0, atol=1e-3 * (1e-9 + np.max(np.abs(one[k]))))
        for k in one
    )
