"""Steps to one return on a swing-up with uniform randomization: FastTD3, FastSAC and gradients through the physics beside PPO.

The cart-pole of `JaxCartpole`, one substep a period, with six parameters drawn anew for every episode. PPO's best look within its
whole budget is what can be had; the target is 90 % of it, seed by seed, and `…_steps_vs_ppo` is the control periods until the
first look that reaches it over PPO's own (medians; a run that never does counts as infinite). Looks are taken at the same
draws and starts for all. `…_seconds_vs_ppo` is the same in seconds of one core's work, without compiling and without looks: what
off-policy learning saves are steps, and it pays where those are slow. Gradients of the physics say nothing of ends, such as that
of the rail, and the swing-up resists them (`shac_…`); a smooth task on the same cart-pole, the kind that they were invented for,
is `crane`.
"""

import statistics
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import tyro
from jaxtyping import PRNGKeyArray

from frame import Benchmark, Cells, finish, start
from gapless import robots
from gapless.core import Log, Signals, Task, Uniform, Verdict, key_for
from gapless.robots.cartpole import INTERFACE
from gapless.simulators import JaxCartpole, read_parameters
from gapless.tasks import SwingUp
from gapless.train import FastSac, FastTd3, Look, Method, Place, Ppo, ShortHorizon

MODELS = Path(robots.__file__).parent / "models"
RANGES = {
    "pole.mass": (0.1, 0.2), "pole.com": (0.2, 0.3), "slider.damping": (2.0, 6.0), "slider.friction": (0.0, 1.0),
    "motor.gain": (1.2, 1.8), "command.latency": (0.0, 0.03),
}  # fmt: skip
METHODS: dict[str, Method] = {
    "ppo": Ppo(budget=512_000),
    "fast-td3": FastTd3(budget=81_920),
    "fast-sac": FastSac(budget=81_920),
    "shac": ShortHorizon(worlds=16, budget=256_000),
    "ppo, crane": Ppo(budget=61_440),
    "shac, crane": ShortHorizon(worlds=8, rate=1e-2, budget=40_960),
}
LOOKS = {"fast-td3": 20, "fast-sac": 20, "ppo, crane": 30, "shac, crane": 20}
"""Evaluations on the way, 25 where nothing else is said."""
SHARE = 0.9
"""Of PPO's best look, what is to be reached."""
BARS = {
    "fast_td3_steps_vs_ppo": "≤ 0.2",
    "fast_sac_steps_vs_ppo": "≤ 0.2",
    "shac_steps_vs_ppo": "≤ 0.5",
    "shac_crane_steps_vs_ppo": "≤ 0.5",
}


@dataclass(frozen=True)
class Recipes(Benchmark):
    """Off-policy learning and gradients through the physics against PPO."""

    seeds: int = 5
    """Runs of each method."""
    methods: tuple[str, ...] = tuple(METHODS)
    """Which methods; PPO must be among them for there to be a target on its task."""


def main() -> None:
    options = tyro.cli(Recipes, description=__doc__)
    seeds = 1 if options.quick else options.seeds
    settings = [{"seed": s, "method": m} for s in range(seeds) for m in options.methods]
    rows = Cells("recipes_off_policy", options).run(cell, settings)
    told = [{k: v for k, v in r.items() if k != "curve"} for r in rows]
    finish("recipes_off_policy", options, figures(rows), told, BARS)


class Crane(Task):
    """Bring the cart to the middle and leave the pole hanging still: smooth, and seldom ended by the rail."""

    name = "crane"
    seconds = 3.0
    commands, measurements, observe = SwingUp.commands, SwingUp.measurements, SwingUp.observe

    def start(self, key: PRNGKeyArray, n: int) -> Signals:
        keys = jax.random.split(key)
        return {
            "slider.position": jax.random.uniform(keys[0], (n, 1), minval=-0.3, maxval=0.3),
            "hinge.position": 0.1 * jax.random.normal(keys[1], (n, 1)),
        }

    def reward(self, before: Signals, command: Signals, after: Signals) -> Any:
        away, lean = after["cart.position"][..., 0] / 0.1, jnp.sin(after["pole.angle"][..., 0] / 2) / 0.1
        return 1 / (1 + away**2 + lean**2) - 0.05 * (command["motor"][..., 0] / 10) ** 2

    def finished(self, measurement: Signals) -> Any:
        return jnp.abs(measurement["cart.position"][..., 0]) > SwingUp.reach

    def judge(self, log: Log) -> Verdict:
        away = float(np.abs(log.measurements["cart.position"][-10:]).max())
        return Verdict(away < 0.05, 1 - away / 0.05, f"the cart is {away:.2f} m away at the end")


def place(name: str) -> Place:
    """A method's task, and how little is known of the cart-pole."""
    simulator = JaxCartpole(INTERFACE, read_parameters(MODELS / "cartpole.toml"), 1)
    low, high = (np.array([v[k] for v in RANGES.values()]) for k in (0, 1))
    return Place(simulator, Uniform(tuple(RANGES), low, high), Crane() if name.endswith("crane") else SwingUp())


def cell(setting: dict[str, Any]) -> dict[str, Any]:
    """One method from one seed: its best look, and control periods, seconds and return at each."""
    seed, name = setting["seed"], setting["method"]
    method, (simulator, belief, task, _) = METHODS[name], place(name)
    run = method.learning(place(name), key_for(seed, "recipes", name))
    look = Look(simulator, belief, task, 64, key_for(0, "looks"))
    run.begin(key_for(seed, "worlds"))
    looks, curve, laps = LOOKS.get(name, 25), [], []
    for k in range(looks):
        began = time.process_time()
        run.iterate(key_for(seed, "lap", k), method.budget // (looks * method.per_iteration))
        laps.append(time.process_time() - began)
        curve.append([run.steps_done, 0.0, *look.at(run.policy)])
    laps[0] = min(laps[0], statistics.median(laps[1:]))  # the first one compiles
    for point, seconds in zip(curve, np.cumsum(laps), strict=True):
        point[1] = float(seconds)
    best = max(curve, key=lambda p: p[2])
    return {"method": name, "seed": seed, "best": best[2], "passed": best[3], "steps": run.steps_done, "curve": curve}


def figures(rows: list[dict[str, Any]]) -> dict[str, float]:
    """Medians over seeds of steps and seconds to the target, as shares of PPO's on the same task."""
    found: dict[str, float] = {}
    curves = {(r["method"], r["seed"]): r["curve"] for r in rows}
    for name in METHODS:
        usual = "ppo, crane" if name.endswith("crane") else "ppo"
        seeds = [s for m, s in curves if m == name and (usual, s) in curves]
        if not seeds:
            continue
        ends = {s: SHARE * max(p[2] for p in curves[usual, s]) for s in seeds}
        mine, peers = ([first(curves[m, s], ends[s]) for s in seeds] for m in (name, usual))
        short = name.replace("-", "_").replace(", ", "_")
        found[f"{short}_steps"] = statistics.median(steps for steps, _ in mine)
        found[f"{short}_best"] = statistics.median(max(p[2] for p in curves[name, s]) for s in seeds)
        if name != usual:
            for k, what in enumerate(("steps", "seconds")):
                ratios = [a[k] / b[k] for a, b in zip(mine, peers, strict=True)]
                found[f"{short}_{what}_vs_ppo"] = statistics.median(ratios)
    return found


def first(curve: list[list[float]], target: float) -> tuple[float, float]:
    """Control periods and seconds until the first look that reached it; infinite where none did."""
    return next(((p[0], p[1]) for p in curve if p[2] >= target), (float("inf"), float("inf")))


if __name__ == "__main__":
    start(main)
