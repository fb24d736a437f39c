"""A simulator, a belief and a task → a policy: train, look at it now and then, keep the best, stop when solved."""

from collections.abc import Callable
from dataclasses import dataclass, field

import jax
from jaxtyping import PRNGKeyArray

from gapless.core import Belief, Simulator, Task
from gapless.nets.policy import NetworkPolicy

from .guard import Guard
from .look import Look
from .ppo import Ppo, Training


@dataclass(frozen=True)
class Train:
    """Train a policy over everything that the belief still allows."""

    ppo: Ppo = field(default_factory=Ppo)
    """The algorithm."""
    looks: int = 12
    """Evaluations on the way; the best policy of them is kept."""
    worlds: int = 64
    """Episodes per evaluation, each with parameters of its own."""
    patience: int = 4
    """Stop when every episode passes and this many looks brought no gain."""
    gain: float = 0.01
    """Smallest relative gain that counts as one."""


@dataclass(frozen=True)
class Trained:
    """The best policy seen and how it came about."""

    policy: NetworkPolicy
    curve: list[tuple[int, float]]
    """Control periods and mean return at each look."""
    value: float
    """Mean return of the policy kept."""
    passed: float
    """Share of its episodes that pass."""
    steps: int
    looks: tuple[NetworkPolicy, ...]
    """The policy at each look, from clumsy to able."""


def train(
    simulator: Simulator,
    belief: Belief,
    task: Task,
    recipe: Train,
    key: PRNGKeyArray,
    begin_with: NetworkPolicy | None = None,
    tell: Callable[[int, float], None] = lambda steps, value: None,
    guard: Guard | None = None,
) -> Trained:
    """The policy with the best mean return over the belief, and no worse than the one begun with; a guard looks elsewhere."""
    keys = jax.random.split(key, 3)
    training = Training(simulator, belief, task, recipe.ppo, keys[0], begin_with, guard)
    place = (simulator, belief) if guard is None else (guard.elsewhere, guard.belief)
    look = Look(*place, task, recipe.worlds, keys[1])
    best = None if begin_with is None else (begin_with, *look.at(begin_with))
    curve, looks = [] if best is None else [(0, best[1])], []
    per_look = max(1, recipe.ppo.budget // (recipe.looks * recipe.ppo.worlds * recipe.ppo.steps))
    for k in range(recipe.looks):
        training.iterate(jax.random.fold_in(keys[2], k), per_look)
        value, passed = look.at(training.learner.policy)
        curve.append((training.steps_done, value))
        looks.append(training.learner.policy)
        tell(training.steps_done, value)
        if best is None or value > best[1]:
            best = (training.learner.policy, value, passed)
        if best[2] == 1.0 and _settled([v for _, v in curve], recipe):
            break
    assert best is not None
    return Trained(best[0], curve, best[1], best[2], training.steps_done, tuple(looks))


def _settled(values: list[float], recipe: Train) -> bool:
    """Whether the last looks stayed within the smallest gain of the best before them."""
    if len(values) <= recipe.patience:
        return False
    before, after = max(values[: -recipe.patience]), max(values[-recipe.patience :])
    return after < before + recipe.gain * abs(before)
