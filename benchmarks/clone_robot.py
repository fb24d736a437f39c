"""Is a cloned robot as good to train in as MuJoCo, and how much faster is it?

.venv/bin/python benchmarks/clone_robot.py

One set of weights, those of the package if not given, for all figures. Accuracy: held-out exciting motions over everything that
is plausible, clone against C MuJoCo at 0.5 s, beside C MuJoCo against itself at half the time step. Training: the same `train`
call, recipe, belief and seed in the clone and in C MuJoCo; both policies are judged in C MuJoCo, from the same starts with the
same draws of the belief. `return_kept`: the clone's policy in C MuJoCo / in the clone; `return_vs_mujoco`: the clone's policy in
C MuJoCo / C MuJoCo's own; both means over tasks and seeds. `speed_vs_batch`: simulated seconds per second against `Batch` at the
model's own time step, same cores, the slowest robot. `new_robot_data_ratio`: lessons that a robot which nobody has met needs
with the ancestor that is stored beside the weights / from nothing.
"""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import tyro

from clone_accuracy import accuracy
from clone_new_robot import new_robot
from clone_robots import ROBOTS
from clone_speed import speed, speed_against_warp
from clone_training import trained
from frame import Benchmark, Cells, console, finish
from gapless.simulators.neural.ancestor import has_ancestor
from gapless.simulators.neural.stored import SHIPPED

BARS = {
    "return_kept": "≥ 0.98", "return_vs_mujoco": "≥ 0.95", "speed_vs_batch": "≥ 10", "speed_vs_warp": "≥ 20",
    "new_robot_data_ratio": "≤ 0.2",
}  # fmt: skip


@dataclass(frozen=True)
class CloneRobot(Benchmark):
    """A cloned robot against C MuJoCo."""

    seeds: int = 3
    """Trainings per task and simulator."""
    robots: tuple[str, ...] = tuple(ROBOTS)
    """Which robots."""
    weights: Path = SHIPPED
    """Folder of the clones."""


def main() -> None:
    options = tyro.cli(CloneRobot, description=__doc__)
    files = hashlib.sha256(b"".join(f.read_bytes() for f in sorted(options.weights.iterdir()))).hexdigest()
    common = {"weights": str(options.weights), "files": files, "quick": options.quick}
    seeds = 1 if options.quick else options.seeds
    tasks = [(r, k) for r in options.robots for k in range(len(ROBOTS[r].tasks))]
    figures: dict[str, Any] = {}
    speeds = Cells("clone_robot_speed", options).run(speed, [common | {"robot": r} for r in options.robots])
    rows = Cells("clone_robot_accuracy", options).run(accuracy, [common | {"robot": r} for r in options.robots])
    taught = Cells("clone_robot", options).run(
        trained, [common | {"robot": r, "task": k, "seed": s} for s in range(seeds) for r, k in tasks]
    )
    fresh = []
    if has_ancestor(options.weights):
        fresh = Cells("clone_robot_new", options).run(new_robot, [common | {"seed": s} for s in range(seeds)])
    else:
        console.print(
            "new_robot_data_ratio: no ancestor is beside the weights; benchmarks/clone_ancestor.py teaches one."
        )
    if taught:
        figures |= returns(taught)
    if speeds:
        figures["speed_vs_batch"] = min(r["clone / batch"] for r in speeds)
    against = speed_against_warp(options.robots, options.weights)
    if against is None:
        console.print("speed_vs_warp: mujoco_warp or a GPU is not here; run this where both are.")
    else:
        figures["speed_vs_warp"] = min(r["clone / warp"] for r in against)
    if fresh:
        figures["new_robot_data_ratio"] = float(np.median([r["ratio"] for r in fresh]))
    if rows:
        figures["error_vs_halved_step"] = float(np.median([r["clone / halved"] for r in rows]))
    finish(
        "clone_robot",
        options,
        figures,
        [*_told("accuracy", rows), *_told("speed", speeds), *_told("new robot", fresh)],
        BARS,
    )


def returns(rows: list[dict[str, Any]]) -> dict[str, float]:
    """Each task and seed counts the same, whatever its rewards."""
    for row in rows:
        console.print({k: round(v, 3) if isinstance(v, float) else v for k, v in row.items()})
    return {
        "return_kept": float(np.mean([r["kept"] for r in rows])),
        "return_kept_worst": min(r["kept"] for r in rows),
        "return_vs_mujoco": float(np.mean([r["vs mujoco"] for r in rows])),
        "return_vs_mujoco_worst": min(r["vs mujoco"] for r in rows),
        "wall_clock_vs_mujoco": float(np.median([r["clone s"] / r["mujoco s"] for r in rows])),
    }


def _told(what: str, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"what": what, "found": ", ".join(f"{k} {_short(v)}" for k, v in row.items())} for row in rows]


def _short(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    main()
