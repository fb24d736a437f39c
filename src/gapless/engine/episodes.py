"""Episodes that are never lost: each row is on disk before the next, and what was interrupted is kept as aborted."""

import json
import math
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import PRNGKeyArray

from gapless.core import Block, GaplessError, Interface, Log, Robot, Store, Task
from gapless.core.artifact import plain, write_text
from gapless.logs import write_logs
from gapless.robots import log_of, record

RESET_S = 5.0
"""Robot seconds that a reset costs."""
ROW = {"seen", "sent", "time", "times"}
"""What every line of an episode holds, but for the last."""
LOGS = "logs"
"""The folder of an artifact that its logs are in."""
SHORTEST = 11
"""Rows that an episode must exceed to teach anything."""


def robot_seconds(log: Log) -> float:
    """What an episode costs: its own time and the reset before it."""
    return log.seconds + RESET_S


def good_part(log: Log) -> Log:
    """A log without the last rows, in which the gate no longer trusted the robot."""
    spoiled = log.source.get("spoiled", 0)
    if type(spoiled) is not int or not 0 < spoiled <= len(log):  # a stranger's log may claim anything
        return log
    return log.first(len(log) - spoiled)


def steady_part(log: Log) -> Log:
    """The good part of a log as far as nothing had changed around the robot: what one set of parameters may explain."""
    good, steady_s = good_part(log), log.source.get("steady_s")
    if not isinstance(steady_s, float) or not math.isfinite(steady_s):
        return good
    return good.first(int(np.sum(good.command_time - good.command_time[:1] < steady_s)))


def teaches(log: Log) -> bool:
    """Whether what it has to teach is long enough to learn from."""
    return len(steady_part(log)) > SHORTEST


def marks_of(plan: "Plan", task: Task) -> dict[str, Any]:
    """What logs of these episodes say about what changes in them."""
    return {"steady_s": task.steady_s} if plan.for_task and task.changes else {}


def episode_figures(task: Task, log: Log) -> dict[str, Any]:
    """What the task says about an episode."""
    verdict = task.judge(log)
    return {
        "episode": log.source.get("episode"),
        "seconds": log.seconds,
        "return": task.score(log),
        "terms": task.shares(log),
        "passed": verdict.passed,
        "margin": verdict.margin,
        "stopped": log.source.get("stopped"),
    }


@dataclass(frozen=True)
class Plan:
    """Episodes to record, and what made them so."""

    episodes: int
    seconds: float
    policy: Callable[[int], Block]
    """The policy of the k-th; made only when that episode is recorded."""
    for_task: bool = True
    """Whether an episode is over when the task says so; a motion that teaches goes on."""
    recipe: dict[str, Any] = field(default_factory=dict)
    promise: Callable[[int], dict[str, Any]] | None = None
    """What is expected of the k-th, once its policy was made."""
    after: int = 0
    """Episodes of the same purpose that this crank has recorded before these."""


class EpisodeFile:
    """One episode as lines of JSON, a closing line last."""

    def __init__(self, path: Path, interface: Interface) -> None:
        self.path, self.interface = path, interface

    def expect(self, promise: dict[str, Any]) -> None:
        """Keep what is expected of the episode beside it."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        write_text(self._promise, json.dumps(plain(promise)))

    def expected(self) -> dict[str, Any] | None:
        """What was expected of the episode, if anything was."""
        return json.loads(self._promise.read_text()) if self._promise.is_file() else None

    @property
    def _promise(self) -> Path:
        return self.path.with_suffix(".promise.json")

    def finished(self) -> Log | None:
        """The log, if the episode came to its end."""
        rows = self._lines()
        return log_of(rows[:-1], self.interface, rows[-1]["end"]) if rows and "end" in rows[-1] else None

    def interrupted(self) -> Log | None:
        """What there is of an episode that did not."""
        rows = self._lines()
        if not self.path.exists() or (rows and "end" in rows[-1]):
            return None
        return log_of(rows, self.interface, {"stopped": "the recording was interrupted"})

    def record(self, robot: Robot, plan: Plan, task: Task, episode: int, policy: Block, key: PRNGKeyArray) -> Log:
        """Record it, row by row, and read it back: what is returned is what is on disk."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("w") as file:

            def note(row: dict) -> None:
                file.write(json.dumps(row) + "\n")
                file.flush()

            log = record(robot, policy, plan.seconds, episode, key, task.finished if plan.for_task else None, note)
            note({"end": log.source})
            os.fsync(file.fileno())
        finished = self.finished()
        assert finished is not None
        return finished

    def _lines(self) -> list[dict]:
        found = []
        if self.path.exists():
            for line in self.path.read_text().splitlines():
                try:
                    row = json.loads(line)
                except ValueError:  # the line during which it was interrupted
                    break
                if not isinstance(row, dict) or not (row.keys() >= ROW or isinstance(row.get("end"), dict)):
                    raise GaplessError(
                        f"{self.path} is damaged: a line is no row of an episode. Remove it, and run again."
                    )
                found.append(row)
        return found


def keep_aborted(store: Store, file: EpisodeFile, recipe: dict, task: Task, even_finished: bool = False) -> None:
    """File an interrupted episode as an artifact of its own, so that its robot seconds count; then it is recorded anew."""
    log = file.interrupted()
    if log is None and even_finished:
        log = file.finished()
    if log is None:
        return
    attempt = len(store.all("aborted"))

    def build(folder: Path) -> dict:
        write_logs(folder / "logs", [log], task.name)
        return {
            "robot_seconds": robot_seconds(log),
            "reason": log.source["stopped"] or "it was too short to learn from",
        }

    store.make("aborted", {}, {**recipe, "attempt": attempt}, build)
    file.path.unlink()
