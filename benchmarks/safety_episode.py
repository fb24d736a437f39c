"""One episode through the gate: what was to happen, and what did."""

from typing import Any

import jax

from gapless.core import Log
from gapless.robots import Gate, record
from safety_faults import HARMLESS
from safety_machine import Machine
from safety_policy import Hostile
from safety_scenes import PINNED, Scene, scene_of

ROWS = 60
"""Periods of an episode."""


def play(seed: int, number: int) -> dict[str, Any]:
    """One episode and what became of it."""
    scene = scene_of(seed, number)
    machine = Machine(scene)
    try:
        gate = Gate(machine, scene.limits)
        log = record(gate, Hostile(scene, machine), ROWS * scene.interface.period_s, 0, jax.random.key(0))
    except Exception as error:
        return _result(scene, machine, None, f"{type(error).__name__}: {error}")
    return _result(scene, machine, log, log.source["stopped"])


def _result(scene: Scene, machine: Machine, log: Log | None, says: str | None) -> dict[str, Any]:
    rows, struck, due = 0 if log is None else len(log), machine.struck_at, _due(scene, machine)
    must_stop, stopped = scene.fault not in HARMLESS and due is not None, log is not None and says is not None
    in_time = must_stop and stopped and struck is not None and due is not None and struck <= rows - 1 <= due
    return {
        "fault": scene.fault,
        "struck": struck is not None,
        "must_stop": must_stop,
        "in_time": in_time,  # the log's last row is the period of the stop
        "false_stop": scene.fault in HARMLESS and stopped,
        "kept": rows == ROWS + 1 or (0 < rows <= ROWS and stopped),
        "violations": machine.witness.violations + (not machine.witness.resting),
        "commands": machine.witness.commands,
        "says": says,
    }


def _due(scene: Scene, machine: Machine) -> int | None:
    """The last period in which the fault may stop the robot: one after it could be known, None if it never could."""
    if scene.fault in ("frozen channel", "frozen robot", "stale stamp"):
        return None if machine.known_at is None else machine.known_at + 1
    if machine.struck_at is None:
        return None
    known_after = {"too fast": scene.limits.rate_samples - 1, "policy saturates": int(PINNED) + 1}
    return machine.struck_at + known_after.get(scene.fault, 0) + 1
