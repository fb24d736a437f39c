"""A robot in a world that a network steps: what training needs to know of it is the contract of any simulator.

Properties of things are parameters, written into their embeddings world by world; with several clones, so is which of them steps
a world. A draw of both per episode is a draw from a belief.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from gapless.core import Belief, Chosen, GaplessError, Parameter, Params, Signals, by_world

from .clone import Clone, Moving, at, no_push, stacked
from .scene import Scene
from .table_simulator import TableSimulator
from .tabletop import SUBSTEPS, Tabletop

MEMBER = "clone.member"
"""The parameter that says which clone steps a world; numbers between two are rounded."""


class TableState(NamedTuple):
    """Every leaf has a leading world axis."""

    moving: Moving
    params: dict[str, Float[Array, " world"]]


class CloneRobot(TableSimulator):
    """A table whose contacts networks solve."""

    traceable = True

    def __init__(self, table: Tabletop, clones: Sequence[Clone], worlds: int = 1) -> None:
        if not clones:
            raise GaplessError("a robot in a cloned world needs at least one clone.")
        super().__init__(table, worlds)
        self.members = len(clones)
        if self.members > 1:
            choice = Parameter(MEMBER, "", 0.0, 0.0, self.members - 1.0, "contact", free=False)
            self.parameters = (*table.parameters, choice)
        self._ensemble = eqx.combine(*stacked(clones))

    def init(self) -> TableState:
        return self._begun({}, {})

    def reset(
        self, state: TableState, where: Any, params: Params, start: Signals, key: PRNGKeyArray
    ) -> tuple[TableState, Signals, Signals]:
        given = state.params | {k: jnp.broadcast_to(jnp.asarray(v), (self.worlds,)) for k, v in params.items()}
        fresh = self._begun(given, start)
        state = by_world(where, fresh, state)
        return state, *self._read(state.moving.motion)

    def step(self, state: TableState, command: Signals, key: PRNGKeyArray) -> tuple[TableState, Signals, Signals]:
        speeds = jnp.concatenate([jnp.asarray(command[c.name], jnp.float32) for c in self.interface.commands], -1)
        held = jnp.broadcast_to(self._clipped(speeds)[:, None], (self.worlds, SUBSTEPS, speeds.shape[-1]))
        moving, _ = _run(self.table, self._ensemble, state, held)
        return state._replace(moving=moving), *self._read(moving.motion)

    def snapshot(self, state: TableState) -> TableState:
        return state

    def restore(self, snapshot: TableState) -> TableState:
        return snapshot

    def _begun(self, params: Params, start: Signals) -> TableState:
        motion = self.table.motion(start, self.worlds)
        moving = jax.vmap(partial(at, self.table.scene))(motion)
        return TableState(moving, self._complete(params))

    def _complete(self, params: Params) -> Params:
        own = {MEMBER: params.get(MEMBER, jnp.zeros(self.worlds))} if self.members > 1 else {}
        rest = {k: v for k, v in params.items() if k not in own}
        return self.table.complete(rest, self.worlds) | {k: jnp.asarray(v, jnp.float32) for k, v in own.items()}

    def _trail(
        self, params: Params, start: Signals, speeds: Float[np.ndarray, "world step command"]
    ) -> Float[np.ndarray, "world moment joint"]:
        given = {k: jnp.broadcast_to(jnp.asarray(v), (self.worlds,)) for k, v in params.items()}
        state = self._begun(given, start)
        trail = _played(self.table, self._ensemble, state, jnp.asarray(speeds, jnp.float32))
        return np.asarray(trail, np.float64)


def over_members(belief: Belief, robot: CloneRobot) -> Belief:
    """The belief, and beside it any member of the ensemble, where there are several."""
    return Chosen(belief, MEMBER, robot.members) if robot.members > 1 else belief


@eqx.filter_jit
def _played(table: Tabletop, ensemble: Clone, state: TableState, speeds: Float[Array, "world step command"]) -> Any:
    first, _ = table.read(state.moving.motion)
    return jnp.concatenate([first[:, None], _run(table, ensemble, state, speeds)[1]], 1)


def _run(
    table: Tabletop, ensemble: Clone, state: TableState, speeds: Float[Array, "world step command"]
) -> tuple[Moving, Float[Array, "world step joint"]]:
    """All worlds after these speeds, and the positions of their joints after each step."""
    weights, static = eqx.partition(ensemble, eqx.is_array)
    if MEMBER in state.params:
        last = jax.tree.leaves(weights)[0].shape[0] - 1
        which = jnp.clip(jnp.round(state.params[MEMBER]), 0, last).astype(int)
        weights, axis = jax.tree.map(lambda w: w[which], weights), 0
    else:
        weights, axis = jax.tree.map(lambda w: w[0], weights), None

    def world(weights: Any, z: Any, moving: Moving, speeds: Float[Array, "step command"]) -> Any:
        return _steps(table, eqx.combine(weights, static), z, moving, speeds)

    return jax.vmap(world, (axis, 0, 0, 0))(weights, table.embeddings(state.params), state.moving, speeds)


def _steps(
    table: Tabletop,
    clone: Clone,
    z: Float[Array, "part embedding"],
    moving: Moving,
    speeds: Float[Array, "step command"],
) -> tuple[Moving, Float[Array, "step joint"]]:
    """One world."""
    scene: Scene = jax.tree.map(jnp.asarray, table.scene)._replace(z=z)

    def body(moving: Moving, speed: Float[Array, " command"]) -> tuple[Moving, Float[Array, " joint"]]:
        push = no_push(scene)._replace(commanded=table.commanded(moving.motion, speed))
        moving = clone.step(scene, moving, push, table.step_s)
        return moving, table.read(moving.motion)[0]

    return jax.lax.scan(body, moving, speeds)
