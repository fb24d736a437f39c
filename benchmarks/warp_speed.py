"""MuJoCo Warp's speed by itself: python benchmarks/warp_speed.py ROBOT WORLDS ROUNDS

A process of its own, as JAX takes most of the card's memory for itself.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from clone_robots import physics
from gapless.simulators import MujocoSimulator

PERIODS = 50
CONTACTS, ROWS = 8, 48
"""Contacts and rows of constraints that MuJoCo Warp has room for in each world: more than any of the robots has."""


def warp_rates(robot: str, worlds: int, rounds: int) -> list[float]:
    """Simulated seconds per second, round by round; raises with what the process said where it failed."""
    command = [sys.executable, __file__, robot, str(worlds), str(rounds)]
    done = subprocess.run(command, env={**os.environ, "JAX_PLATFORMS": "cpu"}, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"MuJoCo Warp ended with {done.returncode}: {done.stderr[-800:]}")
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    robot, worlds, rounds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    mujoco = physics(robot)
    run = warped(mujoco, worlds)
    print(json.dumps([rate(run, worlds, mujoco) for _ in range(rounds)]))


def rate(run: Callable[[], Any], worlds: int, mujoco: MujocoSimulator) -> float:
    """Simulated seconds per second."""
    began = time.perf_counter()
    run()
    return worlds * PERIODS * mujoco.interface.period_s / (time.perf_counter() - began)


def warped(mujoco: MujocoSimulator, worlds: int) -> Callable[[], Any]:
    """MuJoCo Warp's steps as one graph of the card, at the model's own time step, under random commands held."""
    import mujoco_warp  # pyright: ignore[reportMissingImports]
    import warp  # pyright: ignore[reportMissingImports]

    model = mujoco_warp.put_model(mujoco.model)
    state = mujoco_warp.make_data(mujoco.model, nworld=worlds, nconmax=CONTACTS, njmax=ROWS)
    high = np.array([c.high for c in mujoco.interface.commands])
    held = np.random.default_rng(0).uniform(-high, high, (worlds, len(high)))
    warp.copy(state.ctrl, warp.array(held.astype(np.float32)))
    # Everything is compiled by the first step: while a graph is captured, no module may be loaded.
    mujoco_warp.step(model, state)
    warp.synchronize()
    with warp.ScopedCapture() as capture:
        for _ in range(mujoco.substeps):
            mujoco_warp.step(model, state)

    def run(_held: Any = (model, state)) -> None:  # a graph does not keep alive what it works on
        for _ in range(PERIODS):
            warp.capture_launch(capture.graph)
        warp.synchronize()

    run()
    return run


if __name__ == "__main__":
    main()
