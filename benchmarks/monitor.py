"""Faults in the middle of an episode: how soon the monitor hands over, and how often it does without a fault.

For each twin: two motions that teach and 24 healthy episodes of a trained policy go through the safety gate into logs; from
them a belief, from belief and logs a watch. Then the policy runs under watch in closed loop, in worlds of the twin that break at
random times (see monitor_faults.py for the faults and for which of them count), and in others that never do. The watch knows what
the logs and the belief say, and nothing of the twin.

A fault is to be caught within half a second of the moment at which something breaks (`caught`), and of the moment at which it
first shows in what is measured (`caught_shown`); both are reported, and so is how many of all never show in time (`hidden`).
"""

import re
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import tyro

from frame import Benchmark, Cells, finish, start
from gapless.core import Block, Task, key_for
from gapless.engine import Plan, Recipe, Stages, Workspace, new_workspace, usable
from gapless.learn.watch import Healthy, LearnWatch, learn_watch
from gapless.nets.fitting import FitNetwork
from gapless.nets.stored_policy import load_policy
from gapless.nets.watch import Watch
from gapless.nets.watched import Watched
from gapless.robots import find_robot
from gapless.robots.finding import reality_of
from gapless.simulators import Agent, Loop, Restart
from judge import ORACLES
from monitor_faults import FAULTS, WITHIN_S, Faulty, departs, shows

TASKS = {"cartpole": "swingup", "furuta": "rotary-swingup", "puck": "slide"}
TWINS = ("cartpole?seed=0&tier=A", "furuta?seed=0&tier=A", "puck?seed=0&tier=A", "cartpole?seed=1&tier=B")
LOGS = 24
"""Healthy episodes on the robot before the watch is learned."""
EARLIEST_S = 0.6
"""A fault begins no earlier; before, the watch has not seen enough."""
BARS = {"caught": "≥ 0.95", "caught_shown": "≥ 0.95", "false_alarms": "< 0.01"}


@dataclass(frozen=True)
class Monitor(Benchmark):
    """Break twins while a policy runs, and see when the monitor notices."""

    twins: tuple[str, ...] = TWINS
    """Which twins."""
    each: int = 48
    """Episodes of each fault on each twin."""
    healthy: int = 480
    """Episodes without a fault on each twin."""
    folder: Path | None = None
    """Keep the twins' workspaces here, and take those that have a belief as they are."""


def cell(setting: dict[str, Any]) -> dict[str, Any]:
    """One twin: rows of all its faults, and its false alarms."""
    spec, quick = f"twin:{setting['twin']}", setting["quick"]
    name = re.sub(r"[^A-Za-z0-9-]", "", re.sub("[?&]", "-", setting["twin"]))
    policy = load_policy(ORACLES / name)
    with tempfile.TemporaryDirectory() as folder:
        stages = _learned(spec, Path(setting["folder"] or folder) / name, policy)
        workspace, belief = stages.workspace, stages.workspace.store.all("belief")[-1]
        own = [a for a in workspace.store.all("logs") if a.recipe["purpose"] == "collect"]
        known = Healthy(stages.simulator(belief), stages.belief(belief), workspace.task, policy)
        recipe = LearnWatch(worlds=64, fit=FitNetwork(steps=300)) if quick else LearnWatch()
        learnt = learn_watch(known, usable(own), recipe, key_for(0, "watch"))
        return _faults(setting, workspace.task, policy, learnt.watch) | {"widened": learnt.widened}


def _learned(spec: str, folder: Path, policy: Block) -> Stages:
    """A workspace with logs of the twin and a belief; one that has them already is taken as it is."""
    robot = spec.removeprefix("twin:").partition("?")[0]
    there = (folder / "workspace.json").is_file()
    workspace = Workspace(folder) if there else new_workspace(folder, robot, TASKS[robot])
    stages = Stages(workspace, Recipe(), 0)
    if not workspace.store.all("belief"):
        twin = find_robot(spec)
        plan = Plan(LOGS, workspace.task.seconds, lambda k: policy)
        logs = [stages.excite(twin, None, 2), stages.collect(twin, "collect", plan, {})]
        twin.disconnect()
        stages.learn(logs)
    return stages


def _faults(setting: dict[str, Any], task: Task, policy: Block, watch: Watch) -> dict[str, Any]:
    reality, each = reality_of(f"twin:{setting['twin']}"), setting["each"]
    steps, rows = (round(s / reality.interface.period_s) for s in (task.seconds, WITHIN_S))
    rng = np.random.default_rng(0)
    begins = rng.integers(round(EARLIEST_S / reality.interface.period_s), steps - rows, each)
    course = Course(Faulty(reality, FAULTS, begins), task, watched(policy, watch))
    played = course.run(watched(policy, watch), steps, 1)
    alarms, ends = played.alarms.reshape(len(FAULTS), each), played.ends.reshape(len(FAULTS), each)
    shown = shows(played.seen, course.simulator.noise(), begins, len(FAULTS))
    clocks = {"": np.broadcast_to(begins, alarms.shape), "_shown": shown - 1}
    counts = {k: departs(played.joints, since, rows) & (since + rows <= steps) for k, since in clocks.items()}
    caught = {
        k: counts[k] & (alarms > begins) & (alarms <= np.minimum(since + rows, ends)) for k, since in clocks.items()
    }
    found = []
    for k, fault in enumerate(FAULTS[1:], 1):
        delay = (alarms[k] - begins)[caught[""][k]] * reality.interface.period_s
        found.append({
            "fault": fault, "episodes": each,
            **{f"count{c}": int(counts[c][k].sum()) for c in clocks},
            **{f"caught{c}": int(caught[c][k].sum()) for c in clocks},
            "hidden": int((clocks["_shown"][k] + rows > steps).sum()),
            "median_s": float(np.median(delay)) if len(delay) else None,
        })  # fmt: skip
    return {"twin": setting["twin"], "rows": found, **_healthy(setting, task, policy, watch, steps)}


def _healthy(setting: dict[str, Any], task: Task, policy: Block, watch: Watch, steps: int) -> dict[str, Any]:
    reality, count = reality_of(f"twin:{setting['twin']}"), setting["healthy"]
    course = Course(Faulty(reality, ("none",), np.full(count, steps + 1)), task, watched(policy, watch))
    played = course.run(watched(policy, watch), steps, 2)
    return {"healthy": count, "false": int(((played.alarms >= 0) & (played.alarms <= played.ends)).sum())}


def watched(policy: Block, watch: Watch) -> Watched:
    """The policy under a watch that hands over to the same policy: until its alarm nothing differs, and then all goes on.

    So that one episode tells both what a fault does and when it is noticed.
    """
    return Watched(policy, watch, policy)


class Played(NamedTuple):
    """What happened in all worlds of a course."""

    joints: dict[str, np.ndarray]
    """Where each joint was when each period was over, (step, world, 1)."""
    seen: dict[str, np.ndarray]
    """What was measured before each command, (step, world, width)."""
    alarms: np.ndarray
    """The measurement of each world's alarm, −1 if none."""
    ends: np.ndarray
    """The measurement of each episode's end."""


class Course:
    """Episodes in closed loop that also tell where the joints were and when the watch was alarmed; compiled once."""

    def __init__(self, simulator: Faulty, task: Task, policy: Watched) -> None:
        self.simulator, self.task = simulator, task
        self._static = eqx.partition(policy, eqx.is_array)[1]
        self._loop = Loop(simulator, Agent(self._look, self._act))

    def run(self, policy: Watched, steps: int, seed: int) -> Played:
        """One episode in each world; worlds of different faults have the same starts and noise."""
        worlds, each = self.simulator.worlds, self.simulator.each
        keys = jax.random.split(key_for(seed, "monitor"), 3)
        begun = {k: np.tile(np.asarray(v), (worlds // each, 1)) for k, v in self.task.start(keys[0], each).items()}
        memory = eqx.filter_vmap(policy.init)(jax.random.split(keys[0], worlds))
        arrays = eqx.partition(policy, eqx.is_array)[0]
        state, carry, last = self._loop.begin(arrays, {"memory": memory}, {}, begun, keys[1])
        _, carry, _, records = self._loop.drive(arrays, state, carry, last, keys[2], steps)
        over = np.asarray(records["finished"])
        ends = np.where(over.any(axis=0), over.argmax(axis=0) + 1, steps)
        joints, seen = ({k: np.asarray(v) for k, v in records[name].items()} for name in ("joints", "seen"))
        return Played(joints, seen, np.asarray(carry["memory"]["watch"].alarm), ends)

    def _look(self, weights: Any, carry: Any, seen: Any, privileged: Any, key: Any) -> Any:
        nobody = Restart(jnp.zeros(self.simulator.worlds, bool), {}, {})
        return carry, nobody, {"finished": self.task.finished(seen), "joints": privileged}

    def _act(self, weights: Any, carry: Any, seen: Any, privileged: Any, fresh: Any, key: Any) -> Any:
        policy, period_s = eqx.combine(weights, self._static), self.simulator.interface.period_s
        keys = jax.random.split(key, self.simulator.worlds)
        memory, command = jax.vmap(policy.step, (None, 0, 0, None, 0))({}, carry["memory"], seen, period_s, keys)
        return {"memory": memory}, command, {"seen": seen}


def main() -> None:
    options = tyro.cli(Monitor, description=__doc__)
    if options.quick:
        options = replace(options, twins=options.twins[:1], each=8, healthy=32)
    common = {"each": options.each, "healthy": options.healthy, "quick": options.quick}
    common["folder"] = None if options.folder is None else str(options.folder.resolve())
    settings = [{"twin": t, **common} for t in options.twins]
    results = Cells("monitor", options).run(cell, settings)
    rows = [{"twin": r["twin"], **row} for r in results for row in r["rows"]]
    total = {k: sum(r[k] for r in rows) for k in ("count", "caught", "count_shown", "caught_shown", "hidden")}
    healthy, false = sum(r["healthy"] for r in results), sum(r["false"] for r in results)
    figures = {
        "caught": total["caught"] / max(total["count"], 1),
        "counted": total["count"],
        "caught_shown": total["caught_shown"] / max(total["count_shown"], 1),
        "counted_shown": total["count_shown"],
        "hidden": total["hidden"],
        "false_alarms": false / max(healthy, 1),
        "healthy": healthy,
        **{f"false_alarms {r['twin']}": r["false"] / r["healthy"] for r in results},
        **{f"widened {r['twin']}": r["widened"] for r in results},
    }
    finish("monitor", options, figures, rows, BARS)


if __name__ == "__main__":
    start(main)
