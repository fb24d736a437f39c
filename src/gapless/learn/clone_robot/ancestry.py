"""Teach an ancestor: many relatives step by one set of layers, each with nothing of its own but what it answered to questions."""

import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, Int, PRNGKeyArray

from gapless.simulators.neural.ancestor import ANSWERS, SLOTS, TOLD, Ancestor
from gapless.simulators.neural.clone import Clone, Limb, Trunk
from gapless.simulators.neural.skeleton import Skeleton

from .cousins import Cousin
from .fit import Body, FitClone, Stage, new_limb, picked, stretch_loss
from .lessons import Lessons, Teach, lessons
from .questions import introduced

PARAMS = 8
"""Parameters that there is room for."""


Row = Array | np.ndarray


class Relative(NamedTuple):
    """A robot in slots: its lessons, its scales, what is in each slot, and its answers. Arrays may lead with the robot."""

    lessons: Lessons
    shift: Row
    scale: Row
    change: Row
    curve: Row
    turned: Row
    slid: Row
    there: Row
    """1 where the slot is taken."""
    middle: Row
    slope: Row


def in_slots(cousin: Cousin, recipe: Teach, rng: np.random.Generator) -> Relative:
    """A relative, with lessons drawn for it."""
    physics = cousin.physics
    skeleton = Skeleton(physics.model, physics.interface.period_s)
    found = lessons(physics, cousin.reach, (), recipe, rng)
    limb = new_limb(Trunk(jax.random.key(0), 1, 1, 1), Body(skeleton, found), jax.random.key(0))
    robot = introduced(physics, limb)
    told, slots = TOLD - 2 * SLOTS, [*range(skeleton.joints)]
    slope = np.zeros((PARAMS, ANSWERS), np.float32)
    slope[: len(robot.slope)] = robot.slope
    wide = Lessons(
        _put(found.position, slots, SLOTS),
        _put(found.velocity, slots, SLOTS),
        _put(found.control, robot.columns[robot.columns >= told] - told, 2 * SLOTS),
        _put(found.shares, [*range(found.shares.shape[1])], PARAMS),
        found.counts,
    )
    shift, scale = (_put(np.asarray(x), robot.columns, TOLD) for x in (limb.shift, limb.scale))
    change, curve = (_put(np.asarray(x), slots, SLOTS, 1.0) for x in (limb.change, limb.curve))
    turned, slid, there = (_put(x, slots, SLOTS) for x in (skeleton.turned, skeleton.slid, np.ones(len(slots))))
    return Relative(wide, shift, scale, change, curve, turned, slid, there, robot.middle, slope)


def _put(
    x: np.ndarray, into: Sequence[int] | Int[np.ndarray, " column"], width: int, otherwise: float = 0.0
) -> np.ndarray:
    wide = np.full((*x.shape[:-1], width), otherwise, np.float32)
    wide[..., into] = x
    return wide


class Slots:
    """A relative's motion as features; the counterpart of `Skeleton` where robots are rows of arrays."""

    def __init__(self, robot: Relative, period_s: float) -> None:
        self.period_s, self._robot = period_s, robot

    def features(self, position: Float[Array, "world slot"], velocity: Float[Array, "world slot"]) -> Array:
        """Rows of an ancestor's way in, but for commands."""
        robot = self._robot
        turned = [robot.turned * f(position) for f in (jnp.sin, jnp.cos)]
        return jnp.concatenate([*turned, robot.slid * position, velocity], 1)


def descendant(ancestor: Ancestor, robot: Relative) -> Clone:
    """The clone of a relative, in slots; what is not there never moves."""
    like = eqx.filter_eval_shape(lambda key: Limb(ancestor.trunk, TOLD, PARAMS, SLOTS, key), jax.random.key(0))
    there = jnp.concatenate([robot.there] * 2)
    leave = ancestor.leave.weight * there, ancestor.leave.bias * there
    new = (
        *ancestor.embedded(jnp.asarray(robot.middle), jnp.asarray(robot.slope)),
        ancestor.enter.weight,
        ancestor.enter.bias,
        *leave,
    )
    new += (robot.shift, robot.scale, robot.change, robot.curve)
    where = lambda m: (  # noqa: E731
        m.embed.weight, m.embed.bias, m.enter.weight, m.enter.bias, m.leave.weight, m.leave.bias,
        m.shift, m.scale, m.change, m.curve,
    )  # fmt: skip
    return Clone(ancestor.trunk, eqx.tree_at(where, like, new))


def foretelling_loss(ancestor: Ancestor, robot: Relative, piece: Lessons, period_s: float) -> Float[Array, ""]:
    """The loss of a relative's clone; slots that are empty count as right."""
    skeleton: Any = Slots(robot, period_s)
    return stretch_loss(descendant(ancestor, robot), skeleton, piece) * SLOTS / robot.there.sum()


class Ancestry:
    """The fit of an ancestor, by Adam over relatives drawn at random."""

    def __init__(self, relatives: Relative, recipe: FitClone, together: int, period_s: float) -> None:
        self.recipe, self._together, self._period_s = recipe, together, period_s
        self._relatives = jax.tree.map(jnp.asarray, relatives)
        self._adam = optax.chain(optax.clip_by_global_norm(1.0), optax.scale_by_adam())
        self._some = eqx.filter_jit(self._steps)

    def run(
        self, ancestor: Ancestor, key: PRNGKeyArray, tell: Callable[[float, int, float, Ancestor], None]
    ) -> Ancestor:
        """Stages one after the other, each for its share of the time or of the steps."""
        memory, done, began = self._adam.init(eqx.filter(ancestor, eqx.is_array)), 0, time.perf_counter()
        recipe, share, until = self.recipe, 0.0, 0
        total = sum(s.steps for s in recipe.stages)
        for stage in recipe.stages:
            until += stage.steps
            while share < until / total - 1e-9:
                rate = jnp.float32(recipe.rate * (0.5 + 0.5 * np.cos(np.pi * min(share, 1.0))) + 1e-6)
                keys = jax.random.split(jax.random.fold_in(key, done), recipe.chunk)
                (ancestor, memory), losses = self._some((ancestor, memory), self._relatives, rate, keys, stage)
                done += recipe.chunk
                loss = float(losses.mean())
                spent = time.perf_counter() - began
                share = done / total if recipe.seconds is None else spent / recipe.seconds
                tell(share, done, loss, ancestor)
        return ancestor

    def _steps(self, held: Any, relatives: Relative, rate: Array, keys: Array, stage: Stage) -> Any:
        arrays, static = eqx.partition(held[0], eqx.is_array)

        def step(held: Any, key: PRNGKeyArray) -> Any:
            arrays, memory = held
            which = jax.random.split(key)
            rows = jax.random.randint(which[0], (self._together,), 0, relatives.shift.shape[0])
            some = jax.tree.map(lambda x: x[rows], relatives._replace(lessons=()))
            pieces = jax.vmap(lambda row, key: _of_row(relatives.lessons, row, stage, key))(
                rows, jax.random.split(which[1], self._together)
            )

            def loss(arrays: Any) -> Array:
                ancestor = eqx.combine(arrays, static)
                one = lambda robot, piece: foretelling_loss(ancestor, robot, piece, self._period_s)  # noqa: E731
                return jax.vmap(one)(some, pieces).mean()

            found, grads = jax.value_and_grad(loss)(arrays)
            change, memory = self._adam.update(grads, memory)
            return (jax.tree.map(lambda a, by: a - rate * by, arrays, change), memory), found

        (arrays, memory), losses = jax.lax.scan(step, (arrays, held[1]), keys)
        return (eqx.combine(arrays, static), memory), losses


def _of_row(found: Lessons, row: Array, stage: Stage, key: PRNGKeyArray) -> Lessons:
    return picked(jax.tree.map(lambda x: x[row], found), stage, key)
