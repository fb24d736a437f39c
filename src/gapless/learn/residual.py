"""Logs → a learned residual, from motion alone: kept only where it predicts held-out logs better than the physics without it."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import numpy as np
from jaxtyping import Float

from gapless.core import GaplessError, Gaussian, generator_for
from gapless.logs import Parted
from gapless.simulators import Around, MujocoSimulator
from gapless.simulators.parts import Residual

from .additive import Chooser, Pick, named, spelled
from .held_out import Comparison, compare, prediction_errors
from .identify import Identified, Identify, identify
from .knots import Linear, linearise
from .outfit import Form, driven_only, natural_sizes, outfitted, silent_residual, smoothed, travels
from .windows import Windows, cut_all, per_query, thin


@dataclass(frozen=True)
class LearnResidual:
    """Learn what the equations leave out."""

    kind: Literal["force", "action", "state"] = "force"
    """Forces on joints, changes of commands, or changes of the driven joints' velocities."""
    members: int = 6
    """Independent members of the ensemble, an even number."""
    history: int = 4
    """Control periods over which it sees velocities change, the present one included."""
    recall: int = 12
    """Control periods over which it sees commands change, likewise."""
    windows_s: tuple[float, ...] = (0.3, 0.5)
    """Lengths of the windows that it is learned from: short ones stay near the truth, long ones tell small forces; held-out
    logs choose."""
    windows: int = 120
    """Windows used at most."""
    rounds: int = 2
    """Times that windows are simulated anew with what was learned so far: the first is one step, the others are rollouts."""
    worth: float = 1.5
    """Held-out chi-square of the physics alone below which there is nothing left to learn."""
    refit: Identify | None = field(
        default_factory=lambda: Identify(
            "least-squares", windows=80, iterations=10, posterior="gaussian", anchored=None
        )
    )
    """How the parameters are refitted in its presence, if at all; they stay as unsure as without it."""

    def __post_init__(self) -> None:
        if (
            min(self.members, self.history, self.recall, self.rounds) < 1
            or not self.windows_s
            or min(self.windows_s) <= 0
        ):
            raise GaplessError("a residual needs members, history, recall and rounds of at least 1 and windows_s > 0.")


@dataclass(frozen=True)
class Learnt:
    """A residual that predicts better, and the belief about the parameters beside it."""

    residual: Residual
    identified: Identified
    held_out: Comparison
    terms: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """By correction, what it depends on, as `terms.py` calls it."""


def with_residual(simulator: MujocoSimulator, residual: Residual) -> MujocoSimulator:
    """The simulator with a residual beside its physics."""
    return simulator.with_around(Around(residual=residual, parameters=residual.parameters))


def learn_residual(
    simulator: MujocoSimulator,
    prior: Gaussian,
    found: Identified,
    logs: Parted,
    recipe: LearnResidual | None = None,
    seed: int = 0,
    tell: Callable[[str], None] = lambda message: None,
) -> Learnt | None:
    """The residual beside what was identified without it, or None where it would not predict the held-out logs better."""
    recipe = recipe or LearnResidual()
    before = prediction_errors(simulator, found.belief, logs.held_out)
    if not len(before) or found.chi_square < recipe.worth:
        return None
    cuts = [cut_all(simulator, logs.training, seconds) for seconds in recipe.windows_s]
    lessons = [_Lesson(simulator, found, thin(w, recipe.windows), recipe) for w in cuts if w is not None]
    tries = [made for lesson in lessons for made in _rounds(lesson, seed, tell)]
    if not tries:
        return None
    if recipe.refit is not None:
        tell("refitting the parameters beside the residual")
    return _confirmed(lessons[0], tries, before, _moved(prior, found.belief), logs, seed)


@dataclass(frozen=True)
class _Try:
    """A residual, and what it was made of."""

    residual: Residual
    pick: Pick


@dataclass(frozen=True)
class _Lesson:
    """What a residual is learned from: windows, and the simulator as it was identified without one."""

    simulator: MujocoSimulator
    found: Identified
    windows: Windows
    recipe: LearnResidual

    @cached_property
    def silent(self) -> Residual:
        r = self.recipe
        form = Form(r.kind, r.history, r.recall, r.members)
        return silent_residual(self.simulator, form, travels(self.simulator, self.windows))

    @cached_property
    def sizes(self) -> dict[str, float]:
        return natural_sizes(self.simulator, self.silent, self.windows)

    def around(self, residual: Residual) -> Linear:
        """The windows linearised around a residual."""
        level = per_query(self.windows, self.found.noise)
        return linearise(self.simulator, residual, self.found.belief.mean(), self.windows, level, self.sizes)


def _confirmed(
    lesson: _Lesson, tries: list[_Try], before: Float[np.ndarray, " window"], prior: Gaussian,
    logs: Parted, seed: int,
) -> Learnt | None:  # fmt: skip
    """The residual that predicts the held-out logs better; None where none does."""
    simulator, found, (training, held_out) = lesson.simulator, lesson.found, logs
    errors = [prediction_errors(with_residual(simulator, t.residual), found.belief, held_out) for t in tries]
    best = int(np.argmin([np.median(e) for e in errors]))
    whole, after, known = with_residual(simulator, tries[best].residual), errors[best], found
    if lesson.recipe.refit is not None:
        again = identify(whole, prior, training, held_out, lesson.recipe.refit, seed)
        refitted = prediction_errors(whole, again.belief, held_out)
        if np.median(refitted) <= np.median(after):
            after, known = refitted, _no_surer(again, found)
    judged = compare(before, after, seed)
    return Learnt(tries[best].residual, known, judged, named(tries[best].pick.terms)) if judged.better else None


def _no_surer(refitted: Identified, found: Identified) -> Identified:
    """What was refitted, as unsure as without the residual: it speaks for the motions that it saw, and a policy makes others."""
    b = refitted.belief
    return replace(refitted, belief=Gaussian(b.names, b.centre, found.belief.covariance, b.low, b.high))


def _rounds(lesson: _Lesson, seed: int, tell: Callable[[str], None]) -> list[_Try]:
    """The residual after each round, of driven joints alone and of all; none where windows left out are explained by neither."""
    first, tries = lesson.around(lesson.silent), []
    whole = _outfit(lesson.silent, first, lesson.sizes)
    chooser = Chooser(whole, first, generator_for(seed, "residual", "waves"))
    for pick in _picks(chooser, whole):
        made, rng = chooser.sum_of(pick), generator_for(seed, "residual", "members")
        residual = made.regressed(first, rng)
        tries.append(_Try(residual, pick))
        for k in range(1, lesson.recipe.rounds):
            tell(f"learning a residual ({spelled(pick.terms)}), round {k + 1} of {lesson.recipe.rounds}")
            residual = made.regressed(lesson.around(residual), rng)
            tries.append(_Try(residual, pick))
    return tries


def _picks(chooser: Chooser, residual: Residual) -> list[Pick]:
    """What windows left out want of driven joints alone, and of all joints where that is better still."""
    driven, every = chooser.pick(driven_only(residual)), chooser.pick(residual)
    return [p for p, least in ((driven, 1.0), (every, driven.left)) if p.left < least]


def _moved(prior: Gaussian, found: Gaussian) -> Gaussian:
    """The prior with its centre where the parameters were found: that is where the refit begins."""
    mean = found.mean()
    centre = np.clip([float(mean[n]) for n in prior.names], prior.low, prior.high)
    return Gaussian(prior.names, centre, prior.covariance, prior.low, prior.high)


def _outfit(residual: Residual, linear: Linear, sizes: dict[str, float]) -> Residual:
    asked = smoothed(linear, sizes)
    made = tuple(outfitted(c, linear.saw[c.name], asked[c.name]) for c in residual.corrections)
    return Residual(made, residual.heard)
