"""The clones' speed against MuJoCo Warp on this machine's GPU, alone, one robot after the other:

XLA_PYTHON_CLIENT_PREALLOCATE=false python benchmarks/clone_speed_warp.py FILE.json [SECONDS [ROBOT …]]

Writes after each side and number of worlds, and the reason where there is nothing to measure; begins nothing new after SECONDS.
Once a minute it says where it is, so that a compiler or a driver that hangs is named.
"""

import faulthandler
import importlib.util
import json
import os
import sys
import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax

from clone_robots import ROBOTS
from clone_speed import GPU_WORLDS, against_warp
from gapless.simulators.neural.stored import SHIPPED

BEGAN = time.perf_counter()
FIRST = ("cartpole", "hopper", "furuta", "puck")
"""The one that compiles soonest, then the ones with contacts and without in turns."""
ROUNDS = 3


def main() -> None:
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    faulthandler.dump_traceback_later(60, repeat=True)
    out, limit_s = Path(sys.argv[1]), float(sys.argv[2]) if len(sys.argv) > 2 else 540.0
    missing = importlib.util.find_spec("mujoco_warp") is None or jax.default_backend() != "gpu"
    reason = "mujoco_warp or a GPU is not here" if missing else ""
    say(f"{jax.devices()} {reason}")
    rows: dict[str, dict[str, Any]] = {}
    for robot in sys.argv[3:] or [*FIRST, *(r for r in ROBOTS if r not in FIRST)]:
        for row in [{"robot": robot, "reason": reason}] if reason else _stages(robot, limit_s):
            rows[robot] = rows.get(robot, {}) | row
            ratios = [r["clone / warp"] for r in rows.values() if "clone / warp" in r]
            figures = {"speed_vs_warp": min(ratios)} if ratios else {}
            told = {"device": str(jax.devices()[0]), "figures": figures, "rows": list(rows.values())}
            out.write_text(json.dumps(told, indent=1))
            say(row)
    say("done")


def _stages(robot: str, limit_s: float) -> Iterator[dict[str, Any]]:
    """All that there is time for; whatever a driver throws is the row, and the other robots have their turn."""
    if time.perf_counter() - BEGAN > limit_s:
        yield {"robot": robot, "reason": "no time was left"}
        return
    try:
        for row in against_warp(robot, SHIPPED, GPU_WORLDS, ROUNDS):
            yield row
            if time.perf_counter() - BEGAN > limit_s:
                return
    except Exception:
        yield {"robot": robot, "reason": traceback.format_exc(limit=6)}


def say(what: Any) -> None:
    print(f"[{time.perf_counter() - BEGAN:6.0f} s] {what}", flush=True)


if __name__ == "__main__":
    main()
