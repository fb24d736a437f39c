"""Does choosing a motion pay? Parameter errors after the chosen motions and after the usual ones, on hidden realities.

.venv/bin/python benchmarks/excite.py

Every method gets the same robot seconds, limits, margins and identification: one motion under the prior, a fit, one motion
under what was found, and a fit of both. That last fit is made with a quarter of the model's time step, which is the twins' own:
at 4 ms the integrator alone puts the rotary pendulum's damping off by 20 %, whatever the motion. A parameter counts in a reality
where the logs of some method could tell it to a tenth by the Cramér-Rao bound at the truth, starts unknown and no prior: what
no motion tells is nobody's fault. The puck's fit takes minutes at that time step; ask for it by --robots.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import tyro

from frame import Benchmark, Cells, finish, start
from gapless.core import Block, Gaussian, Interface, Log, Simulator, key_for, nominal_belief, on_one_clock, prior_belief
from gapless.learn import Excite, excite, identify
from gapless.learn.identify import per_query
from gapless.learn.least_squares import information_at
from gapless.learn.shooting import Shooting
from gapless.learn.windows import cut
from gapless.robots.finding import REALITIES, reality_of
from gapless.robots.reality import Reality
from gapless.simulators import MujocoSimulator, load_model, read_parameters
from usual_motions import USUAL, Usual, usual_motion

MODELS = Path(__file__).parents[1] / "src/gapless/robots/models"
Method = Usual | Literal["chosen"]
METHODS: tuple[Method, ...] = ("chosen", *USUAL)
MOTIONS, SECONDS, TELLABLE, RATE_SAMPLES, FINER = 2, 6.0, 0.1, 3, 4
RECIPE = Excite(candidates=12, generations=8)
"""Three times the motions that a crank looks at."""
TRUTHS: dict[str, dict[str, tuple[str, int | None]]] = {
    "cartpole": {
        "pole.mass": ("pole_kg", None), "pole.com": ("lever_m", None), "slider.damping": ("damping", None),
        "slider.friction": ("coulomb", None), "hinge.damping": ("hinge_damping", None), "motor.gain": ("gain", None),
        "gravity.tilt_x": ("tilt_rad", None), "command.latency": ("latency_s", None),
    },
    "furuta": {
        "pendulum.mass": ("pendulum_kg", None), "pendulum.com": ("lever_m", None), "arm.damping": ("damping", None),
        "arm.friction": ("coulomb", None), "pendulum.damping": ("swing_damping", None), "motor.gain": ("gain", None),
        "command.latency": ("latency_s", None),
    },
    "puck": {
        "lower.mass": ("lower_kg", None), "puck.mass": ("puck_kg", None), "table.sliding": ("floor", None),
        "shoulder.damping": ("damping", 0), "elbow.damping": ("damping", 1), "shoulder.friction": ("coulomb", 0),
        "elbow.friction": ("coulomb", 1), "shoulder.gain": ("gain", 0), "elbow.gain": ("gain", 1),
        "command.latency": ("latency_s", None),
    },
}  # fmt: skip
"""What the judge knows each parameter as."""
BARS = {"error_ratio": "≤ 0.5", "limit_violations": "0", "runs": "≥ 1000"}


@dataclass(frozen=True)
class Excitement(Benchmark):
    """Chosen motions against chirp, PRBS and random commands."""

    realities: int = 20
    """Realities of tier A, the robots in turn."""
    first: int = 0
    """Seed of the first."""
    robots: tuple[str, ...] = ("cartpole", "furuta")
    """Whose parameters are compared."""
    motions: int = 6
    """Motions per robot that are chosen under the prior to see whether they stay inside the limits …"""
    each: int = 56
    """… in this many realities each."""


def main() -> None:
    options = tyro.cli(Excitement, description=__doc__)
    count, motions = (2, 1) if options.quick else (options.realities, options.motions)
    robots = options.robots
    settings = [{"robot": robots[k % len(robots)], "seed": options.first + k // len(robots)} for k in range(count)]
    told = Cells("excite", options).run(cell, settings)
    kept = Cells("excite", options).run(
        kept_inside, [{"robot": r, "motion": m, "each": options.each} for r in TRUTHS for m in range(motions)]
    )
    rows = [row for c in told for row in c["rows"]]
    errors = {m: _rms([r[m] for r in rows]) for m in METHODS}
    best = min(USUAL, key=lambda m: errors[m])
    figures: dict[str, Any] = {"error_ratio": errors["chosen"] / errors[best], "best_usual": best}
    figures |= {f"error_{m}": errors[m] for m in METHODS}
    for robot in robots:
        mine = [r for r in rows if r["robot"] == robot]
        if mine:
            figures[f"error_ratio_{robot}"] = _rms([r["chosen"] for r in mine]) / min(
                _rms([r[m] for r in mine]) for m in USUAL
            )
    figures["runs"] = sum(c["runs"] for c in kept) + len(told) * MOTIONS
    figures["limit_violations"] = sum(c["violations"] for c in kept) + sum(r["chosen violations"] for r in rows)
    finish("excite", options, figures, rows, BARS)


def cell(setting: dict[str, Any]) -> dict[str, Any]:
    """One reality: the error of every counted parameter after each method's motions."""
    robot, seed = setting["robot"], setting["seed"]
    reality, simulator = reality_of(f"twin:{robot}?seed={seed}"), simulator_of(robot)
    truth = truth_of(reality)
    logs = {m: collected(m, simulator, reality, seed) for m in METHODS}
    bounds = {m: cramer_rao(simulator, found, truth) for m, (found, _) in logs.items()}
    counted = [n for n in truth if min(b[n] for b in bounds.values()) < TELLABLE * abs(truth[n])]
    errors = {
        m: {n: float(np.asarray(belief.mean()[n])) / truth[n] - 1 for n in truth} for m, (_, belief) in logs.items()
    }
    row = {"robot": robot, "seed": seed, "counted": len(counted), "of": len(truth)}
    row |= {m: _rms([errors[m][n] for n in counted]) for m in METHODS}
    row |= {f"{m} violations": sum(map(passed_limits, found)) for m, (found, _) in logs.items()}
    detail = {m: {n: [errors[m][n], bounds[m][n] / abs(truth[n])] for n in truth} for m in METHODS}
    return {"rows": [row], "detail": detail}


def truth_of(reality: Reality) -> dict[str, float]:
    """The hidden numbers by parameter; latency as the twin's ticks make it: rounded, and led by half a tick in its integrator."""
    named, tick_s = TRUTHS[reality.interface.robot], reality.tick_s
    truth = {n: float(np.asarray(reality.hidden[k])[() if i is None else i]) for n, (k, i) in named.items()}
    return truth | {"command.latency": (round(truth["command.latency"] / tick_s) - 0.5) * tick_s}


def kept_inside(setting: dict[str, Any]) -> dict[str, Any]:
    """One motion chosen under the prior, in many realities: how often it passed a limit."""
    robot, which = setting["robot"], setting["motion"]
    simulator = simulator_of(robot)
    key = key_for(which, "kept inside", robot)
    motion = excite(simulator, prior_belief(simulator.parameters), REALITIES[robot].interface, SECONDS, RECIPE, key)
    seeds = [1000 * (which + 1) + k for k in range(setting["each"])]
    logs = [recorded(reality_of(f"twin:{robot}?seed={s}"), motion, key_for(s, "kept")) for s in seeds]
    return {"runs": len(logs), "violations": sum(map(passed_limits, logs))}


def collected(method: Method, simulator: Simulator, reality: Reality, seed: int) -> tuple[list[Log], Gaussian]:
    """The logs of one method's motions and the belief after them."""
    prior = prior_belief(simulator.parameters)
    logs, belief, limits = [], prior, reality.interface
    for k in range(MOTIONS):
        motion = _motion(method, simulator, belief, limits, 10 * seed + k)
        logs.append(recorded(reality, motion, key_for(seed, "recorded", k)))
        fitted = simulator if k < MOTIONS - 1 else simulator_of(reality.interface.robot, FINER)
        belief = identify(fitted, prior, logs, logs, seed=seed).belief
    return logs, belief


def _motion(method: Method, simulator: Simulator, belief: Gaussian, limits: Interface, seed: int) -> Block:
    if method == "chosen":
        return excite(simulator, belief, limits, SECONDS, RECIPE, key_for(seed, "chosen"))
    return usual_motion(method, simulator, belief, limits, SECONDS, RECIPE, seed)


def simulator_of(robot: str, finer: int = 1) -> MujocoSimulator:
    """The nominal simulator, as a workspace would have it, or with a finer time step."""
    model = load_model(MODELS / f"{robot}.xml")
    step_s = model.opt.timestep / finer
    # The driven joints' armatures hold half a step's damping (see the models), which shrinks with the step.
    held = model.dof_damping * (model.opt.timestep - step_s) / 2
    model.dof_armature[:] = np.where(model.dof_armature > 0, model.dof_armature - held, 0.0)
    model.opt.timestep = step_s
    return MujocoSimulator(model, REALITIES[robot].interface, read_parameters(MODELS / f"{robot}.toml"))


def recorded(reality: Reality, motion: Block, key: Any) -> Log:
    """What the robot would have logged, without the gate: whether it would have stopped is asked afterwards."""
    interface = reality.interface
    hidden = jax.tree.map(lambda v: jnp.asarray(v, jnp.float32), reality.hidden)
    steps = round(SECONDS / interface.period_s) + 1
    commands, measured = _recorded(_Frozen(type(reality)), hidden, motion, key, steps)
    return on_one_clock(interface, commands, measured, np.arange(steps) * interface.period_s)


class _Frozen(eqx.Module):
    """A kind of reality as something that compiles once for all its hidden numbers."""

    kind: type = eqx.field(static=True)

    def world(self) -> Reality:
        return self.kind(0)


@eqx.filter_jit
def _recorded(frozen: _Frozen, hidden: Any, motion: Block, key: Any, steps: int) -> Any:
    reality = frozen.world()
    ticks, period_s = round(reality.interface.period_s / reality.tick_s), reality.interface.period_s

    def turn(held: Any, key: Any) -> Any:
        state, memory = held
        keys = jax.random.split(key, 3)
        seen = reality.measure(hidden, state, keys[0])
        memory, command = motion.step({}, memory, seen, period_s, keys[1])
        state = reality.send(hidden, state, command, keys[2])
        state = jax.lax.fori_loop(0, ticks, lambda _, s: reality.tick(hidden, s), state)
        return (state, memory), (command, seen)

    keys = jax.random.split(key, 3)
    begun = reality.start(hidden, keys[0]), motion.init(keys[1])
    return jax.lax.scan(turn, begun, jax.random.split(keys[2], steps))[1]


def passed_limits(log: Log) -> bool:
    """Whether the gate would have stopped the robot, by its own rules for places and rates."""
    for c in log.interface.measurements:
        values, clock = log.measurements[c.name], log.measurement_time[c.name]
        lag = RATE_SAMPLES - 1
        rate = np.abs(values[lag:] - values[:-lag]).max(axis=1) / (clock[lag:] - clock[:-lag])
        if values.min() < c.low or values.max() > c.high or rate.max() > c.rate:
            return True
    return False


def cramer_rao(simulator: Simulator, logs: list[Log], truth: dict[str, float]) -> dict[str, float]:
    """The smallest deviation any unbiased estimate from these logs could have, starts unknown, no prior."""
    windows = cut(simulator, logs, 0.4)
    assert windows is not None
    values = np.array(list(truth.values()))
    shooting = Shooting(simulator, windows, tuple(truth), nominal_belief(simulator.parameters).mean())
    hidden = dict(zip(simulator.interface.measurement_names, _noise(logs[0].interface.robot), strict=True))
    information = information_at(shooting, values, np.abs(values), per_query(windows, hidden))
    scaled = information * np.outer(np.abs(values), np.abs(values)) + 1e-9 * np.eye(len(values))
    return dict(zip(truth, np.sqrt(np.diag(np.linalg.inv(scaled))) * np.abs(values), strict=True))


def _noise(robot: str) -> tuple[float, ...]:
    return tuple(np.asarray(reality_of(f"twin:{robot}?seed=0").hidden["noise"]).tolist())


def _rms(values: list[float]) -> float:
    return float(np.sqrt(np.mean(np.square(values)))) if values else float("nan")


if __name__ == "__main__":
    start(main)
