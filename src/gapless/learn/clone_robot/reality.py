"""Logs → a clone of the real robot: taught by the identified simulator, pulled towards logs, kept where it foretells better."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from gapless.core import Belief, GaplessError, Log, Simulator, generator_for, key_for
from gapless.logs import Parted, split
from gapless.simulators.mujoco_cpu import MujocoSimulator
from gapless.simulators.neural.clone import Clone
from gapless.simulators.neural.simulator import CloneSimulator, over_members

from ..held_out import Comparison, compare, prediction_errors
from .lessons import Begin, Teach
from .pull import Pull, Puller, Weights
from .recorded import windowed
from .replay import replayed

Tell = Callable[[str], None]


@dataclass(frozen=True)
class LearnClone:
    """Pull a clone of the identified simulator towards reality."""

    members: int = 2
    """Independent members, each with weights of the windows of its own; an even number, so that none speaks for all of them."""
    window_s: float = 0.8
    """Length of the windows that it is pulled towards."""
    windows: int = 160
    """Windows used at most."""
    replay: Teach = field(default_factory=lambda: Teach(stretches=2000, length=8))
    """The stretches of the identified simulator that it must not forget."""
    replays: tuple[float, ...] = (30.0, 10.0, 3.0, 1.0)
    """Weights of those to choose from, on logs set aside, the most cautious first."""
    contrasts: tuple[float, ...] = (0.0, 0.3)
    """Weights of telling real windows from simulated ones, likewise; none at all should be among them."""
    pull: Pull = field(default_factory=Pull)
    """How it is pulled."""
    worth: float = 1.5
    """Held-out chi-square of the physics below which there is nothing left to learn."""

    def __post_init__(self) -> None:
        if min(self.members, self.windows) < 1 or self.window_s <= 0 or not self.replays or not self.contrasts:
            raise GaplessError("a clone needs members, windows, window_s > 0 and at least one weight of each kind.")


class Candidate(NamedTuple):
    """A simulator and what is believed about it."""

    simulator: Simulator
    belief: Belief

    def errors(self, logs: list[Log]) -> Float[np.ndarray, " window"]:
        return prediction_errors(self.simulator, self.belief, logs)


@dataclass(frozen=True)
class Pulled:
    """A clone of the real robot, and whether it foretells held-out logs better than what it had to beat."""

    members: tuple[Clone, ...]
    belief: Belief
    """What was identified, and beside it which member acts, where there are several."""
    weights: Weights
    held_out: Comparison

    def sentence(self) -> str:
        """What came of it."""
        h, w = self.held_out, self.weights
        trunk = "all of it" if w.trunk else "its trunk frozen"
        how = f"with {trunk}, replay {w.replay:g} and contrast {w.contrast:g}"
        if h.better:
            return f"A clone ({how}) foretells held-out logs better: {h.after:.3g} up to half a second ahead, not {h.before:.3g}."
        return (
            f"The clone ({how}) is refused, as it does not foretell held-out logs better: {h.after:.3g} up to half a second "
            f"ahead, against {h.before:.3g} without it; the upper end of the ratio is {h.ratio_high:.3g}."
        )


class Contest(NamedTuple):
    """What a clone is made from, and what it has to beat."""

    identified: Candidate
    """Bare MuJoCo and what is believed about it."""
    rival: Candidate
    """The best simulator so far, which may be the same."""


def learn_clone(
    taught: Sequence[Clone], against: Contest, logs: Parted, begins: tuple[Begin, ...],
    recipe: LearnClone | None = None, seed: int = 0, tell: Tell = lambda message: None,
) -> Pulled | None:  # fmt: skip
    """Clones that MuJoCo has taught, pulled towards logs and judged by those held out; None where they are too short."""
    recipe, (training, held_out) = recipe or LearnClone(), logs
    before = against.rival.errors(held_out)
    lesson = _Lesson(taught, against.identified, begins, recipe, seed)
    fitting = lesson.on(training)
    if fitting is None or not len(before):
        return None
    tell("having the clone imitate the identified simulator")
    begin = [fitting.imitating(clone, key_for(seed, "imitate", k)) for k, clone in enumerate(taught[: recipe.members])]
    weights = _chosen(lesson, begin[0], training, tell)
    tell(f"pulling {recipe.members} clones towards the logs")
    members = [fitting.pulled(begin[k % len(begin)], weights, key_for(seed, "pull", k)) for k in range(recipe.members)]
    whole = CloneSimulator(lesson.physics, members)
    belief = over_members(against.identified.belief, whole)
    return Pulled(tuple(members), belief, weights, compare(before, Candidate(whole, belief).errors(held_out), seed))


class _Lesson:
    """What a clone is pulled from."""

    def __init__(
        self, taught: Sequence[Clone], identified: Candidate, begins: tuple[Begin, ...], recipe: LearnClone, seed: int
    ) -> None:
        assert isinstance(identified.simulator, MujocoSimulator)
        self.physics, self.belief = identified.simulator, identified.belief
        self.recipe, self.seed, self._begins = recipe, seed, begins
        self.simulator = CloneSimulator(self.physics, taught[:1])

    def on(self, logs: list[Log]) -> Puller | None:
        """What pulls towards some logs; None where they are too short."""
        found = windowed(self.physics, self.belief, logs, self.recipe.window_s, self.recipe.windows)
        if found is None:
            return None
        rng = generator_for(self.seed, "replay")
        replay = replayed(self.physics, self.belief, self._begins, found.windows, self.recipe.replay, rng)
        return Puller(self.simulator, found, replay, self.recipe.pull)

    def left(self, clone: Clone, logs: list[Log]) -> float:
        """The typical error of a clone, as the logarithm of a geometric mean; infinite where the logs are too short."""
        errors = prediction_errors(self.simulator.with_members([clone]), self.belief, logs)
        return float(np.log(np.maximum(errors, 1e-12)).mean()) if len(errors) else np.inf


def _chosen(lesson: _Lesson, begin: Clone, logs: list[Log], tell: Tell) -> Weights:
    """The weights that foretell logs set aside best, one kind after the other, so that those held out judge only once.

    Where nothing can be set aside, the most cautious ones.
    """
    fitted, aside = split(logs)
    recipe, puller = lesson.recipe, lesson.on(fitted)
    cautious = Weights(recipe.replays[0], 0.0, False)
    if puller is None or not np.isfinite(lesson.left(begin, aside)):
        return cautious

    @cache
    def left(weights: Weights) -> float:
        tell(f"trying a clone with replay {weights.replay:g}, contrast {weights.contrast:g}, trunk {weights.trunk}")
        return lesson.left(puller.pulled(begin, weights, key_for(lesson.seed, "pull", 0)), aside)

    best = min((Weights(r, 0.0, True) for r in recipe.replays), key=left)
    best = min((best, replace(best, trunk=False)), key=left)
    return min((replace(best, contrast=c) for c in recipe.contrasts), key=left)
