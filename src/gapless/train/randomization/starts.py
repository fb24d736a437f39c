"""Where training begins: wider than the task does, or on the way from an easy start to its own."""

from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from gapless.core import GaplessError, Signals, Task, WrappedTask

from .curriculum import Curriculum, draw, graded

OWN = 0.25
"""Share of graded starts that are the task's own."""


@dataclass(frozen=True)
class Starts:
    """How far training starts stray from the task's own; what the robot will see stays as it is."""

    position: float = 0.1
    """Added to every joint that a start names, uniform within ± this, in rad or m."""
    velocity: float = 0.2
    """Likewise, in rad/s or m/s."""


class WiderStarts(WrappedTask):
    """A task that is another one, but training begins around that one's own training starts."""

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


class GradedStarts(eqx.Module):
    """Training begins between an easy start and the task's own, as far along as the weights of a curriculum draw."""

    easy: tuple[tuple[str, float], ...] = eqx.field(static=True)
    """Joint states, by name."""
    weights: Float[Array, " bin"]
    """How often each difficulty is drawn, from easy to hard."""

    def draw(self, task: Task, key: PRNGKeyArray, n: int) -> Signals:
        """n starts, some of them the task's own, so that it is never forgotten."""
        keys = jax.random.split(key, 3)
        own = jax.random.bernoulli(keys[0], OWN, (n,))
        return self.at(task, jnp.where(own, 1.0, draw(self.weights, keys[1], n)), keys[2])

    def at(self, task: Task, difficulty: Float[Array, " n"], key: PRNGKeyArray) -> Signals:
        """Starts of these difficulties: 0 is the easy one, 1 the task's own."""
        n = len(difficulty)
        easy = {name: jnp.full((n, 1), value) for name, value in self.easy}
        return graded(easy, task.start(key, n), difficulty)


def graded_starts(task: Task, curriculum: Curriculum) -> GradedStarts:
    """Starts of a task that names an easy one."""
    if not task.easy:
        raise GaplessError(
            f"the task {task.name!r} names no easy start (`easy`), so that none lies between it and its own. Train with starts "
            "'task'."
        )
    return GradedStarts(tuple(sorted(task.easy.items())), jnp.asarray(curriculum.weights))
