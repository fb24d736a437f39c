"""The clones' speed against MuJoCo Warp on this machine's GPU, alone: python benchmarks/clone_speed_warp.py FILE.json

Writes after each robot, and the reason where there is nothing to measure.
"""

import json
import sys
import traceback
from pathlib import Path
from typing import Any

import jax

from clone_robots import ROBOTS
from clone_speed import GPU_WORLDS, speed_against_warp
from gapless.simulators.neural.stored import SHIPPED


def main() -> None:
    out, rows = Path(sys.argv[1]), list[dict[str, Any]]()
    for robot in reversed(ROBOTS):
        rows.append(_row(robot))
        print(rows[-1], flush=True)
        out.write_text(json.dumps({"device": str(jax.devices()[0]), "worlds": GPU_WORLDS, "rows": rows}, indent=1))


def _row(robot: str) -> dict[str, Any]:
    try:
        found = speed_against_warp([robot], SHIPPED)
        return found[0] if found else {"robot": robot, "reason": "mujoco_warp or a GPU is not here"}
    except Exception:  # whatever a driver throws: the reason is the row, and the other robots have their turn
        return {"robot": robot, "reason": traceback.format_exc(limit=4)}


if __name__ == "__main__":
    main()
