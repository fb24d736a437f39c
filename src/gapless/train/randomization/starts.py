"""Tasks that begin elsewhere in training: wider than they are, or on the way from an easy start to their own."""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from gapless.core import Log, Signals, Task, Verdict

from .curriculum import Curriculum, draw, graded


@dataclass(frozen=True)
class Starts:
    """How far training starts stray from the task's own; what the robot will see stays as it is."""

    position: float = 0.1
    """Added to every joint that a start names, uniform within ± this, in rad or m."""
    velocity: float = 0.2
    """Likewise, in rad/s or m/s."""


class OtherStarts(Task):
    """A task that is another one but for where training begins."""

    def __init__(self, task: Task) -> None:
        self.task, self.name, self.seconds, self.observe = task, task.name, task.seconds, task.observe
        self.commands, self.measurements, self.mirror = task.commands, task.measurements, task.mirror

    def start(self, key: PRNGKeyArray, n: int) -> Signals:
        return self.task.start(key, n)

    def reward(self, before: Signals, command: Signals, after: Signals) -> Float[Array, " *world"]:
        return self.task.reward(before, command, after)

    def finished(self, measurement: Signals) -> Bool[Array, " *world"]:
        return self.task.finished(measurement)

    def judge(self, log: Log) -> Verdict:
        return self.task.judge(log)


class WiderStarts(OtherStarts):
    """Training begins around the task's own training starts."""

    def __init__(self, task: Task, starts: Starts | None = None) -> None:
        super().__init__(task)
        self.starts = starts or Starts()

    def explore(self, key: PRNGKeyArray, n: int) -> Signals:
        keys = jax.random.split(key, 3)
        begun = self.task.explore(keys[0], n)
        found: Signals = {}
        for side, aside in (("position", self.starts.position), ("velocity", self.starts.velocity)):
            of_side = jax.random.fold_in(keys[1], len(side))
            for k, joint in enumerate(sorted({name.rpartition(".")[0] for name in begun})):
                stray = jax.random.uniform(jax.random.fold_in(of_side, k), (n, 1), minval=-aside, maxval=aside)
                found[f"{joint}.{side}"] = begun.get(f"{joint}.{side}", jnp.zeros((n, 1))) + stray
        return found


class GradedStarts(OtherStarts):
    """Training begins between an easy start and the task's own, as far along as a curriculum draws."""

    def __init__(self, task: Task, easy: Signals, curriculum: Curriculum | None = None) -> None:
        super().__init__(task)
        self.easy, self.curriculum = easy, curriculum or Curriculum()

    def explore(self, key: PRNGKeyArray, n: int) -> Signals:
        keys = jax.random.split(key)
        return self.at(draw(jnp.asarray(self.curriculum.weights), keys[0], n), keys[1])

    def at(self, difficulty: Float[Array, " n"], key: PRNGKeyArray) -> Signals:
        """Starts of these difficulties: 0 is the easy one, 1 the task's own."""
        n = len(difficulty)
        easy = {name: jnp.broadcast_to(jnp.asarray(v), (n, 1)) for name, v in self.easy.items()}
        return graded(easy, self.task.start(key, n), difficulty)
