"""Logs → a learned residual, from motion alone: kept only where it predicts held-out logs better than the physics without it."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from gapless.core import GaplessError, Gaussian, Log, generator_for
from gapless.logs import Parted
from gapless.simulators import Around, MujocoSimulator
from gapless.simulators.parts import Correction, Residual

from .held_out import Comparison, compare, prediction_errors
from .identify import Identified, Identify, identify
from .kernels import KERNELS, Kernel
from .knots import Linear, linearise
from .outfit import Form, driven_only, natural_sizes, outfitted, silent_residual, smoothed
from .ridge import Windowed, left_out, windowed
from .windows import Windows, cut, per_query, thin

UNRULY = (0.0, 0.03)
"""Shares of the forces' variance that no function may explain, to try."""
STRENGTHS = (0.01, 0.1, 1.0)
"""Variances of the corrections, over those of what the windows ask for, to try."""


@dataclass(frozen=True)
class LearnResidual:
    """Learn what the equations leave out."""

    kind: Literal["force", "action", "state"] = "force"
    """Forces on joints, changes of commands, or changes of the driven joints' velocities."""
    members: int = 6
    """Independent members of the ensemble, an even number."""
    waves: int = 96
    """Hidden units of each network."""
    history: int = 4
    """Control periods that it looks back, the present one included."""
    recall: int = 12
    """Control periods that it looks back at commands."""
    window_s: float = 0.5
    """Length of the windows that it is learned from."""
    windows: int = 120
    """Windows used at most."""
    rounds: int = 2
    """Times that windows are simulated anew with what was learned so far: the first is one step, the others are rollouts."""
    worth: float = 1.5
    """Held-out chi-square of the physics alone below which there is nothing left to learn."""
    refit: Identify | None = field(
        default_factory=lambda: Identify(method="least-squares", windows=80, iterations=10, posterior="gaussian")
    )
    """How the parameters are refitted in its presence, if at all; they stay as unsure as without it."""

    def __post_init__(self) -> None:
        if min(self.members, self.waves, self.history, self.rounds) < 1 or self.window_s <= 0:
            raise GaplessError("a residual needs members, waves, history and rounds of at least 1 and window_s > 0.")


@dataclass(frozen=True)
class Learnt:
    """A residual that predicts better, and the belief about the parameters beside it."""

    residual: Residual
    identified: Identified
    held_out: Comparison


@dataclass(frozen=True)
class Choice:
    """How the networks are regressed."""

    among: Residual
    """The corrections that are learned."""
    kernel: Kernel
    unruly: float
    strength: float
    left: float
    """Share of the misfit that remains in windows left out."""


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
    windows = _windows(simulator, logs.training, recipe)
    before = prediction_errors(simulator, found.belief, logs.held_out)
    if windows is None or not len(before) or found.chi_square < recipe.worth:
        return None
    lesson = _Lesson(simulator, found, windows, recipe)
    tries = _rounds(lesson, seed, tell)
    if not tries:
        return None
    if recipe.refit is not None:
        tell("refitting the parameters beside the residual")
    return _confirmed(lesson, tries, before, _moved(prior, found.belief), logs, seed)


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
        return silent_residual(self.simulator, Form(r.kind, r.history, r.recall, r.waves, r.members))

    @cached_property
    def sizes(self) -> dict[str, float]:
        return natural_sizes(self.simulator, self.silent, self.windows)

    def around(self, residual: Residual) -> Linear:
        """The windows linearised around a residual."""
        level = per_query(self.windows, self.found.noise)
        return linearise(self.simulator, residual, self.found.belief.mean(), self.windows, level, self.sizes)


def _confirmed(
    lesson: _Lesson, tries: list[Residual], before: Float[np.ndarray, " window"], prior: Gaussian,
    logs: Parted, seed: int,
) -> Learnt | None:  # fmt: skip
    """The residual that predicts the held-out logs better; None where none does."""
    simulator, found, (training, held_out) = lesson.simulator, lesson.found, logs
    errors = [prediction_errors(with_residual(simulator, r), found.belief, held_out) for r in tries]
    best = int(np.argmin([np.median(e) for e in errors]))
    if lesson.recipe.refit is None:
        judged = compare(before, errors[best], seed)
        return Learnt(tries[best], found, judged) if judged.better else None
    whole = with_residual(simulator, tries[best])
    again = identify(whole, prior, training, held_out, lesson.recipe.refit, seed)
    refitted = prediction_errors(whole, again.belief, held_out)
    better = np.median(refitted) <= np.median(errors[best])
    judged = compare(before, refitted if better else errors[best], seed)
    return Learnt(tries[best], _no_surer(again if better else found, found), judged) if judged.better else None


def _no_surer(refitted: Identified, found: Identified) -> Identified:
    """What was refitted, as unsure as without the residual: it speaks for the motions that it saw, and a policy makes others."""
    b = refitted.belief
    return replace(refitted, belief=Gaussian(b.names, b.centre, found.belief.covariance, b.low, b.high))


def _rounds(lesson: _Lesson, seed: int, tell: Callable[[str], None]) -> list[Residual]:
    """The residual after each round, for every choice; none where windows left out are not explained by any."""
    first, tries = lesson.around(lesson.silent), []
    whole = _outfit(lesson.silent, first, lesson.sizes)
    for choice in _choices(whole, first, generator_for(seed, "residual", "choice")):
        residual, linear, rng = choice.among, first, generator_for(seed, "residual", "members")
        for k in range(lesson.recipe.rounds):
            tell(f"learning a residual on {len(residual.corrections)} joints, round {k + 1} of {lesson.recipe.rounds}")
            linear = lesson.around(residual) if k else first
            residual = _regressed(residual, linear, choice, rng)
            tries.append(residual)
    return tries


def _windows(simulator: MujocoSimulator, logs: list[Log], recipe: LearnResidual) -> Windows | None:
    windows = cut(simulator, logs, recipe.window_s)
    return None if windows is None else thin(windows, recipe.windows)


def _moved(prior: Gaussian, found: Gaussian) -> Gaussian:
    """The prior with its centre where the parameters were found: that is where the refit begins."""
    mean = found.mean()
    centre = np.clip([float(mean[n]) for n in prior.names], prior.low, prior.high)
    return Gaussian(prior.names, centre, prior.covariance, prior.low, prior.high)


def _outfit(residual: Residual, linear: Linear, sizes: dict[str, float]) -> Residual:
    asked = smoothed(linear, sizes)
    return Residual(tuple(outfitted(c, _rows(linear.saw[c.name]), asked[c.name]) for c in residual.corrections))


def _choices(residual: Residual, linear: Linear, rng: np.random.Generator) -> list[Choice]:
    """How windows left out are predicted best by driven joints alone, and by all joints where that is better still."""
    layers = [{c.name: k.layer(c.sight, c.networks.width_size, rng) for c in residual.corrections} for k in KERNELS]
    found = [_best(among, linear, layers) for among in (driven_only(residual), residual)]
    return [c for c, least in zip(found, (1.0, min(1.0, found[0].left)), strict=True) if c.left < least]


def _best(among: Residual, linear: Linear, layers: list[dict[str, tuple]]) -> Choice:
    """The kernel and its strength that predict windows left out best."""
    found = []
    for kernel, waves in zip(KERNELS, layers, strict=True):
        plain = _design(among, linear, waves, 0.0)
        for unruly in UNRULY:
            design = plain if unruly == 0 else _design(among, linear, waves, unruly)
            found += [Choice(among, kernel, unruly, s, left_out(design, plain, s)) for s in STRENGTHS]
    return min(found, key=lambda c: c.left)


def _regressed(residual: Residual, linear: Linear, choice: Choice, rng: np.random.Generator) -> Residual:
    """Members one by one, each with waves and weights of the windows of its own."""
    every = []
    for _ in range(residual.members):
        layers = {c.name: choice.kernel.layer(c.sight, c.networks.width_size, rng) for c in residual.corrections}
        design = _design(residual, linear, layers, choice.unruly)
        trust = rng.exponential(size=len(linear.misfit))
        parts = np.split(design.solve(choice.strength, trust), len(residual.corrections))
        every.append([(*layers[c.name], w) for c, w in zip(residual.corrections, parts, strict=True)])
    made = [_with_members(c, [m[k] for m in every]) for k, c in enumerate(residual.corrections)]
    return Residual(tuple(made))


def _design(residual: Residual, linear: Linear, layers: dict[str, tuple], unruly: float) -> Windowed:
    """Waves of all corrections side by side, each in units of its bound."""
    count, periods = linear.said[residual.corrections[0].name].shape
    total, width = len(residual.corrections), residual.corrections[0].networks.width_size
    waves = np.zeros((count, total, periods, total, width))
    answers, target = [], linear.misfit
    for k, c in enumerate(residual.corrections):
        weights, phases = layers[c.name]
        normal = np.asarray(_normal(c, _rows(linear.saw[c.name])), np.float64)
        near = np.asarray(_nearness(c, normal), np.float64)
        shape = near[:, None] * np.sin(normal @ weights.T + phases) * _amplitude(c)
        waves[:, k, :, k] = shape.reshape(count, periods, width)
        answers.append(linear.answer[c.name] * float(c.bound))
        target = target - np.einsum("wqp,wp->wq", linear.answer[c.name], linear.said[c.name])
    flat = waves.reshape(count, total * periods, total * width)
    return windowed(target, np.concatenate(answers, axis=-1), flat, unruly * _TYPICAL**2)


_TYPICAL = 0.4
"""The deviation of what the windows ask for, over the bound, were it normal: the bound is 1.5 times its 90th percentile."""


def _amplitude(correction: Correction) -> float:
    return _TYPICAL * np.sqrt(2 / correction.networks.width_size)


def _with_members(correction: Correction, members: list[tuple]) -> Correction:
    weights, phases, last = (np.stack(v) for v in zip(*members, strict=True))
    last = (last * _amplitude(correction))[:, None]
    return eqx.tree_at(
        lambda c: (c.networks.layers[0].weight, c.networks.layers[0].bias, c.networks.layers[1].weight),
        correction,
        tuple(jnp.asarray(v, jnp.float32) for v in (weights, phases, last)),
    )


def _rows(saw: Float[np.ndarray, "window period history channel"]) -> Float[np.ndarray, "row history channel"]:
    return saw.reshape(-1, *saw.shape[2:])


@eqx.filter_jit
def _normal(correction: Correction, frames: np.ndarray) -> jax.Array:
    return jax.vmap(correction.normal)(jnp.asarray(frames, jnp.float32))


@eqx.filter_jit
def _nearness(correction: Correction, normal: np.ndarray) -> jax.Array:
    return jax.vmap(correction.nearness)(jnp.asarray(normal, jnp.float32))
