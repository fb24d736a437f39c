"""The yardstick: what a good engineer gets by gluing today's tools together, from the same logs and the same robot seconds.

`mujoco.sysid` fits the parameters that our own fit may move, from the same nominal values and within the same bounds: commands
held at the model's time step and delayed by linear interpolation, half-second pieces of the logs from smoothed starts. CMA-ES
(the package `cma`) searches beside it, the better of the two is kept, and the policy is trained within ±10 % of it.
"""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import cma
import mujoco
import numpy as np
from mujoco import sysid

from gapless.core import Log, Parameter, Uniform
from gapless.engine import Workspace
from gapless.learn.noise import sensor_noise
from gapless.learn.windows import Windows, cut, read_joints, thin
from gapless.simulators import MujocoSimulator
from gapless.simulators.latency import integrator_lead_s

if not hasattr(sysid, "optimize"):  # it hides that its own dependencies are missing
    raise SystemExit("the yardstick needs mujoco.sysid: run .venv/bin/python -m pip install 'mujoco[sysid]' first.")
PIECE_S = 0.5
SPREAD = 0.1
ITERATIONS = 30
EVALUATIONS = 250
Modifier = Callable[[Any, Any], None]


def glue_belief(workspace: Workspace, logs: list[Log], seed: int) -> Uniform:
    """±10 % around the best fit of `mujoco.sysid` and CMA-ES."""
    free = [p for p in workspace.parameters if p.free]
    spec = mujoco.MjSpec.from_file(str((workspace.folder / workspace.settings.model).resolve()))
    residual = Residual(workspace.simulator, spec, logs, free)
    begin = np.array([p.nominal for p in free])
    found = [begin, residual.by_sysid(), residual.by_cma(seed)]
    best = min(found, key=residual.cost)
    values = dict(zip((p.name for p in free), best, strict=True))
    if "command.latency" in values:  # our simulator adds its integrator's own lead to what is asked for
        values["command.latency"] = max(values["command.latency"] - integrator_lead_s(workspace.model), 0.0)
    known = {p.name for p in workspace.parameters}
    values |= {f"{c}.noise": v for c, v in sensor_noise(logs).items() if f"{c}.noise" in known}
    middle = np.array(list(values.values()))
    return Uniform(tuple(values), middle - SPREAD * np.abs(middle), middle + SPREAD * np.abs(middle) + 1e-9)


class Residual:
    """Pieces of the logs as `mujoco.sysid` wants them."""

    def __init__(
        self,
        simulator: MujocoSimulator,
        spec: mujoco.MjSpec,
        logs: list[Log],
        free: list[Parameter],
        piece_s: float = PIECE_S,
        most: int | None = None,
    ) -> None:
        self.free, self.model, self.piece_s = free, simulator.model, piece_s
        pieces = cut(simulator, logs, piece_s)
        assert pieces is not None
        pieces = pieces.some(np.flatnonzero(pieces.present.all(axis=1)))
        pieces = pieces if most is None else thin(pieces, most)
        self.held = [_Held(log, self.model.opt.timestep) for log in logs]
        self.pieces = pieces
        self.params = sysid.ParameterDict()
        for p in free:
            self.params.add(sysid.Parameter(p.name, p.nominal, p.low, p.high, modifier=_modifier(spec, p.name)))
        group = sysid.ModelSequences(simulator.interface.robot, spec, *self._sequences(simulator))
        group.measured_rollout = [group.measured_rollout]  # type: ignore[list-item]  # all pieces in one call
        self.call = sysid.build_residual_fn(models_sequences=[group], custom_rollout=self._rollout)

    def cost(self, values: np.ndarray) -> float:
        off = np.concatenate(self.call(np.asarray(values), self.params)[0])
        return float(np.mean(np.clip(np.nan_to_num(off, nan=1e3), -1e3, 1e3) ** 2))

    def by_sysid(self, begin: np.ndarray | None = None) -> np.ndarray:
        """Where their optimizer ends, from the nominal values or from others."""
        start = self.params.copy()
        if begin is not None:
            start.update_from_vector(begin)
        start.move_off_bounds()
        # Their own optimizer cannot take several pieces in one call, and one call a piece is ten times slower.
        found, _ = sysid.optimize(
            start, self.call, optimizer="scipy", verbose=False, max_iters=ITERATIONS, x_scale="jac"
        )
        return found.as_vector()

    def by_cma(self, seed: int) -> np.ndarray:
        low, high = (np.array([getattr(p, side) for p in self.free]) for side in ("low", "high"))
        begin = np.array([p.nominal for p in self.free])
        options = {"bounds": [0, 1], "seed": seed + 1, "maxfevals": EVALUATIONS, "verbose": -9}
        search = cma.CMAEvolutionStrategy(np.clip((begin - low) / (high - low), 0.02, 0.98), 0.2, options)
        while not search.stop():
            asked = search.ask()
            search.tell(asked, [self.cost(low + (high - low) * np.asarray(x)) for x in asked])
        return low + (high - low) * np.asarray(search.result.xbest)

    def _sequences(self, simulator: MujocoSimulator) -> tuple[list[str], list[np.ndarray], list[Any], list[Any]]:
        names, starts, controls, sensed = [], [], [], []
        joints = read_joints(simulator)
        for w in range(len(self.pieces)):
            names.append(str(w))
            starts.append(_start(self.model, joints, self.pieces.start[w]))
            controls.append(self._control(w, 0.0))
            sensed.append(sysid.TimeSeries.from_names(*_measured(self.pieces, w), self.model))
        return names, starts, controls, sensed

    def _control(self, piece: int, delay_s: float) -> Any:
        held, begin = self.held[self.pieces.which[piece]], self.pieces.begin_s[piece]
        times = np.arange(0.0, self.piece_s + 0.5 * self.model.opt.timestep, self.model.opt.timestep)
        return sysid.TimeSeries.from_control_names(times, held.at(begin + times - delay_s), self.model)

    def _rollout(
        self, models: Any, datas: Any, control_signal: Any, initial_states: Any, param_dicts: Any, **maps: Any
    ) -> Any:
        delays = [float(d["command.latency"].value[0]) if "command.latency" in d else 0.0 for d in param_dicts]
        delayed = [self._control(w, delay) for delay in delays for w in range(len(self.pieces))]
        return sysid.sysid_rollout(
            models=models, datas=datas, control_signal=delayed, initial_states=initial_states, **maps
        )


class _Held:
    """Commands of a log, held on a fine grid and interpolated linearly between its points."""

    def __init__(self, log: Log, step_s: float) -> None:
        self.times = np.arange(log.command_time[0], log.command_time[-1] + step_s, step_s)
        at = np.clip(np.searchsorted(log.command_time, self.times + 1e-9) - 1, 0, None)
        self.values = np.concatenate([log.commands[n] for n in log.interface.command_names], axis=1)[at]

    def at(self, times: np.ndarray) -> np.ndarray:
        return np.stack([np.interp(times, self.times, column) for column in self.values.T], axis=1)


def _measured(pieces: Windows, w: int) -> tuple[np.ndarray, np.ndarray]:
    """Times and columns of one piece; all channels of our robots share a clock."""
    columns = [pieces.channel == k for k in range(len(pieces.columns))]
    size = min(int(c.sum()) for c in columns)
    # Rounded: they drop a sample that lies a rounding error before their first step, and then pieces differ in length.
    times = np.round(pieces.times[w, columns[0]][:size], 9)
    return times, np.stack([pieces.measured[w, c][:size] for c in columns], axis=1)


def _start(model: mujoco.MjModel, joints: tuple[str, ...], state: np.ndarray) -> np.ndarray:
    data = mujoco.MjData(model)
    for i, joint in enumerate(joints):
        data.joint(joint).qpos[0], data.joint(joint).qvel[0] = state[i], state[len(joints) + i]
    return sysid.create_initial_state(model, data.qpos, data.qvel, data.act)


def modified(spec: mujoco.MjSpec, values: dict[str, float]) -> mujoco.MjSpec:
    """The same model with these values written into it."""
    writers = {name: _modifier(spec, name) for name in values}
    for name, write in writers.items():
        if write is not None:
            write(spec, SimpleNamespace(value=[values[name]]))
    return spec


def _modifier(spec: mujoco.MjSpec, name: str) -> Modifier | None:
    """How a parameter of ours is written into their model."""
    thing, _, quantity = name.rpartition(".")
    if name == "command.latency":
        return None
    if name == "gravity.tilt_x":
        return lambda s, p: setattr(s.option, "gravity", _tilted(p.value[0]))
    joint = any(j.name == thing for j in spec.joints)
    match quantity:
        case "mass":
            inertia, mass = np.array(spec.body(thing).inertia), float(spec.body(thing).mass)
            return lambda s, p: _weigh(s.body(thing), p.value[0], inertia / mass)
        case "inertia":
            body_inertia = np.array(spec.body(thing).inertia)
            return lambda s, p: setattr(s.body(thing), "inertia", body_inertia * p.value[0])
        case "armature":
            return lambda s, p: setattr(s.joint(thing), "armature", p.value[0])
        case "com":
            along = np.array(spec.body(thing).ipos) / np.linalg.norm(spec.body(thing).ipos)
            return lambda s, p: setattr(s.body(thing), "ipos", along * p.value[0])
        case "damping" if joint:
            return lambda s, p: setattr(s.joint(thing), "damping", _like(s.joint(thing).damping, p.value[0]))
        case "friction" if joint:
            return lambda s, p: setattr(s.joint(thing), "frictionloss", p.value[0])
        case "damping":
            return lambda s, p: s.actuator(thing).biasprm.__setitem__(2, -p.value[0])
        case "gain":
            return lambda s, p: s.actuator(thing).gainprm.__setitem__(0, p.value[0])
        case "strength":
            whole = {
                part: np.array(getattr(spec.actuator(thing), part)) for part in ("gainprm", "biasprm", "forcerange")
            }
            return lambda s, p: _strengthen(s.actuator(thing), whole, p.value[0])
        case "sliding":
            return lambda s, p: s.geom(thing).friction.__setitem__(0, p.value[0])
    raise ValueError(f"the yardstick cannot fit {name}")


def _like(old: Any, value: float) -> Any:
    """Some MuJoCo versions keep a polynomial where others keep a number."""
    if np.ndim(old) == 0:
        return value
    new = np.array(old, np.float64)
    new[0] = value
    return new


def _strengthen(actuator: Any, whole: dict[str, np.ndarray], times: float) -> None:
    """Everything that an actuator does, so many times as strong as its file says."""
    for part, values in whole.items():
        setattr(actuator, part, times * values)


def _weigh(body: Any, mass: float, inertia_per_kg: np.ndarray) -> None:
    body.mass, body.inertia = mass, inertia_per_kg * mass


def _tilted(angle: float) -> list[float]:
    return [9.81 * float(np.sin(angle)), 0.0, -9.81 * float(np.cos(angle))]
