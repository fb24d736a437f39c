"""A MuJoCo simulator as one that compiles, wherever its model allows: for whoever steps it with a policy, many times."""

from collections.abc import Iterable
from typing import Any, NamedTuple, Self

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from gapless.core import Block, GaplessError, Holds, Params, Signals, Simulator, by_world, complete, unstack

from .equations import Dynamics, Motion, Setting, unlike
from .latency import hold_weights
from .mujoco_cpu import MujocoSimulator
from .sensing import Sensing
from .traced_state import put, refuse_strangers, sensed, sent, told

BLOCKS = ("actuator", "residual", "sensor")


class CompiledState(NamedTuple):
    """A pytree; every leaf has a leading world axis."""

    position: Float[Array, "world joint"]
    velocity: Float[Array, "world joint"]
    past: Float[Array, "world past command"]
    params: dict[str, Float[Array, " world"]]
    memories: dict[str, Any]
    """Of the blocks around the physics."""


def compiled(simulator: Simulator, drawn: Iterable[str] = ()) -> Simulator:
    """The same simulator, compiled where it can be; else as it is. `drawn` are parameters that somebody will set."""
    if isinstance(simulator, MujocoSimulator) and why_not(simulator, drawn) is None:
        return CompiledSimulator(simulator)
    return simulator


def why_not(simulator: MujocoSimulator, drawn: Iterable[str] = ()) -> str | None:
    """What keeps a simulator from being compiled while these parameters are set, in words; None where nothing does."""
    held, nominal = _held(simulator), {p.name: p.nominal for p in simulator.parameters}
    moved = [name for name, value in held.items() if name in set(drawn) or nominal[name] != value]
    read = [n for n in simulator.interface.measurement_names if n not in simulator.sensed]
    found = {
        f"the parameter {next(iter(moved), '')}": bool(moved),
        f"the sensor {next(iter(read), '')}, which reads no joint": bool(read),
    }
    return unlike(simulator.model) or next((what for what, so in found.items() if so), None)


def _setting(simulator: MujocoSimulator) -> Setting:
    return Setting(simulator.model, [p.name for p in simulator.physical])


def _held(simulator: MujocoSimulator) -> dict[str, float]:
    """Parameters that cannot be set in a compiled program, and the values that it has them at."""
    late = Sensing(simulator.interface, simulator.parameters).delays()
    return _setting(simulator).held | dict.fromkeys(late, 0.0)


class CompiledSimulator(Simulator):
    """n worlds of a MuJoCo model without contact, stepped inside jit; agrees with MuJoCo to single precision."""

    traceable, follows = True, True

    def __init__(self, physics: MujocoSimulator) -> None:
        if (reason := why_not(physics)) is not None:
            raise GaplessError(
                f"the simulator of {physics.interface.robot!r} cannot be compiled: its model has {reason}."
            )
        self.physics = physics
        self.interface, self.parameters, self.worlds = physics.interface, physics.parameters, physics.worlds
        self.sensed, self.joints, self.substeps = physics.sensed, physics.joints, physics.substeps
        self._dynamics = Dynamics(physics.model)
        self._setting, self._held = _setting(physics), _held(physics)
        self._step_s = float(physics.model.opt.timestep)
        blocks = {name: getattr(physics.around, name) for name in BLOCKS}
        self._blocks: dict[str, Block] = {name: block for name, block in blocks.items() if block is not None}

    def with_worlds(self, worlds: int) -> Self:
        return type(self)(self.physics.with_worlds(worlds))

    def init(self) -> CompiledState:
        rest = jnp.broadcast_to(jnp.asarray(self.physics.model.qpos0, jnp.float32), (self.worlds, len(self.joints)))
        past = jnp.zeros((self.worlds, self.physics.commanding.remembered, self.interface.command_width))
        params = complete({}, self.parameters, self.worlds)
        return CompiledState(rest, jnp.zeros_like(rest), past, params, self._fresh(jax.random.key(0)))

    def reset(
        self, state: CompiledState, where: Any, params: Params, start: Signals, key: PRNGKeyArray
    ) -> tuple[CompiledState, Signals, Signals]:
        if unknown := set(params) - set(state.params):
            raise GaplessError(f"the simulator has no parameter {sorted(unknown)[0]!r}. Add it to params.toml.")
        self._refuse_held(params)
        refuse_strangers(start, self.joints)
        given = {k: jnp.broadcast_to(jnp.asarray(v, jnp.float32), (self.worlds,)) for k, v in params.items()}
        rows = {k: jnp.broadcast_to(jnp.asarray(v, jnp.float32), (self.worlds, 1)) for k, v in start.items()}
        begun = put(self.init(), self.joints, rows)
        fresh = begun._replace(params=state.params | given, memories=self._fresh(key))
        state = by_world(where, fresh, state)
        read, seen, privileged = self._read(state, key)
        return by_world(where, read, state), seen, privileged

    def step(self, state: CompiledState, command: Signals, key: PRNGKeyArray) -> tuple[CompiledState, Signals, Signals]:
        past = sent(self.interface, state.past, command)
        commanding = self.physics.commanding
        late_s = commanding.late_s(state.params, self.worlds)
        weights = hold_weights(late_s, self.interface.period_s, self.substeps, commanding.remembered, jnp)
        state = self._advanced(state._replace(past=past), weights @ past, key)
        return self._read(state, key)

    def change(self, state: CompiledState, params: Params) -> CompiledState:
        self._refuse_held(params)
        return state._replace(params=state.params | {k: jnp.asarray(v, jnp.float32) for k, v in params.items()})

    def snapshot(self, state: CompiledState) -> CompiledState:
        return state

    def restore(self, snapshot: CompiledState) -> CompiledState:
        return snapshot

    def place(self, state: CompiledState, joints: Signals) -> CompiledState:
        return put(state, self.joints, joints)

    def play(self, params: Params, start: Signals, holds: Holds, times: Float[np.ndarray, "world query"]) -> Signals:
        return self.physics.play(params, start, holds, times)

    def _refuse_held(self, params: Params) -> None:
        if stuck := sorted(set(params) & set(self._held)):
            raise GaplessError(
                f"a compiled simulator holds {stuck[0]!r} at {self._held[stuck[0]]:g}. Set it in MuJoCo."
            )

    def _advanced(
        self, state: CompiledState, control: Float[Array, "world substep command"], key: Any
    ) -> CompiledState:
        """A period later: with the blocks before the physics once, or at every substep."""
        whole = not self.physics.around.physics_rate
        for k in [slice(None)] if whole else [slice(s, s + 1) for s in range(self.substeps)]:
            part, dt_s = control[:, k], self.interface.period_s if whole else self._step_s
            state, part, applied = self._with_blocks(state, part, dt_s, key)
            state = self._stepped(state, part, applied)
        return state

    def _with_blocks(self, state: CompiledState, control: Any, dt_s: float, key: Any) -> tuple[CompiledState, Any, Any]:
        """What actuator and residual make of the state, the commands and the forces on the joints."""
        applied = jnp.zeros_like(state.velocity)
        inputs = unstack(control.mean(axis=1), self.interface.command_widths) | told(state, self.joints)
        if "actuator" in self._blocks:
            state, out = self._through(state, "actuator", inputs, dt_s, key)
            held = jnp.concatenate([out[c.name] for c in self.interface.commands], axis=1)
            control, inputs = jnp.repeat(held[:, None], control.shape[1], axis=1), inputs | out
        if "residual" in self._blocks:
            state, out = self._through(state, "residual", inputs, dt_s, key)
            forces = [out.get(f"{j}.force", jnp.zeros((self.worlds, 1))) for j in self.joints]
            applied = jnp.concatenate(forces, axis=1)
            state = _nudged(state, self.joints, out)
            changes = [out.get(f"{c.name}.change", jnp.zeros((self.worlds, c.width))) for c in self.interface.commands]
            control = control + jnp.concatenate(changes, axis=1)[:, None]
        return state, control, applied

    def _stepped(self, state: CompiledState, control: Any, applied: Any) -> CompiledState:
        """All substeps of these commands."""
        machine = self._dynamics.machine(self._setting.fields(state.params))
        forces = _columns(applied)

        def once(held: Any, commands: Any) -> Any:
            controls: list[Any] = [0.0] * self.physics.model.nu
            for k, actuator in enumerate(self.physics.commanding.actuators):
                controls[actuator] = commands[:, k]
            return self._dynamics.step(machine, held, controls, forces), None

        begun = Motion(_columns(state.position), _columns(state.velocity))
        (position, velocity), _ = jax.lax.scan(once, begun, jnp.swapaxes(control, 0, 1))
        return state._replace(position=jnp.stack(position, axis=1), velocity=jnp.stack(velocity, axis=1))

    def _read(self, state: CompiledState, key: Any) -> tuple[CompiledState, Signals, Signals]:
        true = told(state, self.joints)
        values = jnp.concatenate([true[f"{joint}.{side}"] for joint, side in self.sensed.values()], axis=1)
        seen = sensed(state.params, tuple(self.sensed), values, key)
        if "sensor" in self._blocks:
            state, out = self._through(state, "sensor", seen, self.interface.period_s, key)
            seen = seen | out
        return state, seen, true

    def _fresh(self, key: Any) -> dict[str, Any]:
        keys = jax.random.split(key, self.worlds)
        return {name: jax.vmap(block.init)(keys) for name, block in self._blocks.items()}

    def _through(
        self, state: CompiledState, name: str, inputs: Signals, dt_s: float, key: Any
    ) -> tuple[CompiledState, Signals]:
        step = jax.vmap(self._blocks[name].step, (0, 0, 0, None, 0))
        memory, out = step(state.params, state.memories[name], inputs, dt_s, jax.random.split(key, self.worlds))
        return state._replace(memories={**state.memories, name: memory}), out


def _columns(rows: Float[Array, "world column"]) -> list[Float[Array, " world"]]:
    return [rows[:, k] for k in range(rows.shape[1])]


def _nudged(state: CompiledState, joints: tuple[str, ...], changes: Signals) -> CompiledState:
    """The state with every `<joint>.position.change` and `<joint>.velocity.change` added."""
    now = told(state, joints)
    named = {name.removesuffix(".change"): v for name, v in changes.items() if name.endswith(".change")}
    return put(state, joints, {name: now[name] + v for name, v in named.items() if name in now})
