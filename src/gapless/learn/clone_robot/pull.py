"""Pull a clone towards recorded windows: Adam on their errors, on replayed simulation and on the contrast between the two."""

from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, PRNGKeyArray

from gapless.core import GaplessError
from gapless.simulators.neural.clone import FROZEN, Clone
from gapless.simulators.neural.simulator import CloneSimulator

from .contrast import contrast, usual_unit
from .fit import Stage, picked, stretch_loss
from .lessons import Lessons
from .recorded import Recorded, Windowed, errors

BEND = 3.0
"""Errors, in units of the level, beyond which they count in proportion and no longer by their square."""
CHUNK = 25


@dataclass(frozen=True)
class Weights:
    """What counts how much beside the recorded windows."""

    replay: float
    """Of stretches that the identified simulator plays."""
    contrast: float
    """Of telling real windows from simulated ones."""
    trunk: bool
    """Whether the trunk moves, too; else it stays as it was taught, and only the robot's own layers do."""


@dataclass(frozen=True)
class Pull:
    """How a clone is pulled."""

    rounds: int = 3
    """Times that starts are refitted under the clone as it is."""
    steps: int = 100
    """Steps of Adam in each."""
    rate: float = 1e-3
    """Learning rate at the start; it falls to nothing along a cosine."""
    windows: int = 48
    """Recorded windows per step."""
    stretches: int = 96
    """Simulated stretches per step."""
    unroll: int = 6
    """Periods of each."""

    def __post_init__(self) -> None:
        if min(self.rounds, self.steps, self.windows, self.stretches, self.unroll) < 1 or self.rate <= 0:
            raise GaplessError(
                "pulling a clone needs rounds, steps, windows, stretches, unroll of at least 1 and a rate > 0."
            )


class Puller:
    """Compiled once for a robot; pulls its clones with any weights."""

    def __init__(self, simulator: CloneSimulator, windowed: Windowed, replay: Lessons, recipe: Pull) -> None:
        self._simulator, self._windowed, self.recipe = simulator, windowed, recipe
        self._replay = jax.tree.map(jnp.asarray, replay)
        self._adam = optax.chain(optax.clip_by_global_norm(1.0), optax.scale_by_adam())
        self._steps = eqx.filter_jit(self._some_steps)

    def imitating(self, clone: Clone, key: PRNGKeyArray) -> Clone:
        """The clone after one round of replayed simulation alone: where the pull begins, it is the identified simulator."""
        trust = jnp.zeros(len(self._windowed.windows))
        return self._rounds(clone, 1, trust, (1.0, 0.0, 1.0), key)

    def pulled(self, clone: Clone, weights: Weights, key: PRNGKeyArray) -> Clone:
        """The clone after all rounds; each window counts by chance, so that keys make independent members."""
        trust = jax.random.exponential(jax.random.fold_in(key, 2**30), (len(self._windowed.windows),))
        scale = weights.replay, weights.contrast, float(weights.trunk)
        return self._rounds(clone, self.recipe.rounds, trust / trust.mean(), scale, key)

    def _rounds(self, clone: Clone, rounds: int, trust: Any, scale: tuple[float, ...], key: PRNGKeyArray) -> Clone:
        arrays, static = eqx.partition(clone, _fitted(clone))
        memory, steps = self._adam.init(arrays), self.recipe.steps
        sizes = tuple(jnp.float32(w) for w in scale)
        for done in range(0, rounds * steps, steps):
            met = self._windowed.met_by(self._simulator.with_members([eqx.combine(arrays, static)]))
            truth = jax.tree.map(jnp.asarray, met), trust
            for first in range(done, done + steps, CHUNK):
                rate = jnp.float32(self.recipe.rate * (0.5 + 0.5 * np.cos(np.pi * first / (rounds * steps))))
                keys = jax.random.split(jax.random.fold_in(key, first), min(CHUNK, done + steps - first))
                arrays, memory = self._steps((arrays, memory), static, (truth, self._replay), (rate, sizes), keys)
        return eqx.combine(arrays, static)

    def _some_steps(self, held: Any, static: Any, data: Any, sizes: Any, keys: Any) -> Any:
        rate, scale = sizes

        def step(held: Any, key: PRNGKeyArray) -> Any:
            arrays, memory = held
            grads = _with_trunk(jax.grad(self._loss)(arrays, static, data, scale, key), scale[2])
            change, memory = self._adam.update(grads, memory)
            return (jax.tree.map(lambda a, by: a - rate * by, arrays, change), memory), None

        return jax.lax.scan(step, held, keys)[0]

    def _loss(self, arrays: Any, static: Any, data: Any, scale: Any, key: PRNGKeyArray) -> Float[Array, ""]:
        clone, ((truth, trust), replay) = eqx.combine(arrays, static), data
        keys = jax.random.split(key)
        which = jax.random.choice(keys[0], len(trust), (min(self.recipe.windows, len(trust)),), replace=False)
        piece: Recorded = jax.tree.map(lambda x: x[which], truth)
        skeleton = self._simulator.skeleton
        left = errors(clone, skeleton, self._windowed.seen, piece)
        told = bent(left).mean(-1) + scale[1] * contrast(
            left, jnp.asarray(piece.simulated), usual_unit(truth.simulated)
        )
        stretches = picked(replay, Stage(self.recipe.unroll, 1, self.recipe.stretches), keys[1])
        return (trust[which] * told).mean() + scale[0] * stretch_loss(clone, skeleton, stretches)


def bent(error: Array) -> Array:
    """Half the square of small errors, and large ones in proportion."""
    return BEND**2 * (jnp.sqrt(1 + (error / BEND) ** 2) - 1)


def _with_trunk(grads: Any, share: Float[Array, ""]) -> Any:
    """Gradients with those of the trunk taken for a share."""
    return eqx.tree_at(lambda g: g.trunk, grads, jax.tree.map(lambda g: share * g, grads.trunk))


def _fitted(clone: Clone) -> Any:
    everything = jax.tree.map(eqx.is_inexact_array, clone)
    frozen = lambda c: tuple(getattr(c.limb, n) for n in FROZEN)  # noqa: E731
    return eqx.tree_at(frozen, everything, replace_fn=lambda _: False)
