"""Cranks killed at random moments and started again end with what an uninterrupted run makes, to the last byte.

Every stage is killed in its turn, recording included. The killed engine's twin has to end by itself, and every episode that
a kill cut short has to be kept as aborted, its robot seconds counted.
"""

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import tyro

from frame import Benchmark, console, finish
from gapless.core import generator_for
from gapless.engine import Workspace, new_workspace, robot_seconds_spent

SMALL = (
    "--recipe.excite-s", "3", "--recipe.draws", "8", "--recipe.checks", "4",
    "--recipe.train.looks", "2", "--recipe.train.worlds", "16", "--recipe.train.method.budget", "20000",
    "--recipe.again.looks", "2", "--recipe.again.worlds", "16", "--recipe.again.method.budget", "10000",
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

    def __init__(self, workspace: Workspace, options: Kill) -> None:
        self.workspace, self.began, self.began_at = workspace, time.perf_counter(), time.time()
        self._errors = workspace.folder / "errors.txt"
        command = [sys.executable, "-m", "gapless.cli", "crank", "--force", "-n", str(options.cranks)]
        command += ["--workspace", str(workspace.folder), "--robot", f"twin:cartpole?seed={options.seed}"]
        command += ["--seed", str(options.seed), *SMALL]
        with self._errors.open("w") as errors:
            self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors, start_new_session=True)

    def finish(self) -> None:
        """Wait for its end; raise if it went wrong."""
        if self._process.wait():
            said = self._errors.read_text()[-2000:]
            raise RuntimeError(f"gapless crank ended with {self._process.returncode}: {said}")

    def kill_at(self, moment: Moment) -> dict[str, Any] | None:
        """Kill it then; what it was doing, or None if it was done before."""
        while self._process.poll() is None and (self._finished() < moment.finished or not self._stages()):
            time.sleep(0.01)
        time.sleep(moment.after_s)
        if self._process.poll() is not None:
            return self.finish()
        twins, stages = _children(self._process.pid), self._stages()
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        return {
            "stage": ", ".join(sorted(stages)) or "between stages",
            "after_s": time.perf_counter() - self.began,
            "cut_short": sum(map(self._cut_short, self.workspace.folder.glob("progress/*/*.jsonl"))),
            "twins_left": sum(map(_outlives, twins)),
        }

    def _finished(self) -> int:
        return sum(not p.name.startswith((".", "aborted-")) for p in self.workspace.store.folder.glob("*"))

    def _stages(self) -> set[str]:
        """Kinds of artifact under way: their drafts lie beside the finished ones. Older drafts are an earlier kill's."""
        found = set()
        for draft in self.workspace.store.folder.glob(".*-*"):
            with contextlib.suppress(FileNotFoundError):  # published in the meantime
                if draft.stat().st_mtime > self.began_at:
                    found.add(draft.name[1:].split("-")[0])
        return found

    def _cut_short(self, episode: Path) -> bool:
        """Whether it was under way now; older ones were counted at an earlier kill."""
        return episode.stat().st_mtime > self.began_at and '{"end"' not in episode.read_text()


def main() -> None:
    options = tyro.cli(Kill, description=__doc__)
    if options.quick:
        options = replace(options, kills=min(options.kills, 3), cranks=1)
    rows: list[dict[str, Any]] = []
    mismatches = aborted = 0
    with tempfile.TemporaryDirectory(prefix="kill-") as folder, console.status("an uninterrupted run") as status:
        whole = new_workspace(Path(folder) / "whole", "cartpole", "swingup", options.seed)
        Engine(whole, options).finish()
        for number, moments in enumerate(passes(whole, options)):
            killed = new_workspace(Path(folder) / f"killed-{number}", "cartpole", "swingup", options.seed)
            for moment in moments[: options.kills - len(rows)]:
                status.update(f"{len(rows)} of {options.kills} kills, {mismatches} mismatches")
                row = Engine(killed, options).kill_at(moment)
                if row is not None:
                    rows.append({"kill": len(rows) + 1, **row})
            Engine(killed, options).finish()
            require_counted(killed, whole)
            found = differences(whole, killed)
            console.print(f"after {len(rows)} kills: {', '.join(found) or 'the same artifacts'}")
            mismatches, aborted = mismatches + len(found), aborted + len(killed.store.all("aborted"))
            if len(rows) >= options.kills:
                break
    figures = {
        "kills": len(rows),
        "mismatches": mismatches,
        "aborted": aborted,
        "aborted_missing": sum(r["cut_short"] for r in rows) - aborted,
        "twins_left": sum(r["twins_left"] for r in rows),
    }
    finish("kill", options, figures, rows, BARS)


def differences(whole: Workspace, killed: Workspace) -> list[str]:
    """Finished artifacts that one has and the other has not, or not with the same content."""
    contents = [{(a.kind, a.id): a.content for a in w.store.all() if a.kind != "aborted"} for w in (whole, killed)]
    differing = {k for k in contents[0].keys() | contents[1].keys() if contents[0].get(k) != contents[1].get(k)}
    return sorted(f"{kind} {id_}" for kind, id_ in differing)


def require_counted(killed: Workspace, whole: Workspace) -> None:
    extra = sum(a.figures["robot_seconds"] for a in killed.store.all("aborted"))
    spent = robot_seconds_spent(killed.store)
    if abs(spent - extra - robot_seconds_spent(whole.store)) > 1e-6:
        raise RuntimeError(f"{spent} robot seconds were counted, of which {extra} are of aborted episodes")


def passes(whole: Workspace, options: Kill) -> Iterator[list[Moment]]:
    """Moments in the order of the run, a few per pass: every stage that lasts comes once before any comes twice."""
    rng, made = generator_for(options.seed, "kills"), whole.store.all()
    lasting = [k for k, a in enumerate(made) if a.made["seconds"] > 0.05]
    stages: list[int] = []
    while True:
        while len(stages) < A_PASS:
            stages += rng.permutation(lasting).tolist()
        chosen, stages = sorted(stages[:A_PASS]), stages[A_PASS:]
        # Later runs find programs compiled and are faster.
        yield [Moment(k, float(rng.uniform(0, 0.7 * made[k].made["seconds"]))) for k in chosen]


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
