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

from gapless.core import Belief, Chosen, GaplessError, Parameter, Params, Signals

from .clone import Clone, Moving, Push, at
from .scene import Motion, Scene
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
        arrays = [eqx.partition(c, eqx.is_array)[0] for c in clones]
        self._weights = jax.tree.map(lambda *w: jnp.stack(w), *arrays)
        self._static = eqx.partition(clones[0], eqx.is_array)[1]

    def init(self) -> TableState:
        return self._begun({}, {})

    def reset(
        self, state: TableState, where: Any, params: Params, start: Signals, key: PRNGKeyArray
    ) -> tuple[TableState, Signals, Signals]:
        where = jnp.asarray(where)
        given = state.params | {k: jnp.broadcast_to(jnp.asarray(v), (self.worlds,)) for k, v in params.items()}
        fresh = self._begun(given, start)
        state = jax.tree.map(lambda a, b: jnp.where(where.reshape(-1, *[1] * (a.ndim - 1)), a, b), fresh, state)
        return state, *self._read(state.moving.motion)

    def step(self, state: TableState, command: Signals, key: PRNGKeyArray) -> tuple[TableState, Signals, Signals]:
        speeds = jnp.concatenate([jnp.asarray(command[c.name], jnp.float32) for c in self.interface.commands], -1)
        held = jnp.broadcast_to(self._clipped(speeds)[:, None], (self.worlds, SUBSTEPS, speeds.shape[-1]))
        moving, _ = self._run(state.params, state.moving, held)
        return state._replace(moving=moving), *self._read(moving.motion)

    def snapshot(self, state: TableState) -> TableState:
        return state

    def restore(self, snapshot: TableState) -> TableState:
        return snapshot

    def _begun(self, params: Params, start: Signals) -> TableState:
        motion = self.table.motion(start, self.worlds)
        moving = jax.vmap(partial(at, self._scene))(motion)
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
        trail = _played(self, state, jnp.asarray(speeds, jnp.float32))
        return np.asarray(trail, np.float64)

    def _run(
        self, params: Params, moving: Moving, speeds: Float[Array, "world step command"]
    ) -> tuple[Moving, Float[Array, "world step joint"]]:
        """All worlds after these speeds, and the positions of their joints after each step."""
        z = self.table.embeddings(params)
        if self.members == 1:
            weights, axis = jax.tree.map(lambda w: w[0], self._weights), None
        else:
            which = jnp.clip(jnp.round(params[MEMBER]), 0, self.members - 1).astype(int)
            weights, axis = jax.tree.map(lambda w: w[which], self._weights), 0
        return jax.vmap(self._world, (axis, 0, 0, 0))(weights, z, moving, speeds)

    def _world(self, weights: Any, z: Any, moving: Moving, speeds: Float[Array, "step command"]) -> Any:
        clone: Clone = eqx.combine(weights, self._static)
        scene = self._scene._replace(z=z)

        def body(moving: Moving, speed: Float[Array, " command"]) -> tuple[Moving, Float[Array, " joint"]]:
            still = jnp.zeros_like(moving.motion.position)
            push = Push(still, still[:, 0], self.table.commanded(moving.motion, speed))
            moving = clone.step(scene, moving, push, self.table.step_s)
            return moving, self.table.read(moving.motion)[0]

        return jax.lax.scan(body, moving, speeds)

    @property
    def _scene(self) -> Scene:
        return jax.tree.map(jnp.asarray, self.table.scene)


def over_members(belief: Belief, robot: CloneRobot) -> Belief:
    """The belief, and beside it any member of the ensemble, where there are several."""
    return Chosen(belief, MEMBER, robot.members) if robot.members > 1 else belief


@partial(jax.jit, static_argnums=0)
def _played(robot: CloneRobot, state: TableState, speeds: Float[Array, "world step command"]) -> Any:
    first, _ = robot.table.read(state.moving.motion)
    _, after = robot._run(state.params, state.moving, speeds)
    return jnp.concatenate([first[:, None], after], 1)
