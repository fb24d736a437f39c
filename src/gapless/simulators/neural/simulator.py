"""A cloned robot behind the contract of any simulator: latency, parameters and sensors as around MuJoCo, a network inside."""

import copy
from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from gapless.core import Belief, Chosen, GaplessError, Holds, Parameter, Params, Signals, Simulator, by_world, complete

from ..latency import commands_remembered, integrator_lead_s
from ..mujoco_cpu import MujocoSimulator
from ..parts.residual import member_weights
from ..sensing import Sensing
from ..traced_state import put, refuse_strangers, sensed, sent, told
from .clone import Clone
from .commands import moment_weights, moments
from .doubt import disagreement
from .skeleton import Skeleton

MEMBER = "clone.member"
"""The parameter that says which member steps a world; between two, as in the mean of a choice, all have their share."""
DISAGREEMENT = "clone.disagreement"
"""Privileged: by how much members differ about the last period, in typical changes of speed; the joint that differs most."""


class ClonedState(NamedTuple):
    """Every leaf has a leading world axis."""

    position: Float[Array, "world joint"]
    velocity: Float[Array, "world joint"]
    past: Float[Array, "world past command"]
    """Commands still under way, newest first."""
    weights: Float[Array, "world moment past"]
    modulation: Float[Array, "world member modulation"]
    disagreement: Float[Array, "world 1"]
    params: dict[str, Float[Array, " world"]]


class CloneSimulator(Simulator):
    """n worlds of the robot that `physics` simulates, stepped by the members of an ensemble."""

    traceable = True

    def __init__(self, physics: MujocoSimulator, members: Sequence[Clone], worlds: int = 1) -> None:
        _require_bare(physics)
        if not members:
            raise GaplessError("a cloned robot needs at least one member. Teach one with `gapless clone`.")
        self.interface, self.joints, self.sensed, self.worlds = (
            physics.interface,
            physics.joints,
            physics.sensed,
            worlds,
        )
        self.substeps, self.members = physics.substeps, len(members)
        self.skeleton = Skeleton(physics.model, physics.interface.period_s)
        self.moved = tuple(p for p in physics.physical if p.free)
        """The parameters that the network has learned; those that are not free are the model's."""
        late = {p.name for p in physics.parameters if p.name.endswith(".latency") and p.name != "command.latency"}
        held = {p.name for p in physics.parameters if not p.free and (p in physics.physical or p.name in late)}
        self.parameters = tuple(p for p in physics.parameters if p.name not in held)
        if self.members > 1:
            self.parameters += (Parameter(MEMBER, "", 0.0, 0.0, self.members - 1.0, "inertia", free=False),)
        _require_fitting(members[0], self)
        self._default = jnp.asarray(physics.model.qpos0, jnp.float32)
        self._ensemble = _stacked(members)
        longest_s = max((p.high for p in self.parameters if p.name == "command.latency"), default=0.0)
        self._lead_s = integrator_lead_s(physics.model) if longest_s else 0.0
        self._remembered = commands_remembered(longest_s + self._lead_s, self.interface.period_s)
        self._sensing = Sensing(self.interface, self.parameters)
        if self._sensing.longest_s > 0:
            raise GaplessError("cloned robots have no measurement latency yet. Drop it, or use MuJoCo.")

    def with_worlds(self, worlds: int) -> Self:
        other = copy.copy(self)
        other.worlds = worlds
        return other

    def with_members(self, members: Sequence[Clone]) -> Self:
        """The same robot stepped by as many other members, which costs no new compilation."""
        other = copy.copy(self)
        other._ensemble = _stacked(members)
        return other

    def init(self) -> ClonedState:
        params = complete({}, self.parameters, self.worlds)
        place = jnp.broadcast_to(self._default, (self.worlds, len(self.joints)))
        past = jnp.zeros((self.worlds, self._remembered, self.interface.command_width))
        nothing = jnp.zeros((self.worlds, 1))
        return ClonedState(
            place, jnp.zeros_like(place), past, self._weights(params), self._modulation(params), nothing, params
        )

    def reset(
        self, state: ClonedState, where: Any, params: Params, start: Signals, key: PRNGKeyArray
    ) -> tuple[ClonedState, Signals, Signals]:
        unknown = set(params) - set(state.params)
        if unknown:
            raise GaplessError(f"the clone has no parameter {sorted(unknown)[0]!r}. Leave it out, or use MuJoCo.")
        refuse_strangers(start, self.joints)
        where = jnp.asarray(where)
        given = state.params | {k: jnp.broadcast_to(jnp.asarray(v), (self.worlds,)) for k, v in params.items()}
        # A whole network turns parameters into their modulation: nobody should pay for it between two resets.
        modulation = jax.lax.cond(where.any(), self._modulation, lambda _: state.modulation, given)
        fresh = ClonedState(
            *self.begun(start, self.worlds),
            jnp.zeros_like(state.past),
            self._weights(given),
            modulation,
            jnp.zeros_like(state.disagreement),
            {k: jnp.asarray(v, jnp.float32) for k, v in given.items()},
        )
        state = by_world(where, fresh, state)
        return state, *self._read(state, key)

    def step(self, state: ClonedState, command: Signals, key: PRNGKeyArray) -> tuple[ClonedState, Signals, Signals]:
        past = sent(self.interface, state.past, command)
        control = jnp.einsum("wmp,wpc->wmc", state.weights, past).reshape(self.worlds, -1)
        now = _advanced(
            self.skeleton, self._ensemble, state.modulation, self._which(state.params), (state.position, state.velocity), control
        )  # fmt: skip
        state = state._replace(position=now[0], velocity=now[1], past=past, disagreement=now[2])
        return state, *self._read(state, key)

    def change(self, state: ClonedState, params: Params) -> ClonedState:
        now = state.params | {k: jnp.asarray(v, jnp.float32) for k, v in params.items()}
        return state._replace(params=now, weights=self._weights(now), modulation=self._modulation(now))

    def snapshot(self, state: ClonedState) -> ClonedState:
        return state

    def restore(self, snapshot: ClonedState) -> ClonedState:
        return snapshot

    def place(self, state: ClonedState, joints: Signals) -> ClonedState:
        return put(state, self.joints, joints)

    def play(self, params: Params, start: Signals, holds: Holds, times: Float[np.ndarray, "world query"]) -> Signals:
        worlds, period_s = len(times), self.interface.period_s
        wanted = {k: np.asarray(v, np.float64) for k, v in complete(params, self.parameters, worlds).items()}
        told = self.told(wanted, holds, times.max())
        trail = self.with_worlds(worlds).trail(wanted, self.begun(start, worlds), told)
        position, velocity = (np.asarray(side, np.float64) for side in trail)
        at = times / period_s
        sides = {"position": hermite(position, velocity, at, period_s), "velocity": straight(velocity, at)}
        columns = [sides[side][..., self.joints.index(joint)] for joint, side in self.sensed.values()]
        seen = self._sensing.read(wanted, np.stack(columns, -1))
        return {name: seen[..., k : k + 1] for k, name in enumerate(self.sensed)}

    def told(self, params: Params, holds: Holds, seconds: float) -> Float[Array, "world step both"]:
        """What the network is told of commands in each period, delayed as each world delays them."""
        period_s, worlds = self.interface.period_s, len(holds.log)
        steps = max(1, int(np.ceil(seconds / period_s - 1e-9)))
        latency = np.asarray(params.get("command.latency", np.zeros(worlds)), np.float64) + self._lead_s
        control = holds.averages(latency, steps * self.substeps, period_s / self.substeps)
        return moments(jnp.asarray(control.reshape(worlds, steps, self.substeps, -1), jnp.float32))

    def trail(
        self, params: Params, begun: tuple[Array, Array], control: Float[Array, "world step both"]
    ) -> tuple[Float[Array, "world moment joint"], Float[Array, "world moment joint"]]:
        """Positions and velocities at the start and after each period, under the moments of given commands."""
        wanted = {k: jnp.asarray(v, jnp.float32) for k, v in complete(params, self.parameters, self.worlds).items()}
        return _trail(self.skeleton, self._ensemble, self._modulation(wanted), self._which(wanted), begun, control)

    def _which(self, params: Params) -> Float[Array, "world member"]:
        """How much each member has to say in each world."""
        wanted = jnp.clip(jnp.asarray(params.get(MEMBER, jnp.zeros(self.worlds))), 0, self.members - 1)
        return jax.vmap(lambda member: member_weights(member, self.members))(wanted)

    def begun(self, start: Signals, worlds: int) -> tuple[Array, Array]:
        """Positions and velocities at a start, the model's own where it names none."""

        def rows(side: str, otherwise: Any) -> Float[Array, "world joint"]:
            given = [start.get(f"{j}.{side}", otherwise[i]) for i, j in enumerate(self.joints)]
            return jnp.concatenate([jnp.broadcast_to(jnp.asarray(g, jnp.float32), (worlds, 1)) for g in given], axis=1)

        return rows("position", self._default), rows("velocity", jnp.zeros(len(self.joints)))

    def _weights(self, params: Params) -> Float[Array, "world moment past"]:
        latency = jnp.asarray(params.get("command.latency", jnp.zeros(self.worlds)), jnp.float32) + self._lead_s
        return moment_weights(latency, self.interface.period_s, self.substeps, self._remembered)

    def _modulation(self, params: Params) -> Float[Array, "world member modulation"]:
        return jax.vmap(Clone.modulation, in_axes=(0, None), out_axes=1)(self._ensemble, self.shares(params))

    def shares(self, params: Params) -> Float[Array, "world param"]:
        """The parameters that the network knows, from −1 at the low end of their range to 1 at the high one."""
        columns = [2 * (params[p.name] - p.low) / (p.high - p.low) - 1 for p in self.moved]
        return jnp.stack([jnp.asarray(c, jnp.float32) for c in columns], -1) if columns else jnp.zeros((self.worlds, 0))

    def _read(self, state: ClonedState, key: PRNGKeyArray) -> tuple[Signals, Signals]:
        sides = {"position": state.position, "velocity": state.velocity}
        values = jnp.stack([sides[side][:, self.joints.index(joint)] for joint, side in self.sensed.values()], -1)
        doubt: Signals = {DISAGREEMENT: state.disagreement} if self.members > 1 else {}
        return sensed(state.params, tuple(self.sensed), values, key), told(state, self.joints) | doubt


def over_members(belief: Belief, simulator: CloneSimulator) -> Belief:
    """The belief, and beside it any member of the ensemble, where there are several."""
    return Chosen(belief, MEMBER, simulator.members) if simulator.members > 1 else belief


def _require_bare(physics: MujocoSimulator) -> None:
    """Raise where the robot has what a clone would ignore."""
    blind = [c.name for c in physics.interface.measurements if c.name not in physics.sensed]
    if blind:
        raise GaplessError(f"a clone reads joints only, and {blind[0]!r} reads something else. Drop the channel.")
    parts = [n for n in ("actuator", "residual", "sensor") if getattr(physics.around, n) is not None]
    if parts:
        raise GaplessError(f"a clone is of bare physics, and this simulator has a learned {parts[0]} around it.")


def _require_fitting(clone: Clone, simulator: CloneSimulator) -> None:
    """Raise where a clone has other numbers of features, parameters or joints than the robot."""
    has = [clone.limb.enter.weight.shape[0], clone.limb.embed.weight.shape[0], clone.limb.change.shape[0]]
    told = simulator.skeleton.width + 2 * simulator.interface.command_width
    wants = [told, len(simulator.moved), len(simulator.joints)]
    if has != wants:
        raise GaplessError(
            f"the clone was taught a robot with {has[0]} features, {has[1]} free parameters and {has[2]} joints, and "
            f"{simulator.interface.robot!r} has {wants[0]}, {wants[1]} and {wants[2]}. Clone it anew: gapless clone."
        )


def hermite(position: np.ndarray, velocity: np.ndarray, at: np.ndarray, period_s: float) -> np.ndarray:
    """Positions between periods, (world, query, joint), as smooth as positions and velocities at both ends say."""
    worlds, low = np.arange(len(at))[:, None], np.clip(at.astype(int), 0, position.shape[1] - 2)
    s = np.clip(at - low, 0, 1)[..., None]
    ends = [(x[worlds, low], x[worlds, low + 1]) for x in (position, velocity)]
    (p0, p1), (v0, v1) = ends
    held = (1 + 2 * s) * (1 - s) ** 2 * p0 + s**2 * (3 - 2 * s) * p1
    return held + period_s * (s * (1 - s) ** 2 * v0 - s**2 * (1 - s) * v1)


def straight(values: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Values between periods, in straight lines."""
    worlds, low = np.arange(len(at))[:, None], np.clip(at.astype(int), 0, values.shape[1] - 2)
    s = np.clip(at - low, 0, 1)[..., None]
    return values[worlds, low] * (1 - s) + values[worlds, low + 1] * s


def _stacked(members: Sequence[Clone]) -> Clone:
    """All of them as one, whose arrays lead with the member."""
    return jax.tree.map(lambda *w: jnp.stack(w), *members)


def _advanced(
    skeleton: Skeleton, ensemble: Clone, modulation: Array, which: Array, now: Any, control: Array
) -> tuple[Array, Array, Array]:
    """Position and velocity by the members that step each world, and by how much all disagree."""
    if modulation.shape[1] == 1:
        only = jax.tree.map(lambda w: w[0], ensemble)
        return *only.advance(skeleton, modulation[:, 0], now, control), jnp.zeros((len(control), 1))
    each = jax.vmap(lambda clone, m: clone.advance(skeleton, m, now, control), in_axes=(0, 1))
    positions, velocities = each(ensemble, modulation)
    mine = [jnp.einsum("wm,mwj->wj", which, x) for x in (positions, velocities)]
    return mine[0], mine[1], disagreement(velocities, ensemble.limb.change[0])


@eqx.filter_jit
def _trail(skeleton: Skeleton, ensemble: Clone, modulation: Array, which: Array, begun: Any, control: Array) -> Any:
    def body(now: Any, told: Array) -> Any:
        position, velocity, _ = _advanced(skeleton, ensemble, modulation, which, now, told)
        return (position, velocity), (position, velocity)

    _, after = jax.lax.scan(body, begun, jnp.moveaxis(control, 1, 0))
    return tuple(jnp.concatenate([b[:, None], jnp.moveaxis(a, 0, 1)], 1) for b, a in zip(begun, after, strict=True))
