"""Does every effect of tiers B and C count? Alone, each must leave the best tier-A fit at twice the noise floor at 0.5 s.

.venv/bin/python benchmarks/effects.py --robots cartpole furuta puck arm hopper --seed 0
"""

import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import tyro

from beginnings import BRIEF_S, TASKS
from frame import Benchmark, Cells, finish, start
from gapless.core import Log, key_for, prior_belief
from gapless.engine import Workspace, new_workspace
from gapless.learn import Excite, excite, gap, identify
from gapless.robots.finding import REALITIES
from judge import Judge

LOGS, SECONDS = 6, 6.0
"""Motions of excitation from which the parameters are fitted, and again as many on which the fit is judged."""
BRIEF_LOGS = 12
"""The same of robots that fall when nobody balances them."""


@dataclass(frozen=True)
class Effects(Benchmark):
    """The strength of each single effect."""

    robots: tuple[str, ...] = ("cartpole", "furuta", "puck", "arm", "hopper")
    """Which robots."""
    seed: int = 0
    """Which hidden numbers."""


def main() -> None:
    options = tyro.cli(Effects, description=__doc__)
    settings = [
        {"robot": robot, "effect": effect, "seed": options.seed}
        for robot in options.robots
        for effect in ("", *REALITIES[robot].named, *REALITIES[robot].unnamed)
    ]
    rows = Cells("effects", options).run(cell, settings[:2] if options.quick else settings)
    real = [r["error over floor"] for r in rows if r["effect"]]
    without = [r["error over floor"] for r in rows if not r["effect"]]
    figures = {"effects": len(real), "weakest": min(real, default=0.0), "too_weak": sum(r < 2 for r in real)}
    figures["without_effect_worst"] = max(without, default=0.0)
    finish("effects", options, figures, rows, {"weakest": "≥ 2", "too_weak": "0"})


def cell(setting: dict[str, Any]) -> dict[str, Any]:
    """The error of the best fit over the floor, in the channel where it shows most."""
    robot, seed, effect = setting["robot"], setting["seed"], setting["effect"]
    spec = f"twin:{robot}?seed={seed}" + (f"&effects={effect}" if effect else "")
    with tempfile.TemporaryDirectory(prefix="effects-") as folder:
        workspace = new_workspace(Path(folder) / "workspace", robot, TASKS[robot], seed)
        judge = Judge(spec, workspace.task)
        half = BRIEF_LOGS if robot in BRIEF_S else LOGS
        logs = [log for k in range(2 * half) for log in _recorded(workspace, judge, k)]
        found = identify(workspace.simulator, prior_belief(workspace.parameters), logs[:half], logs[half:])
        seen = gap(workspace.simulator, found.belief, logs[half:])
        at = seen.horizons_s.index(0.5)
        ratio = max(seen.error[name][at] / seen.floor[name][at] for name in seen.error)
        return {**setting, "chi square": found.chi_square, "error over floor": ratio}


def _recorded(workspace: Workspace, judge: Judge, which: int) -> list[Log]:
    """One of the judge's own logs, of a motion of its own."""
    key = key_for(judge.reality.seed, "effects", which)
    belief = prior_belief(workspace.parameters)
    seconds = BRIEF_S.get(judge.reality.interface.robot, SECONDS)
    motion = excite(workspace.simulator, belief, judge.reality.interface, seconds, Excite(candidates=8), key)
    return [replace(log, interface=workspace.interface) for log in judge.logs(motion, 1, f"effects {which}")]


if __name__ == "__main__":
    start(main)
