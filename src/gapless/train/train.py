"""A simulator, a belief and a task → a policy: train, look at it now and then, keep the best, stop when solved."""

from collections.abc import Callable
from dataclasses import dataclass, field

import jax
from jaxtyping import PRNGKeyArray

from gapless.core import Belief, Simulator, Task
from gapless.nets.seeing import SeeingPolicy
from gapless.simulators import compiled

from .checkpoint import Checkpoint, Seen, best_of
from .guard import Guard
from .learning import Method, Place
from .learnt import Learnt
from .look import Look
from .ppo import Ppo
from .randomization.trained_over import Begins, Over, trained_over

PAYS = 100_000
"""Control periods from which on a training is longer than compiling the physics for it takes."""
Told = Callable[[int, dict[str, float]], None]
"""Takes the control periods so far and what the training looks like there, its "return" among it."""


@dataclass(frozen=True)
class Train:
    """Train a policy over everything that the belief still allows."""

    method: Method = field(default_factory=Ppo)
    """The algorithm."""
    over: Over = "belief"
    """What is randomized: all that the belief still allows, the classic table of ranges around the data sheet, or ranges that
    grow while the policy passes at their edges. Policies are looked at over the belief, whatever they were trained over."""
    starts: Begins = "task"
    """Where training episodes begin: where the task says, or graded from its easy start to its own, mostly where about half pass.
    Policies are looked at from the task's own starts, whatever they began from in training."""
    looks: int = 12
    """Evaluations on the way; the best policy of them is kept."""
    worlds: int = 64
    """Episodes per evaluation, each with parameters of its own."""
    patience: int = 4
    """Stop when every episode passes and this many looks brought no gain."""
    gain: float = 0.01
    """Smallest relative gain that counts as one."""
    compiled: bool = True
    """Whether physics without contact is compiled, where the budget is large enough to pay for that; else MuJoCo steps it."""


@dataclass(frozen=True)
class Trained:
    """The best policy seen and how it came about."""

    policy: SeeingPolicy
    curve: list[tuple[int, float]]
    """Control periods and mean return at each look."""
    value: float
    """Mean return of the policy kept."""
    passed: float
    """Share of its episodes that pass."""
    steps: int
    looks: tuple[SeeingPolicy, ...]
    """The policy at each look, from clumsy to able."""
    learnt: Learnt | None = None
    """What the training of the policy kept knew beside it, for whoever trains it further."""


@dataclass(frozen=True)
class Along:
    """What goes along with a training."""

    begin_with: SeeingPolicy | None = None
    """The policy to go on from."""
    learnt: Learnt | None = None
    """What its training knew beside it."""
    guard: Guard | None = None
    """What keeps it from living off a learned simulator's errors; looks are taken elsewhere then."""
    checkpoint: Checkpoint | None = None
    """Where it is kept after each look, so that it goes on there if it is interrupted."""
    tell: Told = lambda steps, figures: None
    """Who is told after each look."""
    beginning: int = 0
    """Which of several trainings this is that are alike but for chance: all are looked at with the same draws and starts."""


ALONE = Along()


def train(
    simulator: Simulator, belief: Belief, task: Task, recipe: Train, key: PRNGKeyArray, along: Along = ALONE
) -> Trained:
    """The policy with the best mean return over the belief, and no worse than the one begun with."""
    keys, guard = _keys(key, along.beginning), along.guard
    if recipe.method.through_physics or (recipe.compiled and recipe.method.budget >= PAYS):
        simulator = compiled(simulator, _drawn(simulator, belief, task, recipe.over))
    over = trained_over(recipe.over, recipe.starts, simulator, belief, task)
    place = Place(simulator, over.belief, task, guard, over.starts)
    learning = recipe.method.learning(place, keys[0], along.begin_with)
    if along.learnt is not None:
        learning.resume(along.learnt)
    judged = (simulator, belief) if guard is None else (guard.elsewhere, guard.belief)
    look = Look(*judged, task, recipe.worlds, keys[1])
    seen = [] if along.begin_with is None else [Seen(along.begin_with, 0, *look.at(along.begin_with))]
    if along.checkpoint is not None:
        learning.learner, seen = along.checkpoint.read(learning.learner, learning.policy, seen)
    first = int(along.begin_with is not None)
    at_best = None if along.checkpoint is None else along.checkpoint.at_best(learning.learner, seen, first)
    per_look = max(1, recipe.method.budget // (recipe.looks * recipe.method.per_iteration))
    for k, known in enumerate(seen[first:]):
        over = over.after(known.policy, jax.random.fold_in(keys[2], 3 * k + 2))
    for k in range(len(seen) - first, recipe.looks):
        if learning.ready and _settled(seen, recipe):
            break
        # Worlds begin anew at every look: a training that was interrupted goes on as one that was not.
        learning.begin(jax.random.fold_in(keys[2], 3 * k), place._replace(belief=over.belief, starts=over.starts))
        notes = learning.iterate(jax.random.fold_in(keys[2], 3 * k + 1), per_look)
        steps = (k + 1) * per_look * recipe.method.per_iteration
        seen.append(Seen(learning.policy, steps, *look.at(learning.policy)))
        at_best = learning.learner if best_of(seen) == len(seen) - 1 else at_best
        if along.checkpoint is not None:
            along.checkpoint.write(learning.learner, seen)
        over = over.after(learning.policy, jax.random.fold_in(keys[2], 3 * k + 2))
        figures = {**notes, "return": seen[-1].value, "passed": seen[-1].passed}
        along.tell(steps, figures | over.figures())
    best, curve = seen[best_of(seen)], [(s.steps, s.value) for s in seen]
    learnt = along.learnt if best_of(seen) < first else learning.learnt(at_best)
    looks = tuple(s.policy for s in seen[first:])
    return Trained(best.policy, curve, best.value, best.passed, seen[-1].steps, looks, learnt)


def _keys(key: PRNGKeyArray, beginning: int) -> tuple[PRNGKeyArray, PRNGKeyArray, PRNGKeyArray]:
    """For the first network, for looks, and for worlds and learning; only looks are the same for every beginning."""
    keys, others = (jax.random.split(jax.random.fold_in(key, k) if k else key, 3) for k in (0, beginning))
    return others[0], keys[1], others[2]


def _drawn(simulator: Simulator, belief: Belief, task: Task, over: Over) -> set[str]:
    """The parameters that a training sets: those that it is trained over, and those that the task changes."""
    tabled = [] if over == "belief" else [p.name for p in simulator.parameters]
    return {*belief.names, *tabled, *(change.param for change in task.changes)}


def _settled(seen: list[Seen], recipe: Train) -> bool:
    """Whether the best so far always passes, and the last looks stayed within the smallest gain of the best before them."""
    if len(seen) <= recipe.patience or seen[best_of(seen)].passed < 1.0:
        return False
    before, after = (max(s.value for s in part) for part in (seen[: -recipe.patience], seen[-recipe.patience :]))
    return after < before + recipe.gain * abs(before)
