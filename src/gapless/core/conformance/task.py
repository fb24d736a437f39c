"""The laws of tasks: starts that the simulator knows, one reward per row, a score by hand, a verdict with a reason."""

from collections.abc import Iterator, Mapping

import jax
import numpy as np

from ..interface import Interface
from ..log import Log, on_one_clock
from ..signals import Signals
from ..simulator import Simulator
from ..task import Task, Verdict
from .laws import findings, limit

WORLDS = 3


def check_task(task: Task, simulator: Simulator) -> list[str]:
    """What the task does against its contract in this simulator; empty where it conforms."""
    laws = (_knows_channels, _names_joints, _rewards_rows, _scores_by_hand, _judges)
    return findings(laws, task, simulator.with_worlds(WORLDS))


def _knows_channels(task: Task, simulator: Simulator) -> Iterator[str]:
    """Commands and measurements of the task are channels of the simulator, of the same width."""
    for kind in ("commands", "measurements"):
        widths = {c.name: c.width for c in getattr(simulator.interface, kind)}
        wrong = [c.name for c in getattr(task, kind) if widths.get(c.name) != c.width]
        yield from (f"{name} is none of the {kind} {', '.join(widths)}" for name in wrong)
    task.observe.width(simulator.interface)


def _names_joints(task: Task, simulator: Simulator) -> Iterator[str]:
    """Starts name joints that the simulator has, one row per episode."""
    for draw in (task.start, task.explore):
        start = draw(jax.random.key(0), WORLDS)
        for name, values in start.items():
            joint, _, side = name.rpartition(".")
            if joint not in simulator.joints or side not in ("position", "velocity"):
                yield f"{draw.__name__} names {name!r}, and the joints are {', '.join(simulator.joints)}"
            elif np.shape(values) != (WORLDS, 1) or not np.isfinite(np.asarray(values)).all():
                yield f"{draw.__name__} gives {name} as {np.asarray(values).tolist()}"
        simulator.reset(simulator.init(), np.ones(WORLDS, bool), {}, start, jax.random.key(0))


def _rewards_rows(task: Task, simulator: Simulator) -> Iterator[str]:
    """Reward and end are one number per row, whether rows are worlds or times."""
    for rows in (1, 17):
        seen, command = _some_rows(simulator.interface, rows)
        reward, finished = np.asarray(task.reward(seen, command, seen)), np.asarray(task.finished(seen))
        if reward.shape != (rows,) or not np.isfinite(reward).all():
            yield f"{rows} rows are rewarded with {reward.tolist()}"
        if finished.shape != (rows,) or finished.dtype != bool:
            yield f"{rows} rows end as {finished.dtype} of shape {finished.shape}"


def _scores_by_hand(task: Task, simulator: Simulator) -> Iterator[str]:
    """The score of a log is the sum of its transitions' rewards, times the period."""
    log, by_hand = _log(simulator.interface, 11), 0.0
    for k in range(10):
        before, after = _row(log.measurements, k), _row(log.measurements, k + 1)
        command = _row(log.commands, k)
        by_hand += float(np.asarray(task.reward(before, command, after))[0]) * simulator.interface.period_s
    if abs(task.score(log) - by_hand) > 1e-4 * max(1.0, abs(by_hand)):
        yield f"it is {task.score(log)} and by hand {by_hand}"


def _judges(task: Task, simulator: Simulator) -> Iterator[str]:
    """Any log gets a verdict with a reason and a fitting margin, and a stopped one does not pass."""
    log = _log(simulator.interface, round(task.seconds / simulator.interface.period_s) + 1)
    stopped = task.judge(log.with_source(stopped="the robot was held"))
    for verdict in (task.judge(log), stopped):
        if not isinstance(verdict, Verdict) or not verdict.reason or not np.isfinite(verdict.margin):
            yield f"one verdict is {verdict}"
        elif verdict.passed != (verdict.margin > 0):
            yield f"one {'passed' if verdict.passed else 'failed'} with a margin of {verdict.margin}"
    if stopped.passed:
        yield "a stopped one passed"


def _some_rows(interface: Interface, rows: int) -> tuple[Signals, Signals]:
    """Small measurements, and commands within the limits."""
    rng = np.random.default_rng(0)
    seen: Signals = {c.name: rng.normal(0, 0.1, (rows, c.width)) for c in interface.measurements}
    command: Signals = {
        c.name: rng.uniform(limit(c, "low"), limit(c, "high"), (rows, c.width)) for c in interface.commands
    }
    return seen, command


def _row(signals: Mapping[str, np.ndarray], k: int) -> Signals:
    return {name: values[k : k + 1] for name, values in signals.items()}


def _log(interface: Interface, rows: int) -> Log:
    seen, command = _some_rows(interface, rows)
    return on_one_clock(interface, command, seen, np.arange(rows) * interface.period_s)
