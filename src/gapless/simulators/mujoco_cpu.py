"""Physics on the CPU: n worlds of one MuJoCo model through mujoco.batch, with parameters and latency per world."""

import os
from dataclasses import replace
from typing import Any, Self

import jax
import mujoco
import numpy as np
from jaxtyping import Float, PRNGKeyArray
from mujoco.batch import Batch

from gapless.core import GaplessError, Holds, Interface, Parameter, Params, Signals, Simulator, unstack

from .around import Around
from .binding import OUTSIDE
from .bodies import refuse_doubles
from .bound import BoundParams
from .commanding import Commanding
from .earlier import joints_before
from .equations import Rolling, rolling
from .equations.rolling import PAYS
from .mujoco_state import MujocoState
from .named_joints import NamedJoints
from .sensing import Noise, Sensing
from .sensors import Sensors, between, positions_and_velocities
from .stepped_blocks import SteppedBlocks

THREADS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 0
"""Threads of a batch: the cores that this process may use; 0 takes all there are."""


class MujocoSimulator(Simulator):
    """A MuJoCo model behind the interface of a robot."""

    traceable, follows = False, True

    def __init__(
        self,
        model: mujoco.MjModel,
        interface: Interface,
        parameters: tuple[Parameter, ...],
        worlds: int = 1,
        around: Around | None = None,
    ) -> None:
        self.model, self.interface, self.worlds = model, interface, worlds
        self.around = around or Around()
        beside = {p.name for p in self.around.parameters}
        self.parameters = tuple(p for p in parameters if p.name not in beside) + self.around.parameters
        refuse_doubles(self.parameters)
        self.substeps = round(interface.period_s / model.opt.timestep)
        if abs(self.substeps * model.opt.timestep - interface.period_s) > 1e-9 or self.substeps < 1:
            raise GaplessError(
                f"the control period {interface.period_s} s is not a multiple of the model's time step "
                f"{model.opt.timestep} s. Change one of them."
            )
        self._sensors = Sensors(model, interface)
        self.sensed = self._sensors.sensed
        self._sensing = Sensing(interface, tuple(p for p in parameters if p.name not in beside))
        self._noise = Noise(interface, self.parameters)
        self._physics = BoundParams(model, [p.name for p in parameters if self._in_physics(p.name, beside)])
        self.commanding = Commanding(model, interface, parameters)
        self._joints = NamedJoints(model)
        self.joints = self._joints.single
        self._blocks = SteppedBlocks(self.around, interface, self._joints, worlds)

    def with_worlds(self, worlds: int) -> Self:
        return type(self)(self.model, self.interface, self.parameters, worlds, self.around)

    def with_around(self, around: Around) -> Self:
        """The same physics with other blocks around it."""
        beside = {p.name for p in self.around.parameters}
        own = tuple(p for p in self.parameters if p.name not in beside)
        return type(self)(self.model, self.interface, own, self.worlds, around)

    @property
    def physical(self) -> tuple[Parameter, ...]:
        """The parameters of the physics itself, not of what surrounds it."""
        beside = {p.name for p in self.around.parameters}
        return tuple(p for p in self.parameters if self._in_physics(p.name, beside))

    def init(self) -> MujocoState:
        batch = Batch(self.model, self.worlds, THREADS)
        params = {p.name: np.full(self.worlds, p.nominal) for p in self.parameters}
        late = round(self._sensing.longest_s / self.model.opt.timestep) + 1
        state = MujocoState(
            batch,
            params,
            np.zeros((self.worlds, self.commanding.remembered, self.interface.command_width)),
            np.zeros((self.worlds, self.substeps, self.commanding.remembered)),
            np.zeros((self.worlds, max(late, 1) + self.substeps, len(self._sensors.columns))),
        )
        self._write_params(state, np.arange(self.worlds), params)
        return state

    def reset(
        self, state: MujocoState, where: Any, params: Params, start: Signals, key: PRNGKeyArray
    ) -> tuple[MujocoState, Signals, Signals]:
        mask = np.asarray(where)
        worlds = np.flatnonzero(mask)
        if worlds.size:
            unknown = set(params) - set(state.params)
            if unknown:
                raise GaplessError(f"the simulator has no parameter {sorted(unknown)[0]!r}. Add it to params.toml.")
            chosen = {k: np.broadcast_to(np.asarray(v, np.float64), self.worlds)[worlds] for k, v in params.items()}
            self._write_params(state, worlds, chosen)
            self._joints.begin(state.batch, worlds, start)
            state.past[worlds] = 0
            state.trail[worlds] = self._sensors.now(state.batch)[worlds, None]
            self._blocks.reset(state, mask, key)
        held = state.memories.get("sensor")
        measurement, privileged = self._read(state, key)
        self._blocks.unread(state, mask, held)
        return state, measurement, privileged

    def step(self, state: MujocoState, command: Signals, key: PRNGKeyArray) -> tuple[MujocoState, Signals, Signals]:
        self.commanding.send(state.past, command)
        control = np.einsum("nsk,nkc->nsc", state.weights, state.past)
        if self._sensors.direct and not state.late and not self.around.before_physics:
            state.batch.rollout(self.substeps, self.commanding.controls(control), record=())
            state.trail[:, -1] = self._sensors.now(state.batch)
            return state, *self._read(state, key)
        before = state.trail[:, -1]
        if self.around.before_physics:
            recorded = self._advance_with_blocks(state, control, key)
        else:
            recorded = state.batch.rollout(
                self.substeps, self.commanding.controls(control), record=self._sensors.record
            )
        after = before if self._sensors.direct else self._sensors.now(state.batch)
        new = self._sensors.trail(before, recorded, after)[:, 1:]
        if state.late:
            state.trail[:, : -self.substeps] = state.trail[:, self.substeps :]
            state.trail[:, -self.substeps :] = new
        else:
            state.trail[:, -1] = new[:, -1]
        return state, *self._read(state, key)

    def change(self, state: MujocoState, params: Params) -> MujocoState:
        """What is under way stays so; readings that become late are as old as what was last read."""
        before, rows = state.late, state.batch.state.copy()
        self._write_params(state, np.arange(self.worlds), {k: np.asarray(v, np.float64) for k, v in params.items()})
        state.batch.state[:] = rows
        if state.late and not before:
            state.trail[:] = state.trail[:, -1:]
        return state

    def snapshot(self, state: MujocoState) -> MujocoState:
        return state.copy()

    def restore(self, snapshot: MujocoState) -> MujocoState:
        assert snapshot.rows is not None
        state = replace(snapshot.copy(), rows=None)
        self._write_params(state, np.arange(self.worlds), snapshot.params)
        state.batch.state[:] = snapshot.rows
        return state

    def place(self, state: MujocoState, joints: Signals) -> MujocoState:
        self._joints.put(state.batch, np.arange(self.worlds), joints)
        state.trail[:, -1] = self._sensors.now(state.batch)
        return state

    def play(self, params: Params, start: Signals, holds: Holds, times: Float[np.ndarray, "world query"]) -> Signals:
        return self._with(times)._play(params, start, holds, times)[0]

    def play_and_recall(
        self, params: Params, start: Signals, holds: Holds, times: Float[np.ndarray, "world query"]
    ) -> tuple[Signals, dict[str, Any]]:
        """As `play`, and the memories that the blocks around the physics ended with."""
        simulator = self._with(times)
        seen, state = simulator._play(params, start, holds, times)
        return seen, simulator._blocks.recalled(state)

    def _with(self, times: Float[np.ndarray, "world query"]) -> Self:
        return self if len(times) == self.worlds else self.with_worlds(len(times))

    def _play(
        self, params: Params, start: Signals, holds: Holds, times: Float[np.ndarray, "world query"]
    ) -> tuple[Signals, MujocoState]:
        state, everyone = self.init(), np.arange(self.worlds)
        given = {k: np.asarray(v, np.float64) for k, v in params.items()}
        course = {k: v for k, v in given.items() if v.ndim == 2}
        wanted = {k: np.broadcast_to(v[:, 0] if k in course else v, self.worlds) for k, v in given.items()}
        self._write_params(state, everyone, wanted)
        self._joints.begin(state.batch, everyone, start)
        step_s, late_s = self.model.opt.timestep, self._sensing.late_s(state.params, self.worlds)
        steps = max(1, int(np.ceil(times.max() / step_s - 1e-9)))
        steps += int(np.ceil(max(0.0, -float(late_s.min())) / step_s))  # some sensors may be ahead of the others
        control = holds.averages(self.commanding.late_s(state.params, self.worlds), steps, step_s)
        before = self._sensors.now(state.batch)
        state.memories = self._blocks.init(jax.random.key(0))
        self._run_up(state, holds)
        recorded = self._follow(state, control, course) if course else self._advance(state, control)
        after = before if self._sensors.direct else self._sensors.now(state.batch)
        trail = self._sensors.trail(before, recorded, after)
        seen = self._sensing.read(state.params, between(trail, (times[..., None] - late_s[:, None]) / step_s))
        return self._blocks.sensed_in_turn(state, self._sensors.named(seen)), state

    def _run_up(self, state: MujocoState, holds: Holds) -> None:
        """Lets the blocks hear what was sent and how the joints moved before the start, as far as somebody knows."""
        periods, period_s = self.around.recalls, self.interface.period_s
        if not periods:
            return
        late_s = self.commanding.late_s(state.params, self.worlds) + periods * period_s
        sent = unstack(holds.averages(late_s, periods, period_s), self.interface.command_widths)
        moved = joints_before(holds, self.sensed, self._joints.read(state.batch), periods, period_s)
        self._blocks.hear(state, sent | moved, period_s)

    def _advance(self, state: MujocoState, control: np.ndarray) -> dict:
        """All substeps of an open loop: in one go, or period by period where blocks act before the physics."""
        own = self._own_equations(state) if self.worlds * control.shape[1] >= PAYS else None
        if not self.around.before_physics:
            return self._rolled(state, self.commanding.controls(control), own)
        pieces = [
            self._advance_with_blocks(state, control[:, k : k + self.substeps], jax.random.key(0), own)
            for k in range(0, control.shape[1], self.substeps)
        ]
        return {name: np.concatenate([p[name] for p in pieces], axis=1) for name in pieces[0]}

    def _follow(self, state: MujocoState, control: np.ndarray, course: dict[str, np.ndarray]) -> dict:
        """All substeps of an open loop, period by period, with the parameters that change as they are in each."""
        pieces = []
        for k, first in enumerate(range(0, control.shape[1], self.substeps)):
            now = {name: values[:, min(k, values.shape[1] - 1)] for name, values in course.items()}
            state = self.change(state, now)
            pieces.append(self._advance(state, control[:, first : first + self.substeps]))
        return {name: np.concatenate([p[name] for p in pieces], axis=1) for name in pieces[0]}

    def _advance_with_blocks(
        self, state: MujocoState, control: np.ndarray, key: PRNGKeyArray, own: Rolling | None = None
    ) -> dict:
        """Substeps with the actuator and residual blocks, at physics rate or once per period."""
        pieces, whole = [], not self.around.physics_rate
        for k in [slice(None)] if whole else [slice(s, s + 1) for s in range(control.shape[1])]:
            part, dt_s = control[:, k], self.interface.period_s if whole else float(self.model.opt.timestep)
            part, found = self._blocks.before_physics(state, part, dt_s, key)
            self._joints.push(state.batch, found)
            self._joints.move(state.batch, found)
            part = self.commanding.controls(self.commanding.changed(part, found))
            pieces.append(self._rolled(state, part, own))
        return {name: np.concatenate([p[name] for p in pieces], axis=1) for name in pieces[0]}

    def _rolled(
        self, state: MujocoState, control: Float[np.ndarray, "world substep control"], own: Rolling | None
    ) -> dict:
        """What is recorded over these substeps: by MuJoCo, or by the model's own equations."""
        if own is None:
            return state.batch.rollout(control.shape[1], control, record=self._sensors.record)
        now, joints = positions_and_velocities(state.batch), self.model.nq
        trail = own.roll(state.params, now[:, :joints], now[:, joints:], control, state.batch.bind("qfrc_applied"))
        now[:] = np.concatenate([side[:, -1] for side in trail], axis=1)
        return dict(zip(("qpos", "qvel"), trail, strict=True))

    def _own_equations(self, state: MujocoState) -> Rolling | None:
        """The model's equations, where they are all that moves it."""
        own = rolling(self.model, tuple(p.name for p in self.physical)) if self._sensors.direct else None
        return own if own is not None and own.holds(state.params) else None

    def _read(self, state: MujocoState, key: PRNGKeyArray) -> tuple[Signals, Signals]:
        """What the sensors read now, late and noisy as they are, and what only a simulator knows."""
        values = state.trail[:, -1].copy()
        if state.late:
            late_s = self._sensing.late_s(state.params, self.worlds)
            values = between(state.trail, (state.trail.shape[1] - 1 - late_s / self.model.opt.timestep)[:, None])[:, 0]
        values = self._sensing.read(state.params, values)
        self._noise.add(state.params, values, key)
        return self._blocks.sensed(state, self._sensors.named(values), key), self._joints.read(state.batch)

    def _write_params(self, state: MujocoState, worlds: np.ndarray, params: dict[str, np.ndarray]) -> None:
        for name, values in params.items():
            state.params[name][worlds] = values
        self._physics.write(state.batch, worlds, params, state.params)
        state.late = self._sensing.longest_s > 0 and bool(self._sensing.late_s(state.params, self.worlds).any())
        late_s = self.commanding.late_s(state.params, self.worlds)[worlds]
        state.weights[worlds] = self.commanding.weights(late_s, self.substeps)

    def _in_physics(self, name: str, beside: set[str]) -> bool:
        return name not in beside | self._sensing.names() | set(OUTSIDE) and not name.endswith(".noise")
