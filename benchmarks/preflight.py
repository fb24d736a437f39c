"""Bug or gap? Wrong conventions put into logs of hidden realities: how many preflight names, and how often it cries wolf.

.venv/bin/python benchmarks/preflight.py --robots cartpole furuta puck --seeds 2
"""

import fcntl
import hashlib
import json
import tempfile
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import tyro

from beginnings import TASKS
from breaking import APPLY, break_logs, just_below
from frame import CELLS, Benchmark, Cells, finish, start
from gapless.core import Gaussian, Log, generator_for, key_for, prior_belief
from gapless.engine import Workspace, new_workspace
from gapless.learn import Excite, Finding, excite
from gapless.learn.preflight import preflight
from gapless.learn.preflight.quaternions import quaternion_findings
from gapless.learn.preflight.signals import signal_findings
from gapless.logs import read_logs, write_logs
from gapless.nets.stored_policy import load_policy
from judge import ORACLES, Judge
from tosses import available, tosses, w_last

EXCITED, SECONDS = 4, 6.0
"""Episodes of excitation; two more are of a task's policy where there is one."""
CUBES = 10
"""Cases of a real cube's tosses, each with w first and with w last."""
BARS = {"named_right": "≥ 0.95", "false_alarms": "≤ 0.02"}


@dataclass(frozen=True)
class Preflights(Benchmark):
    """Wrong conventions named, and alarms on clean logs."""

    robots: tuple[str, ...] = ("cartpole", "furuta", "puck")
    """Which robots."""
    seeds: int = 2
    """How many realities, in every tier."""
    begin: int = 0
    """The seed of the first of them."""
    tiers: str = "AC"
    """Which tiers."""
    below: int = 1
    """Clean logs with a gap just below a threshold, for each reality, beside the untouched ones."""


def main() -> None:
    options = tyro.cli(Preflights, description=__doc__)
    robots, seeds = (options.robots[:1], 1) if options.quick else (options.robots, options.seeds)
    settings = [
        {"robot": robot, "seed": seed, "tier": tier, "case": case}
        for robot in robots
        for seed in range(options.begin, options.begin + seeds)
        for tier in options.tiers
        for case in ["clean", *(f"below {k}" for k in range(options.below)), *APPLY[robot]]
    ]
    settings += [
        {"robot": "cube", "seed": group, "tier": "real", "case": case}
        for group in range(CUBES if available() and not options.quick else 0)
        for case in ("clean", "quaternion")
    ]
    settings.sort(key=lambda s: order(s["robot"], s["case"]))
    rows = Cells("preflight", options).run(cell, settings)
    finish("preflight", options, figures(rows), [*rows, *confusion(rows)], BARS)


def order(robot: str, case: str) -> int:
    """Cases in turns, so that workers side by side record different realities and a part of the table has some of everything."""
    return [*APPLY.get(robot, ()), case].index(case)


def figures(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Shares over all cases."""
    broken = [r for r in rows if r["injected"]]
    clean = [r for r in rows if not r["injected"]]
    hard = [r for r in clean if r["tier"] == "C"]
    return {
        "named_right": float(np.mean([r["right"] for r in broken])) if broken else 0.0,
        "false_alarms": float(np.mean([bool(r["found"]) for r in hard])) if hard else 0.0,
        "false_alarms_all_tiers": float(np.mean([bool(r["found"]) for r in clean])) if clean else 0.0,
        "named_alone": float(np.mean([r["right"] and r["count"] == 1 for r in broken])) if broken else 0.0,
        "injected": len(broken),
        "clean": len(clean),
        "seconds_median": float(np.median([r["seconds"] for r in rows])) if rows else 0.0,
    }


def confusion(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """For each kind that was put in, what was said first and how often; the same columns as the rows before."""
    said: dict[str, Counter[str]] = defaultdict(Counter)
    for r in rows:
        said[r["injected"] or "nothing"][r["found"].split(" ")[0] or "nothing"] += 1
    return [
        {**dict.fromkeys(rows[0], ""), "robot": "all", "injected": kind, "found": ", ".join(f"{k} × {n}" for k, n in c.items())}
        for kind, c in said.items()
    ]  # fmt: skip


def cell(setting: dict[str, Any]) -> dict[str, Any]:
    """One case: logs of a reality, perhaps broken, and what preflight says about them."""
    robot, seed, tier, case = (setting[k] for k in ("robot", "seed", "tier", "case"))
    if robot == "cube":
        return _cube(setting)
    workspace, prior, logs = recorded(robot, seed, tier)
    rng = generator_for(seed, "preflight", robot, tier, case)
    simulator, said, kind, channels = workspace.simulator, "", "", ()
    if case.startswith("below"):
        logs, said = just_below(logs, rng)
    elif case != "clean":
        broken = break_logs(case, logs, simulator, rng)
        logs, simulator, said, kind, channels = broken.logs, broken.simulator, broken.said, broken.kind, broken.channels
    began = _cpu()
    found = preflight(simulator, prior, logs)
    return {**setting, **_judged(found, kind, said, channels), "seconds": _cpu() - began}


def _cube(setting: dict[str, Any]) -> dict[str, Any]:
    """Tosses of a real cube, w first or last. The simulator cannot start a body that flies free, so no model is asked."""
    wrong, began = setting["case"] == "quaternion", _cpu()
    logs = [w_last(log) if wrong else log for log in tosses(setting["seed"])]
    found = signal_findings(logs) + quaternion_findings(logs)
    kind, said = ("quaternion", "w last") if wrong else ("", "")
    return {**setting, **_judged(found, kind, said, ("orientation",)), "seconds": _cpu() - began}


def _judged(found: list[Finding], kind: str, said: str, channels: tuple[str, ...]) -> dict[str, Any]:
    """What was said against what is so: the first finding must name the kind and one of the channels."""
    first = found[0] if found else None
    right = first is not None and first.kind == kind and (not channels or set(first.channels) & set(channels))
    spelled = "; ".join(f"{f.kind} {' '.join(f.channels)}" for f in found)
    return {
        "injected": kind, "how": said, "found": spelled, "right": bool(right), "count": len(found),
        "fold": (first.fold or 0.0) if first else 0.0,
    }  # fmt: skip


def _cpu() -> float:
    """Processor seconds of this process: how long it waits for others says nothing about preflight."""
    return time.process_time()


@cache
def recorded(robot: str, seed: int, tier: str) -> tuple[Workspace, Gaussian, list[Log]]:
    """Excitation and task-like logs of one reality, recorded once and kept."""
    workspace = new_workspace(Path(tempfile.mkdtemp(prefix="preflight-")) / robot, robot, TASKS[robot], seed)
    prior = prior_belief(workspace.parameters)
    judge = Judge(f"twin:{robot}?seed={seed}&tier={tier}", workspace.task)
    made_from = json.dumps([judge.behaviour(), EXCITED, SECONDS])
    kept = CELLS / "preflight-logs"
    kept.mkdir(parents=True, exist_ok=True)
    folder = kept / f"{robot}-{seed}-{tier}-{hashlib.sha256(made_from.encode()).hexdigest()[:8]}"
    with folder.with_suffix(".lock").open("w") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)  # who comes second reads what the first recorded
        if not folder.is_dir():
            write_logs(folder, _record(workspace, judge, prior), robot)
    return workspace, prior, [replace(log, interface=workspace.interface) for log in read_logs(folder)]


def _record(workspace: Workspace, judge: Judge, prior: Gaussian) -> list[Log]:
    limits, recipe = judge.reality.interface, Excite(candidates=8)
    keys = [key_for(judge.reality.seed, "pf", k) for k in range(EXCITED)]
    motions = [excite(workspace.simulator, prior, limits, SECONDS, recipe, key) for key in keys]
    logs = [log for k, motion in enumerate(motions) for log in judge.logs(motion, 1, f"pf {k}")]
    able = ORACLES / f"{workspace.interface.robot}-seed0-tierA"
    return logs + (judge.logs(load_policy(able), 2, "pf task") if able.is_dir() else [])


if __name__ == "__main__":
    start(main)
