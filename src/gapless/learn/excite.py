"""The next motion, chosen by what it would teach, inside the limits in every simulation that the belief allows."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, PRNGKeyArray

from gapless.core import Block, GaplessError, Gaussian, Interface, Params, Simulator, generator_from
from gapless.simulators.quiet import quietly

from .excitation import AroundPolicy, Excitation
from .holding import pull_of, reach_of
from .motions import LOUDNESS, STEPS, Band, Genomes, firmness_of, first_genomes, quieter, rows_of
from .teaching import Course, Teaching
from .trial import Trial

PARENTS, FINALISTS, CHANGED, FINER = 3, 3, 0.35, 0.85
"""Best motions that have children and that are confirmed, share of genes that a child changes, and by how much less each time."""
POOL, PROBES, PROBE_S = 6, 4, 2.0
"""Draws looked through for each doubt, by how near to the limits they bring a few short motions."""
FIRST_ROUNDS, ROUNDS = 2, 8
"""How often motions outside the limits are made quieter: those of the first generation, and the finalists."""
GUESSED_NOISE = 0.002
"""Noise of a sensor of which nothing is known yet, as a share of how far it moves."""


@dataclass(frozen=True)
class Excite:
    """Choose the next motion by what it would teach."""

    candidates: int = 8
    """Motions tried in each generation."""
    generations: int = 4
    """Generations, the first of which is random; each improves on the best of those before."""
    doubts: int = 24
    """Draws from the belief by which finalists are chosen: the riskiest of six times as many, all of which the motion stands."""
    watched: int = 3
    """Draws among them in which every motion is tried."""
    scored: int = 2
    """Draws in which it is worked out what a motion teaches."""
    share: float = 0.8
    """Largest command used, as a share of its limit."""
    margin: float = 0.75
    """Share of the way to the measured limits that the simulated motions may use."""
    pull: float = 0.35
    """Weakest pull towards the middle, at the margin, as a share of the largest command used; motions choose theirs."""
    slowest_hz: float = 0.25
    """Slowest sine."""
    fastest_hz: float = 3.0
    """Fastest sine."""
    window_s: float = 0.6
    """Length of the windows that identification will cut, in the end."""

    def __post_init__(self) -> None:
        counts = self.candidates, self.generations, self.doubts, self.watched, self.scored
        if min(counts) < 1 or self.scored > POOL or not 0 < self.share <= 1 or not 0 < self.margin <= 1:
            raise GaplessError(
                f"excite needs counts of at least 1, scored up to {POOL}, and share and margin above 0 and up to 1."
            )

    @property
    def band(self) -> Band:
        return Band(self.slowest_hz, self.fastest_hz, self.share)


class Design(NamedTuple):
    """A chosen motion and what it promises."""

    motion: Block
    rows: Float[np.ndarray, "period command"]
    """The commands, or what is added to the policy's."""
    now: dict[str, float]
    """Deviation of each parameter today."""
    after: dict[str, float]
    """Deviation that is expected after the motion."""
    usage: float
    """The largest share of the way to a limit in any draw."""
    course: Course
    """How the motion goes, at the belief's centre and then in every draw."""


class _Tried(NamedTuple):
    """A generation: genomes, how near the limits they come, and what they leave unknown (a log; lower is better)."""

    genomes: Genomes
    usage: Float[np.ndarray, " motion"]
    cost: Float[np.ndarray, " motion"]


class Wanted(NamedTuple):
    """The motion that somebody asks for."""

    limits: Interface
    """What the robot can do, and may."""
    seconds: float
    around: Block | None = None
    """The policy that it is added to; by itself if not given."""


def excite(
    simulator: Simulator, belief: Gaussian, limits: Interface, seconds: float, recipe: Excite, key: PRNGKeyArray
) -> Excitation:
    """The motion that leaves least unknown about the belief's parameters among those inside the robot's limits."""
    found = design(simulator, belief, Wanted(limits, seconds), recipe, key).motion
    assert isinstance(found, Excitation)
    return found


@quietly()
def design(
    simulator: Simulator, belief: Gaussian, wanted: Wanted, recipe: Excite, key: PRNGKeyArray,
    tell: Callable[[float], None] = lambda share: None,
) -> Design:  # fmt: skip
    """The chosen motion, and what it is expected to teach."""
    return _Search(simulator, belief, wanted, recipe, key).best(tell)


class NoSafeMotion(GaplessError):
    """No motion stays inside the limits in every simulation that the belief allows."""


class _Search:
    """Evolution of motions under one belief; each generation is one call of the batch."""

    def __init__(
        self, simulator: Simulator, belief: Gaussian, wanted: Wanted, recipe: Excite, key: PRNGKeyArray
    ) -> None:
        limits, seconds, policy = wanted
        self.simulator, self.belief, self.recipe, self.rng = simulator, belief, recipe, generator_from(key)
        self.reach = reach_of(simulator, limits)
        self.trial = Trial(simulator, limits, self.reach)
        if policy is None:
            self.trial.pull, self.trial.middle = pull_of(
                simulator, limits, self.reach, recipe.share * recipe.pull, recipe.margin
            )
        self.trial.policy = policy
        self.times = np.arange(self._periods(seconds)) * simulator.interface.period_s
        self.draws = self._draws(jax.random.key(int(self.rng.integers(2**31))))

    def best(self, tell: Callable[[float], None]) -> Design:
        """Random families first, then what comes of the best; the chosen one holds in every draw."""
        recipe = self.recipe
        random = quieter(self._random(recipe.candidates), np.array([self.first_loudness]))
        first, courses = self._as_loud_as_safe(random)
        self.teaching = Teaching(self.simulator, self.belief, noise_of(self.belief, courses), recipe.window_s)
        tried = self._judged(first, courses)
        for k in range(1, recipe.generations):
            tell(k / (recipe.generations + 1))
            tried = _joined(tried, self._generation(tried, k - 1))
        return self._confirmed(tried)

    def _draws(self, key: PRNGKeyArray) -> Params:
        """The belief's centre, draws to score motions in, and those of a pool that come nearest to the limits, nearest first."""
        recipe, belief = self.recipe, self.belief
        found = belief.sample(key, POOL * recipe.doubts)
        centre = dict(zip(belief.names, belief.centre, strict=True))
        self.pool = {k: np.concatenate([[centre[k]], np.asarray(v, np.float64)]) for k, v in found.items()}
        probes = self._random(PROBES)
        rows = self._rows(probes)[:, : self._periods(PROBE_S)]
        usage = self.trial.usage(self.trial.run(self.pool, rows, firmness_of(probes)))
        self.first_loudness = float(np.median(_turned_down(usage.max(axis=1), recipe.margin)))
        # What endangers a loosely held motion need not endanger a firmly held one: every probe names its riskiest in turn.
        rank = np.argsort(np.argsort(-usage, axis=1, kind="stable"), axis=1)
        nearest = np.argsort(rank.min(axis=0), kind="stable")[: recipe.doubts]
        return {k: v[[*range(recipe.scored), *nearest]] for k, v in self.pool.items()}

    def _periods(self, seconds: float) -> int:
        return round(seconds / self.simulator.interface.period_s) + 1

    def _some(self, which: np.ndarray) -> Params:
        return {k: v[which] for k, v in self.draws.items()}

    def _random(self, count: int) -> Genomes:
        return first_genomes(count, self.simulator.interface.command_width, self.recipe.band, self.rng)

    def _rows(self, genomes: Genomes) -> np.ndarray:
        rows = rows_of(genomes, self.reach, self.times, self.recipe.band)
        return rows if self.trial.policy is None else rows - self.reach.rest

    def _courses(self, genomes: Genomes) -> Course:
        return self.trial.run(
            self._some(np.arange(self.recipe.scored + min(self.recipe.watched, self.recipe.doubts))),
            self._rows(genomes),
            firmness_of(genomes),
        )

    def _as_loud_as_safe(self, genomes: Genomes) -> tuple[Genomes, Course]:
        """Each motion made quieter until it stays inside the margin, and how it goes; some may stay outside."""
        course = self._courses(genomes)
        for _ in range(FIRST_ROUNDS):
            usage = self.trial.usage(course).max(axis=1)
            loud = usage > self.recipe.margin
            if not loud.any():
                break
            genomes = quieter(genomes, np.where(loud, _turned_down(usage, self.recipe.margin), 1.0))
            course = self._courses(genomes)
        return genomes, course

    def _judged(self, genomes: Genomes, course: Course) -> _Tried:
        usage, scored = self.trial.usage(course).max(axis=1), self.recipe.scored
        cost = np.log(self._expected(course, np.arange(scored)).mean(axis=-1)).mean(axis=1)
        return _Tried(genomes, usage, np.where(usage <= self.recipe.margin, cost, np.inf))

    def _expected(self, course: Course, which: np.ndarray) -> Float[np.ndarray, "motion draw param"]:
        return self.teaching.expected(self._some(which), course.in_draws(len(which)))

    def _generation(self, tried: _Tried, age: int) -> _Tried:
        """Children of the best, each pushed towards the margin: louder motions teach more."""
        best = np.argsort(tried.cost, kind="stable")[:PARENTS]
        parents = best[self.rng.integers(0, len(best), self.recipe.candidates)]
        genomes = tried.genomes[parents].copy()
        changed = self.rng.random(genomes.shape) < CHANGED
        finer = FINER**age
        genomes += changed * finer * STEPS * self.rng.standard_normal(genomes.shape)
        room = np.clip(0.97 * self.recipe.margin / np.maximum(tried.usage[parents], 1e-3), 0.5, 1.3)
        loudness = genomes[..., LOUDNESS] + np.log(room)[:, None]
        genomes[..., LOUDNESS] = np.minimum(loudness, np.log(self.recipe.share))
        return self._judged(genomes, self._courses(genomes))

    def _confirmed(self, tried: _Tried) -> Design:
        """The best of a few finalists that holds in all that was drawn from the belief, all of them quieter until one does."""
        genomes = tried.genomes[np.argsort(tried.cost, kind="stable")[:FINALISTS]]
        for _ in range(ROUNDS):
            rows, firmness = self._rows(genomes), firmness_of(genomes)
            course = self.trial.run(self.draws, rows, firmness)
            usage = self.trial.usage(course).max(axis=1)
            if usage.min() <= self.recipe.margin:
                best = int(np.argmax(usage <= self.recipe.margin))
                one = slice(best, best + 1)
                usage[best] = self.trial.usage(self.trial.run(self.pool, rows[one], firmness[one])).max()
                if usage[best] <= self.recipe.margin:
                    return self._design(rows[best], firmness[best], course.only(best), float(usage[best]))
            genomes = quieter(genomes, _turned_down(usage, self.recipe.margin))
        raise NoSafeMotion("no candidate motion stays inside the limits. Lower excite.share or widen the limits.")

    def _design(self, rows: np.ndarray, firmness: np.ndarray, course: Course, usage: float) -> Design:
        interface, policy, reach, trial = self.simulator.interface, self.trial.policy, self.reach, self.trial
        sent, low, high, most = (jnp.asarray(v, jnp.float32) for v in (rows, reach.low, reach.high, reach.most))
        if policy is None:
            pull = jnp.asarray(firmness[:, None] * trial.pull, jnp.float32)
            middle = jnp.asarray(trial.middle, jnp.float32)
            motion: Block = Excitation(interface, sent, pull, middle, low, high, most)
        else:
            motion = AroundPolicy(policy, interface, sent, low, high, most, jnp.asarray(reach.rest, jnp.float32))
        now, after = self.teaching.deviations(self.draws, course)
        return Design(motion, rows, now, after, usage, course)


def noise_of(belief: Gaussian, course: Course) -> dict[str, float]:
    """The sensors' deviations: as believed, or guessed from how far they move."""
    believed = dict(zip(belief.names, belief.centre, strict=True))
    moved = {n: float(np.std(np.nan_to_num(v))) for n, v in course.seen.items()}
    return {n: max(float(believed.get(f"{n}.noise", GUESSED_NOISE * m)), 1e-9) for n, m in moved.items()}


def _joined(a: _Tried, b: _Tried) -> _Tried:
    return _Tried(*(np.concatenate(pair) for pair in zip(a, b, strict=True)))


def _turned_down(usage: np.ndarray, margin: float) -> np.ndarray:
    """By how much to lower a motion that uses too much."""
    return np.clip(0.97 * margin / np.maximum(usage, 1e-9), 0.3, 0.9)
