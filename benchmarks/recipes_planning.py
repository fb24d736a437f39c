"""Does a planner that nobody trained swing up the cart-pole? On the data sheet's simulator, and on the one that logs calibrated.

.venv/bin/python benchmarks/recipes_planning.py --seeds 5
"""

import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import tyro

from frame import Benchmark, Cells, finish, start
from gapless.core import Belief, Interface, Log, Simulator, Task, key_for, nominal_belief
from gapless.engine import Recipe, Stages, new_workspace
from gapless.robots import find_robot, record
from gapless.simulators import JaxCartpole
from gapless.train.planning import Cem, Mppi, Pace, Planning, pace, planner

TRACED = Planning(Mppi())
"""In the simulator that compiles."""
STEPPED = Planning(Cem(iterations=1), horizon=35, knots=8, samples=20)
"""In MuJoCo, whose worlds are stepped one after the other on a core."""
BARS = {"traced_identified_passed": "≥ 0.9", "mujoco_identified_passed": "≥ 0.9"}


@dataclass(frozen=True)
class RecipesPlanning(Benchmark):
    """Untrained swing-up on twins of tier A."""

    seeds: int = 5
    """How many hidden realities."""
    episodes: int = 4
    """Episodes on each, for each planner."""
    simulators: tuple[str, ...] = ("traced", "mujoco")
    """Where it plans: in the compiled cart-pole, in MuJoCo's."""


def main() -> None:
    options = tyro.cli(RecipesPlanning, description=__doc__)
    seeds, episodes = (1, 2) if options.quick else (options.seeds, options.episodes)
    settings = [
        {"seed": s, "simulator": kind, "episodes": episodes} for s in range(seeds) for kind in options.simulators
    ]
    rows = Cells("recipes_planning", options).run(swing_up_untrained, settings)
    finish("recipes_planning", options, summary(rows), rows, BARS)


def swing_up_untrained(setting: dict[str, Any]) -> dict[str, Any]:
    """One hidden reality: two motions that teach, identification, and episodes of both planners on the twin."""
    seed, spec = setting["seed"], f"twin:cartpole?seed={setting['seed']}&tier=A"
    robot = find_robot(spec)
    with tempfile.TemporaryDirectory(prefix="planning-") as folder:
        workspace = new_workspace(Path(folder) / "workspace", "cartpole", "swingup", seed)
        stages = Stages(workspace, Recipe(), seed, 1)
        try:
            logs = stages.excite(robot, None, stages.recipe.excite_first)
            believed = stages.belief(stages.learn([logs]))
            simulator = _simulator(workspace.simulator, setting["simulator"])
            found = {}
            for name, belief in (("nominal", nominal_belief(workspace.parameters)), ("identified", believed)):
                found |= {f"{name}_{k}": v for k, v in _episodes(simulator, belief, workspace.task, setting).items()}
        finally:
            robot.disconnect()
    taken = found.pop("identified_pace"), found.pop("nominal_pace")
    return {**setting, **found, "robot_seconds": logs.figures["robot_seconds"], **_paced(taken[0])}


def summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Shares of episodes that pass, over all realities."""
    found: dict[str, Any] = {}
    for kind in dict.fromkeys(r["simulator"] for r in rows):
        mine = [r for r in rows if r["simulator"] == kind]
        for name in ("nominal", "identified"):
            found[f"{kind}_{name}_passed"] = float(np.mean([r[f"{name}_passed"] for r in mine]))
            found[f"{kind}_{name}_return"] = float(np.mean([r[f"{name}_return"] for r in mine]))
        found[f"{kind}_ms"] = float(np.median([r["decision_ms"] for r in mine]))
        found[f"{kind}_cpu_ms"] = float(np.median([r["cpu_ms"] for r in mine]))
        found[f"{kind}_keeps_up"] = bool(all(r["keeps_up"] for r in mine))
    return found


def _episodes(simulator: Simulator, belief: Belief, task: Task, setting: dict[str, Any]) -> dict[str, Any]:
    """How a planner with this belief fares on the twin, through the safety gate."""
    seed = setting["seed"]
    recipe = TRACED if simulator.traceable else STEPPED
    policy = planner(simulator, belief, task, recipe, key_for(seed, "draws"))
    robot = find_robot(f"twin:cartpole?seed={seed}&tier=A")
    robot.connect()
    try:
        logs: list[Log] = [
            record(robot, policy, task.seconds, 900 + k, key_for(seed, "plan", k), task.finished)
            for k in range(setting["episodes"])
        ]
    finally:
        robot.disconnect()
    return {
        "passed": float(np.mean([task.judge(log).passed for log in logs])),
        "return": float(np.mean([task.score(log) for log in logs])),
        "pace": pace(policy, robot.interface),
    }


def _simulator(physics: Simulator, kind: str) -> Simulator:
    interface: Interface = replace(physics.interface)
    return JaxCartpole(interface, physics.parameters, 5) if kind == "traced" else physics


def _paced(taken: Pace) -> dict[str, Any]:
    wall, busy, there_is = (1e3 * s for s in (taken.median_s, taken.cpu_s, taken.period_s))
    return {"decision_ms": wall, "cpu_ms": busy, "period_ms": there_is, "keeps_up": taken.keeps_up}


if __name__ == "__main__":
    start(main)
