"""`gapless doctor`: the conformance kit over a user's robot, task and model, as a table that says what is off."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import jax

from gapless.core import GaplessError, Interface, Robot, Simulator, Task
from gapless.core.conformance import Finding, Handled, agreement, examine, raised, speed, units
from gapless.core.conformance.clock import has_virtual_clock, keeps_time
from gapless.core.conformance.motion import moves_like_the_model
from gapless.core.conformance.robot import COMMANDED, READ, SIMULATED, TIMED, connects, lets_go
from gapless.core.conformance.simulator import SIMULATOR_LAWS, Bench
from gapless.core.conformance.task import TASK_LAWS, WORLDS
from gapless.engine import Recipe, find_task
from gapless.engine.workspace import built_in_models
from gapless.nets.policy import Shape, new_policy
from gapless.robots import Gate, find_robot
from gapless.simulators import (
    MujocoSimulator,
    complete_model,
    propose_interface,
    propose_parameters,
    read_parameters,
)

from .console import say, table, working
from .options import Common

AREAS = ("interface", "units", "clock", "limits", "determinism", "speed")
MARKS = {"pass": "✓", "note": "note", "fail": "✗"}
NOT_MOVED = Finding(
    "limits",
    "note",
    "Resetting and commanding the robot work, and it moves as the model does",
    "not tried: the robot was read and not moved",
    "Run again with --move when it may move: it will be reset, and each command pushed by a tenth of its range.",
)


@dataclass(frozen=True)
class Doctor(Common):
    """Examine a robot, a task and a model before the first crank, and explain what is off.

    Checks interface, units, clock, limits, determinism and speed. Hardware is only read unless you say --move.
    """

    robot: str | None = None
    """twin:NAME?seed=0&tier=A, path/to/file.py:Class, or package.module:Class."""
    task: str | None = None
    """A built-in task, one made for the model such as reach:CHANNEL, or path/to/file.py:Class."""
    model: str | None = None
    """An MJCF or URDF file, or the name of a built-in model."""
    period_s: float = 0.02
    """Control period of the model; rounded to its time step."""
    move: bool = False
    """Also reset the robot and push each of its commands by a tenth of its range."""

    def run(self) -> dict[str, Any]:
        if self.robot is None and self.task is None and self.model is None:
            raise GaplessError("there is nothing to examine. Name a --robot, a --task, a --model, or several of them.")
        with working("doctor") as tell:
            found = _told_once(self._examined(tell))
        found.sort(key=lambda f: AREAS.index(f.area))
        failed, notes = ([f for f in found if f.mark == mark] for mark in ("fail", "note"))
        _show(found, failed, notes)
        return {"checks": [asdict(f) for f in found], "failed": len(failed), "notes": len(notes)}

    def status(self, printed: dict[str, Any]) -> int:
        return 1 if printed["failed"] else 0

    def _examined(self, tell: Callable[..., None]) -> list[Finding]:
        found: list[Finding] = []
        simulator = self._load("model", self.model, self._simulator, found)
        place = None if simulator is None else lambda: simulator
        task = self._load("task", self.task, lambda spec: find_task(spec, simulator=place), found)
        robot = self._load("robot", self.robot, find_robot, found)
        found += examine({"units": (units.are_si, units.agree)}, _sides(robot, task, simulator))
        if simulator is not None:
            tell("the model")
            found += _of_model(simulator)
        if task is not None:
            tell("the task")
            found += _of_task(task, robot, simulator)
        if robot is not None:
            tell("the robot")
            found += self._of_robot(robot, task, simulator)
        return found

    def _load(self, what: str, spec: str | None, make: Callable[[str], Any], found: list[Finding]) -> Any:
        """What a spec names, or None and a finding that says why there is none."""
        if spec is None:
            return None
        try:
            return make(spec)
        except Exception as error:
            remedy = f"Correct it; nothing else can be said about the {what} before."
            found.append(Finding("interface", "fail", f"The {what} can be loaded", raised(error), remedy))
            return None

    def _simulator(self, spec: str) -> MujocoSimulator:
        path = built_in_models().get(spec, Path(spec))
        model, beside = complete_model(path).model, path.with_suffix(".toml")
        interface = propose_interface(model, path.stem, self.period_s)
        parameters = read_parameters(beside) if beside.is_file() else propose_parameters(model, interface)
        return MujocoSimulator(model, interface, parameters)

    def _of_robot(self, robot: Robot, task: Task | None, simulator: Simulator | None) -> list[Finding]:
        simulated = robot.simulated
        handled = Handled(robot, move=self.move or simulated)
        found = [] if simulator is None else _side_by_side(robot, simulator)
        found += examine({"interface": (connects,)}, handled)
        if found[-1].mark == "fail":
            return found  # nothing more can be asked of it
        found += examine(READ, handled) + examine({"clock": (keeps_time,)}, handled)
        if found[-1].mark == "fail":
            return found + examine({"interface": (lets_go,)}, handled)  # who waits on a broken clock waits long
        found += examine(TIMED, handled)
        if handled.move:
            found += examine(COMMANDED, handled) + _moved(handled, task, simulator)
        else:
            found.append(NOT_MOVED)
        if simulated:
            found += examine(SIMULATED, handled)
        elif handled.move and has_virtual_clock(robot):
            found += examine({"determinism": SIMULATED["determinism"]}, handled)
        return found + examine({"interface": (lets_go,)}, handled)


def _of_model(simulator: Simulator) -> list[Finding]:
    found = examine({"limits": (agreement.bounds_commands,)}, simulator.interface)
    found += examine(SIMULATOR_LAWS, Bench.of(simulator))
    return found + examine({"speed": (speed.trains_in_minutes,)}, simulator, Recipe().train.method.budget)


def _of_task(task: Task, robot: Robot | None, simulator: Simulator | None) -> list[Finding]:
    limits = simulator.interface if robot is None and simulator is not None else getattr(robot, "interface", None)
    found = examine({"units": (units.observes_angles,)}, task, () if limits is None else limits.measurements)
    if simulator is None or limits is None:
        rule, remedy = "The task fits a model", "Name the --model, too: most of a task can only be examined in it."
        return [*found, Finding("interface", "note", rule, "there is no model to examine the task in", remedy)]
    found += examine(TASK_LAWS, task, simulator.with_worlds(WORLDS))
    found += examine({"limits": (agreement.starts_inside,)}, task, simulator, limits)

    def decides(task: Task, simulator: Simulator) -> Any:
        policy = new_policy(simulator.interface, task.observe, Shape(), jax.random.key(0))
        return speed.decides_in_time(policy, simulator.interface)

    decides.__doc__ = speed.decides_in_time.__doc__
    return found + examine({"speed": (decides,)}, task, simulator)


def _side_by_side(robot: Robot, simulator: Simulator) -> list[Finding]:
    laws = {
        "interface": (agreement.same_channels, agreement.same_joints, agreement.same_period),
        "limits": (agreement.accepts_commands,),
    }
    return examine(laws, robot.interface, simulator.interface)


def _moved(handled: Handled, task: Task | None, simulator: Simulator | None) -> list[Finding]:
    """What can only be seen by moving the robot, through the safety gate."""
    if simulator is None or not _alike(handled.robot.interface, simulator.interface):
        return []
    gated = Handled(Gate(handled.robot))
    found = examine({"units": (moves_like_the_model,)}, gated, simulator)
    if task is not None:
        found += examine({"interface": (agreement.starts_as_the_task_says,)}, handled, task, simulator)
    return found


def _alike(one: Interface, other: Interface) -> bool:
    """Whether both list the same channels of the same widths."""
    widths = [(i.command_widths, i.measurement_widths) for i in (one, other)]
    return widths[0] == widths[1]


def _sides(robot: Robot | None, task: Task | None, simulator: Simulator | None) -> units.Sides:
    sides = {"the model": getattr(simulator, "interface", None), "the task": task}
    sides["the robot"] = getattr(robot, "interface", None)
    return {who: (*side.commands, *side.measurements) for who, side in sides.items() if side is not None}


def _told_once(found: list[Finding]) -> list[Finding]:
    """The findings without those that repeat what another law has found already."""
    kept: dict[tuple[str, str], Finding] = {}
    for k, f in enumerate(found):
        kept.setdefault((f.mark, f.seen) if f.mark == "fail" else (f.mark, str(k)), f)
    return list(kept.values())


def _show(found: list[Finding], failed: list[Finding], notes: list[Finding]) -> None:
    table("Examined", ["", "area", "rule", "seen"], [[MARKS[f.mark], f.area, f.rule, f.seen] for f in found])
    for f in failed + notes:
        say(f"{MARKS[f.mark]} {f.area}: {f.seen}. {f.remedy}")
    counted = f"{len(failed)} of {len(found)} checks failed, {len(notes)} notes."
    say(counted if failed or notes else f"All {len(found)} checks pass. Next: gapless new, then gapless crank.")
