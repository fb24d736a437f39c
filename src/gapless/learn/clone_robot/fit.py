"""Fit clones of several robots at once: one trunk, a limb each; first single periods, then stretches that feed on themselves."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, PRNGKeyArray

from gapless.core import GaplessError
from gapless.simulators.neural.clone import FROZEN, Clone, Limb, Trunk
from gapless.simulators.neural.skeleton import Skeleton

from .lessons import Lessons

BEND = 0.1
"""Errors, in typical changes over a period, beyond which they count in proportion and no longer by their square."""


@dataclass(frozen=True)
class Stage:
    """A part of the fit."""

    unroll: int
    """Periods that the clone goes on from its own predictions."""
    steps: int
    """Steps of Adam."""
    batch: int
    """Stretches per robot and step."""


@dataclass(frozen=True)
class FitClone:
    """How clones are fitted."""

    stages: tuple[Stage, ...] = (Stage(1, 4000, 1024), Stage(4, 2000, 512), Stage(12, 1500, 256))
    """One after the other."""
    rate: float = 2e-3
    """Learning rate at the start; it falls to nothing along a cosine over all stages."""
    chunk: int = 100
    """Steps compiled into one call, after which progress is told."""
    turns: bool = True
    """Whether robots take turns of `chunk` steps, which compiles sooner; else each step is about all of them."""
    seconds: float | None = None
    """Stop after this time, each stage taking its share of it, however many steps that is; what comes out is the machine's."""

    def __post_init__(self) -> None:
        if self.rate <= 0 or not self.stages or min(min(s.unroll, s.steps, s.batch) for s in self.stages) < 1:
            raise GaplessError(
                "fitting a clone needs a rate above 0 and stages of at least one step, stretch and period."
            )


class Body(NamedTuple):
    """A robot as the fit sees it."""

    skeleton: Skeleton
    lessons: Lessons


Family = tuple[Trunk, dict[str, Limb]]
"""Clones that share a trunk."""
Beginning = Trunk | Clone
"""What a fit begins with: a trunk, or a whole clone where there is one robot."""
Tell = Callable[[float, int, float, Family], None]
"""Share done, steps done, the loss, and the clones so far, whose arrays lead with members."""
Refill = Callable[[], Mapping[str, Lessons]]
"""Lessons that take the place of those so far, for robots that have new ones; as many as before, or all is compiled anew."""


def fit_clones(
    bodies: Mapping[str, Body], recipe: FitClone, members: int, key: PRNGKeyArray, begin_with: Sequence[Beginning] = (),
    tell: Tell = lambda share, steps, loss, family: None, refill: Refill = dict,
) -> list[dict[str, Clone]]:  # fmt: skip
    """Independent members, each with a clone of every robot; trunks to begin with give them their first weights, and
    clones those of their robot as well."""
    keys = jax.random.split(key, members + 1)
    first = [_new_family(bodies, k, begin_with[i] if begin_with else None) for i, k in enumerate(keys[:-1])]
    arrays, static = eqx.partition(first, eqx.is_array)
    family = eqx.combine(jax.tree.map(lambda *w: jnp.stack(w), *arrays), static[0])
    family = _Fit(bodies, recipe, refill).run(family, keys[-1], tell)
    return [clones_of(family, k) for k in range(members)]


def clones_of(family: Family, member: int) -> dict[str, Clone]:
    """One member of a family whose arrays lead with members."""
    trunk, limbs = jax.tree.map(lambda w: w[member] if eqx.is_array(w) else w, family)
    return {name: Clone(trunk, limb) for name, limb in limbs.items()}


class _Fit:
    """Adam over all robots and members at once."""

    def __init__(self, bodies: Mapping[str, Body], recipe: FitClone, refill: Refill) -> None:
        self.recipe, self._skeletons = recipe, {name: b.skeleton for name, b in bodies.items()}
        self._refill = refill
        self._lessons = {name: jax.tree.map(jnp.array, b.lessons) for name, b in bodies.items()}
        self._adam = optax.chain(optax.clip_by_global_norm(1.0), optax.scale_by_adam())
        self._steps = eqx.filter_jit(self._some_steps)

    def run(self, family: Family, key: PRNGKeyArray, tell: Tell) -> Family:
        arrays, static = eqx.partition(family, _fitted(family))
        memory = jax.vmap(self._adam.init)(arrays)
        done, total, began = 0, sum(s.steps for s in self.recipe.stages), time.perf_counter()
        share, until, names = 0.0, 0, tuple(sorted(self._skeletons))
        for stage in self.recipe.stages:
            until += stage.steps
            while share < until / total - 1e-9:
                self._lessons |= {name: jax.tree.map(jnp.array, found) for name, found in self._refill().items()}
                about = (names[done // self.recipe.chunk % len(names)],) if self.recipe.turns else names
                rate = jnp.float32(self.recipe.rate * (0.5 + 0.5 * np.cos(np.pi * share)) + 1e-6)
                count = self.recipe.chunk if self.recipe.seconds else min(self.recipe.chunk, until - done)
                keys = jax.random.split(jax.random.fold_in(key, done), count)
                (arrays, memory), losses = self._steps(
                    (arrays, memory), static, self._lessons, (rate, keys), (stage, about)
                )
                done += count
                spent = time.perf_counter() - began
                share = done / total if self.recipe.seconds is None else spent / self.recipe.seconds
                tell(share, done, float(losses.mean()), eqx.combine(arrays, static))
        return eqx.combine(arrays, static)

    def _some_steps(self, held: Any, static: Any, lessons: Any, turns: Any, what: tuple[Stage, tuple[str, ...]]) -> Any:
        rate, keys = turns
        members = jax.tree.leaves(held[0])[0].shape[0]

        def step(held: Any, key: PRNGKeyArray) -> Any:
            one = lambda held, static, key: self._step(held, static, lessons, key, what)  # noqa: E731
            change, memory, loss = eqx.filter_vmap(one)(held, static, jax.random.split(key, members))
            return (jax.tree.map(lambda a, by: a - rate * by, held[0], change), memory), loss

        return jax.lax.scan(step, held, keys)

    def _step(
        self, held: Any, static: Any, lessons: Any, key: PRNGKeyArray, what: tuple[Stage, tuple[str, ...]]
    ) -> Any:
        (arrays, memory), (stage, names) = held, what

        def loss(arrays: Any) -> Float[Array, ""]:
            trunk, limbs = eqx.combine(arrays, static)
            total = jnp.zeros(())
            for number, name in enumerate(names):
                piece = picked(lessons[name], stage, jax.random.fold_in(key, number))
                total += stretch_loss(Clone(trunk, limbs[name]), self._skeletons[name], piece)
            return total / len(names)

        found, grads = jax.value_and_grad(loss)(arrays)
        change, memory = self._adam.update(grads, memory)
        return change, memory, found


def stretch_loss(clone: Clone, skeleton: Skeleton, piece: Lessons) -> Float[Array, ""]:
    """Errors of a clone that goes on from its own predictions, those of later periods counting less."""
    modulation = clone.modulation(jnp.asarray(piece.shares))
    unit = jax.lax.stop_gradient(clone.limb.change)

    def period(state: Any, row: Any) -> Any:
        control, position, velocity, counts, age = row
        state = clone.advance(skeleton, modulation, state, control)
        far = _bent((state[0] - position) / (2 * skeleton.period_s * unit * age**1.5))
        fast = _bent((state[1] - velocity) / (unit * age))
        return state, ((far + fast).mean(-1) * counts).sum()

    after = [jnp.moveaxis(x, 1, 0)[1:] for x in (piece.position, piece.velocity, piece.counts)]
    rows = (jnp.moveaxis(piece.control, 1, 0), *after, 1.0 + jnp.arange(len(after[0])))
    _, errors = jax.lax.scan(period, (piece.position[:, 0], piece.velocity[:, 0]), rows)
    return errors.sum() / jnp.maximum(piece.counts[:, 1:].sum(), 1)


def foretold(
    clone: Clone, skeleton: Skeleton, lessons: Lessons
) -> tuple[Float[Array, "stretch moment joint"], Float[Array, "stretch moment joint"]]:
    """Positions and velocities from each stretch's start to its end, in open loop."""
    modulation = clone.modulation(jnp.asarray(lessons.shares))
    begun = jnp.asarray(lessons.position[:, 0]), jnp.asarray(lessons.velocity[:, 0])

    def body(state: Any, told: Array) -> Any:
        state = clone.advance(skeleton, modulation, state, told)
        return state, state

    _, after = jax.lax.scan(body, begun, jnp.moveaxis(jnp.asarray(lessons.control), 1, 0))
    p, v = (jnp.concatenate([b[:, None], jnp.moveaxis(a, 0, 1)], 1) for b, a in zip(begun, after, strict=True))
    return p, v


def _bent(error: Array) -> Array:
    return BEND * (jnp.sqrt(1 + (error / BEND) ** 2) - 1)


def picked(lessons: Lessons, stage: Stage, key: PRNGKeyArray) -> Lessons:
    """Random stretches, and of each a random piece as long as the clone goes on."""
    keys = jax.random.split(key)
    stretches, steps = lessons.control.shape[:2]
    unroll = min(stage.unroll, steps)
    which = jax.random.randint(keys[0], (stage.batch,), 0, stretches)[:, None]
    first = jax.random.randint(keys[1], (stage.batch, 1), 0, steps - unroll + 1)
    moments, periods = first + jnp.arange(unroll + 1), first + jnp.arange(unroll)
    return Lessons(
        lessons.position[which, moments],
        lessons.velocity[which, moments],
        lessons.control[which, periods],
        lessons.shares[which[:, 0]],
        lessons.counts[which, moments],
    )


def _new_family(bodies: Mapping[str, Body], key: PRNGKeyArray, begin: Beginning | None) -> Family:
    if isinstance(begin, Clone):
        (name,) = bodies
        return begin.trunk, {name: begin.limb}
    keys = jax.random.split(key, len(bodies) + 1)
    trunk = Trunk(keys[0]) if begin is None else begin
    return trunk, {name: new_limb(trunk, b, k) for (name, b), k in zip(sorted(bodies.items()), keys[1:], strict=True)}


def new_limb(trunk: Trunk, body: Body, key: PRNGKeyArray) -> Limb:
    """An untaught limb, with the scales of the lessons."""
    skeleton, x = body.skeleton, jax.tree.map(jnp.asarray, body.lessons)
    joints, width = skeleton.joints, skeleton.width + x.control.shape[2]
    now = [side[:, :-1].reshape(-1, joints) for side in (x.position, x.velocity)]
    told = jnp.concatenate([skeleton.features(*now), x.control.reshape(-1, x.control.shape[2])], 1)
    counts = x.counts[:, 1:, None]
    change = counts * (x.velocity[:, 1:] - x.velocity[:, :-1])
    mean = (x.velocity[:, 1:] + x.velocity[:, :-1]) / 2
    curve = counts * ((x.position[:, 1:] - x.position[:, :-1]) / skeleton.period_s - mean)
    limb = Limb(trunk, width, x.shares.shape[1], joints, key)
    measured = (told.mean(0), 1 / (told.std(0) + 1e-6), _spread(change), _spread(curve))
    return eqx.tree_at(lambda limb: tuple(getattr(limb, name) for name in FROZEN), limb, measured)


def _spread(x: Array) -> Float[Array, " joint"]:
    return jnp.sqrt((x**2).mean((0, 1))) + 1e-6


def _fitted(family: Family) -> Any:
    """Which arrays are fitted: all but the scales."""
    everything = jax.tree.map(eqx.is_inexact_array, family)
    frozen = lambda f: tuple(getattr(limb, n) for limb in f[1].values() for n in FROZEN)  # noqa: E731
    return eqx.tree_at(frozen, everything, replace_fn=lambda _: False)
