"""Cranks killed at random moments and started again end with what an uninterrupted run makes, to the last byte.

Every stage is killed in its turn, recording included. The killed engine's twin has to end by itself, and every episode that
a kill cut short has to be kept as aborted, its robot seconds counted.
"""

import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import tyro
from rich.progress import Progress

from frame import Benchmark, console, finish
from gapless.core import generator_for
from gapless.engine import Workspace, new_workspace, robot_seconds_spent

ROBOT = "twin:cartpole?seed={seed}"
SMALL = (
    "--recipe.excite-s", "3", "--recipe.draws", "8", "--recipe.checks", "4",
    "--recipe.train.looks", "2", "--recipe.train.worlds", "16", "--recipe.train.ppo.budget", "20000",
    "--recipe.again.looks", "2", "--recipe.again.worlds", "16", "--recipe.again.ppo.budget", "10000",
)  # fmt: skip
"""Every stage does its work, none for long: whether the policy is any good does not matter here."""
A_PASS = 7
"""Kills on the way through one workspace."""
GONE_S = 10.0
"""How long a twin may outlive its engine."""
BARS = {"kills": "≥ 20", "mismatches": "0", "aborted_missing": "0", "twins_left": "0"}


@dataclass(frozen=True)
class Kill(Benchmark):
    """Kill the engine, start it again, compare."""

    kills: int = 20
    """SIGKILLs in all."""
    cranks: int = 2
    """Turns of each run."""
    seed: int = 0
    """Of the cranks, of the twin and of the moments."""


@dataclass(frozen=True)
class Moment:
    """When to kill: so long after so many artifacts are finished."""

    finished: int
    after_s: float


class Engine:
    """One `gapless crank` in a process group of its own."""

    def __init__(self, folder: Path, options: Kill) -> None:
        self.workspace, self.began = Workspace(folder), time.perf_counter()
        command = [sys.executable, "-m", "gapless.cli", "crank", "-n", str(options.cranks), "--workspace", str(folder)]
        command += ["--robot", ROBOT.format(seed=options.seed), "--seed", str(options.seed), *SMALL]
        self._said = tempfile.TemporaryFile("w+")
        self._process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=self._said, start_new_session=True
        )

    def finish(self) -> None:
        """Wait for its end; raise if it went wrong."""
        if self._process.wait():
            self._said.seek(0)
            raise RuntimeError(f"gapless crank ended with {self._process.returncode}: {self._said.read()[-2000:]}")

    def kill_at(self, moment: Moment) -> dict[str, Any] | None:
        """Kill it then; what it was doing, or None if it was done before."""
        while len(self.workspace.store.all()) < moment.finished or not self._stages():
            if self._process.poll() is not None:
                return self.finish()
            time.sleep(0.01)
        time.sleep(moment.after_s)
        if self._process.poll() is not None:
            return self.finish()
        twins, stages = _children(self._process.pid), self._stages()
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        seconds = time.perf_counter() - self.began
        cut_short = sum('"end"' not in p.read_text() for p in self.workspace.folder.glob("progress/*/*.jsonl"))
        return {
            "stage": ", ".join(sorted(stages)) or "between stages",
            "after_s": seconds,
            "cut_short": cut_short,
            "twin_left": sum(map(_outlives, twins)),
        }

    def _stages(self) -> set[str]:
        """Kinds of artifact under way: their drafts lie beside the finished ones."""
        return {p.name[1:].split("-")[0] for p in self.workspace.store.folder.glob(".*-*")}


def main() -> None:
    options = tyro.cli(Kill, description=__doc__)
    if options.quick:
        options = Kill(options.json, options.quick, options.budget_s, min(options.kills, 3), 1, options.seed)
    with tempfile.TemporaryDirectory(prefix="kill-") as folder, Progress(console=console, transient=True) as progress:
        task = progress.add_task("an uninterrupted run", total=options.kills)
        reference = _workspace(Path(folder) / "whole", options)
        Engine(reference.folder, options).finish()
        progress.update(task, description="killing")
        rows, mismatches, aborted = [], 0, 0
        for moments in _passes(reference, options):
            killed = _workspace(Path(folder) / f"killed-{len(rows)}", options)
            before = len(rows)
            for moment in moments:
                row = Engine(killed.folder, options).kill_at(moment)
                if row is None:
                    break
                rows.append({"kill": len(rows) + 1, **row})
                progress.advance(task)
            Engine(killed.folder, options).finish()
            mismatches += len(differences(reference, killed))
            kept = killed.store.all("aborted")
            aborted += len(kept)
            _require_counted(killed, reference)
            console.print(f"{len(rows) - before} kills: {differences(reference, killed) or 'the same artifacts'}")
            if len(rows) >= options.kills:
                break
    figures = {
        "kills": len(rows),
        "mismatches": mismatches,
        "aborted": aborted,
        "aborted_missing": sum(r["cut_short"] for r in rows) - aborted,
        "twins_left": sum(r["twin_left"] for r in rows),
    }
    finish("kill", options, figures, rows, BARS)


def differences(whole: Workspace, killed: Workspace) -> list[str]:
    """Finished artifacts that one has and the other has not, or not with the same content."""
    contents = [{(a.kind, a.id): a.content for a in w.store.all() if a.kind != "aborted"} for w in (whole, killed)]
    differing = {k for k in contents[0].keys() | contents[1].keys() if contents[0].get(k) != contents[1].get(k)}
    return sorted(f"{kind} {id_}" for kind, id_ in differing)


def _require_counted(killed: Workspace, whole: Workspace) -> None:
    extra = sum(a.figures["robot_seconds"] for a in killed.store.all("aborted"))
    spent = robot_seconds_spent(killed.store)
    if abs(spent - extra - robot_seconds_spent(whole.store)) > 1e-6:
        raise RuntimeError(f"{spent} robot seconds were counted, of which {extra} are of aborted episodes")


def _passes(reference: Workspace, options: Kill) -> Any:
    """Moments in the order of the run, a few per pass: every stage before any stage comes twice."""
    rng, made, left = generator_for(options.seed, "kills"), reference.store.all(), options.kills
    stages: list[int] = []
    while left > 0:
        count = min(left, A_PASS)
        while len(stages) < count:
            stages += rng.permutation(len(made)).tolist()
        chosen, stages = sorted(stages[:count]), stages[count:]
        yield [Moment(k, float(rng.uniform(0, made[k].made["seconds"]))) for k in chosen]
        left -= count


def _workspace(folder: Path, options: Kill) -> Workspace:
    return new_workspace(folder, "cartpole", "swingup", options.seed)


def _children(pid: int) -> list[int]:
    listed = Path(f"/proc/{pid}/task/{pid}/children")
    return [int(p) for p in listed.read_text().split()] if listed.exists() else []


def _outlives(pid: int) -> bool:
    """Whether a process is still at work some seconds later."""
    until = time.perf_counter() + GONE_S
    while time.perf_counter() < until:
        status = Path(f"/proc/{pid}/stat")
        try:
            if status.read_text().rpartition(")")[2].split()[0] == "Z":
                return False
        except OSError:
            return False
        time.sleep(0.05)
    return True


if __name__ == "__main__":
    main()
