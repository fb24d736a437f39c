"""How fast and how exactly the cart-pole's parameters are found from 30 s of logs, on hidden realities of tier A.

.venv/bin/python benchmarks/identify.py
"""

import shutil
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import tyro

from frame import Benchmark, Cells, finish
from gapless.core import Log, Point, key_for, prior_belief
from gapless.engine import Workspace, new_workspace
from gapless.learn import Excite, excite, identify
from gapless.learn.least_squares import information_at
from gapless.learn.shooting import Shooting
from gapless.learn.windows import cut, per_query
from gapless.robots import find_robot, record
from gapless.robots.finding import reality_of

EIGHT = {
    "pole.mass": "pole_kg",
    "pole.com": "lever_m",
    "slider.damping": "damping",
    "slider.friction": "coulomb",
    "hinge.damping": "hinge_damping",
    "motor.gain": "gain",
    "gravity.tilt_x": "tilt_rad",
    "command.latency": "latency_s",
}
"""The eight parameters, and what the judge knows them as."""
EPISODES, SECONDS, KNOWN = 5, 6.0, 0.02
BARS = {"seconds_cartpole": "≤ 10", "error_worst": "≤ 0.05", "latency_error_ms": "≤ 1", "known_least": "≥ 6"}


@dataclass(frozen=True)
class Identification(Benchmark):
    """Eight parameters from 30 s of logs."""

    seeds: int = 5
    """Realities 0 … seeds − 1."""


def main() -> None:
    options = tyro.cli(Identification, description=__doc__)
    settings = [{"seed": s} for s in range(1 if options.quick else options.seeds)]
    cells = Cells("identify", options).run(cell, settings)
    rows = [row for c in cells for row in c["rows"]]
    known = [r for r in rows if r["bound"] < KNOWN]
    figures = {
        "seconds_cartpole": float(np.median([c["seconds"] for c in cells])),
        "error_worst": max(abs(r["error"]) for r in known),
        "known_least": min(sum(r["bound"] < KNOWN for r in c["rows"]) for c in cells),
        "latency_error_ms": max(
            abs(r["found"] - r["truth"]) * 1e3 for r in rows if r["parameter"] == "command.latency"
        ),
        "inside95": float(np.mean([abs(r["found"] - r["truth"]) < 1.96 * r["deviation"] for r in rows])),
    }
    finish("identify", options, figures, rows, BARS)


def cell(setting: dict[str, Any]) -> dict[str, Any]:
    """One reality: 30 s of excitation, one fit, and the Cramér-Rao bound at the truth, which only the judge can take."""
    seed, folder = setting["seed"], Path(tempfile.mkdtemp(prefix="identify-"))
    try:
        workspace = new_workspace(folder / "cartpole", "cartpole", "swingup", seed)
        logs = collect(workspace, seed)
        identify(workspace.simulator, prior_belief(workspace.parameters), logs[:1], logs[1:2])  # warm caches, untimed
        began = time.perf_counter()
        found = identify(workspace.simulator, prior_belief(workspace.parameters), logs[:-1], logs[-1:], seed=seed)
        seconds = time.perf_counter() - began
        hidden = reality_of(f"twin:cartpole?seed={seed}").hidden
        truth = {name: hidden[key] for name, key in EIGHT.items()}
        bounds = cramer_rao(workspace, logs[:-1], truth, found.noise)
        mean, deviation = found.belief.mean(), found.belief.deviation()
        rows = [
            {
                "seed": seed, "parameter": name, "truth": true, "found": float(mean[name]),
                "deviation": float(deviation[name]), "error": float(mean[name]) / true - 1,
                "bound": bounds[name] / abs(true),
            }
            for name, true in truth.items()
        ]  # fmt: skip
        return {"seconds": seconds, "rows": rows}
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def collect(workspace: Workspace, seed: int) -> list[Log]:
    """Excitation episodes on the twin, 30 s in all."""
    robot = find_robot(f"twin:cartpole?seed={seed}")
    prior = prior_belief(workspace.parameters)
    try:
        robot.connect()
        motions = [
            excite(workspace.simulator, prior, robot.interface, SECONDS, Excite(), key_for(seed, "motion", k))
            for k in range(EPISODES)
        ]
        return [record(robot, m, SECONDS, k, key_for(seed, "episode", k)) for k, m in enumerate(motions)]
    finally:
        robot.disconnect()


def cramer_rao(
    workspace: Workspace, logs: list[Log], truth: dict[str, float], noise: dict[str, float]
) -> dict[str, float]:
    """The smallest deviation any unbiased estimate from these logs could have, starts unknown, no prior."""
    windows = cut(workspace.simulator, logs, 0.4)
    assert windows is not None
    names = tuple(truth)
    values = np.array(list(truth.values()))
    fixed = Point(
        tuple(p.name for p in workspace.parameters), np.array([p.nominal for p in workspace.parameters])
    ).mean()
    shooting = Shooting(workspace.simulator, windows, names, fixed)
    information = information_at(shooting, values, np.abs(values), per_query(windows, noise))
    return dict(zip(names, np.sqrt(np.diag(np.linalg.inv(information))), strict=True))


if __name__ == "__main__":
    main()
