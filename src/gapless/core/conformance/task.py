"""The laws of tasks: starts that the simulator knows, one reward per row, no chance or side effects, a verdict."""

from collections.abc import Iterator, Mapping

import jax
import jax.numpy as jnp
import numpy as np

from ..interface import Interface
from ..log import Log, on_one_clock
from ..signals import Signals
from ..simulator import Simulator
from ..task import Task, Verdict
from .laws import Law, Seen, findings, limit, unequal

WORLDS = 3
ANYWHERE = 257
"""Places at which the reward is asked for."""
SINGLE = 1e-4
"""Largest difference between two ways to the same number in single precision."""


def check_task(task: Task, simulator: Simulator) -> list[str]:
    """What the task does against its contract in this simulator; empty where it conforms."""
    laws = [law for listed in TASK_LAWS.values() for law in listed]
    return findings(laws, task, simulator.with_worlds(WORLDS))


def _knows_channels(task: Task, simulator: Simulator) -> Iterator[str]:
    """Commands and measurements of the task are channels of the simulator, of the same width.

    Name them as the model's actuators and sensors are named, or add those to the model.
    """
    for kind in ("commands", "measurements"):
        widths = {c.name: c.width for c in getattr(simulator.interface, kind)}
        wrong = [c.name for c in getattr(task, kind) if widths.get(c.name) != c.width]
        for name in wrong:
            if name in widths:
                yield f"{name} has another width than the model's {widths[name]}"
            else:
                yield f"{name} is none of the {kind} {', '.join(widths)}"
    task.observe.width(simulator.interface)
    if not (np.isfinite(task.seconds) and task.seconds >= 2 * simulator.interface.period_s):
        yield f"an episode of {task.seconds} s is shorter than two periods"
    yield Seen(f"{task.name}: {', '.join(c.name for c in (*task.commands, *task.measurements))}")


def _names_joints(task: Task, simulator: Simulator) -> Iterator[str]:
    """Starts name joints that the simulator has, one row per episode.

    Let start and explore return "<joint>.position" and "<joint>.velocity" of shape (n, 1).
    """
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
    """Reward and end are one number per row, whether rows are worlds or times.

    Take the channel's first number with [..., 0], and compute with jax.numpy on all rows at once.
    """
    for rows in (1, 17):
        seen, command = _some_rows(simulator.interface, rows)
        reward, finished = np.asarray(task.reward(seen, command, seen)), np.asarray(task.finished(seen))
        if reward.shape != (rows,) or not np.isfinite(reward).all():
            yield f"{rows} rows are rewarded with {reward.tolist()}"
        if finished.shape != (rows,) or finished.dtype != bool:
            yield f"{rows} rows end as {finished.dtype} of shape {finished.shape}"


def _rewards_anywhere(task: Task, simulator: Simulator) -> Iterator[str]:
    """The reward is finite wherever the robot may be.

    Look for a division by zero, a root or a logarithm of what may be negative, or an overflowing exponential.
    """
    before, command = _anywhere(simulator.interface, 0)
    after, _ = _anywhere(simulator.interface, 1)
    for seen in (before, after):
        with np.errstate(all="ignore"):
            reward = np.asarray(task.reward(seen, command, after))
        bad = np.flatnonzero(~np.isfinite(reward))
        if bad.size:
            at = ", ".join(f"{name} {np.round(v[bad[0]], 4).tolist()}" for name, v in after.items())
            yield f"it is {reward[bad[0]]} at {at}"
            return
    yield Seen(f"{ANYWHERE} places, between {reward.min():.3g} and {reward.max():.3g} per second")


def _repeats(task: Task, simulator: Simulator) -> Iterator[str]:
    """Reward, end and starts have no chance but the key's, and leave their arguments as they are.

    Draw with the key and nothing else, keep nothing in self, and change no array in place.
    """
    seen, command = _some_rows(simulator.interface, 5)
    kept = {k: np.array(v) for k, v in seen.items()}
    one, other = ({"reward": task.reward(seen, command, seen), "end": task.finished(seen)} for _ in range(2))
    yield from unequal("two calls", [one], [other])
    yield from unequal("a measurement before and after the call", [kept], [seen])
    for draw in (task.start, task.explore):
        first, second = ([draw(jax.random.key(3), WORLDS)] for _ in range(2))
        yield from unequal(f"two draws of {draw.__name__} with one key", first, second)


def _traces(task: Task, simulator: Simulator) -> Iterator[str]:
    """Reward, end and starts can be compiled: jit and vmap give what a plain call gives.

    Compute with jax.numpy instead of numpy, float() or math, and choose with jnp.where instead of if.
    """
    seen, command = ({k: jnp.asarray(v, jnp.float32) for k, v in s.items()} for s in _some_rows(simulator.interface, 5))
    plain = [{"reward": task.reward(seen, command, seen), "end": task.finished(seen)}]
    for what, compiled in (("jit", jax.jit), ("vmap", jax.vmap)):
        traced = {"reward": compiled(task.reward)(seen, command, seen), "end": compiled(task.finished)(seen)}
        yield from unequal(f"{what} and a plain call", plain, [traced], SINGLE)
    for draw in (task.start, task.explore):
        drawn = [draw(jax.random.key(0), WORLDS)]
        traced = [jax.jit(draw, static_argnums=1)(jax.random.key(0), WORLDS)]
        yield from unequal(f"{draw.__name__} compiled and called", drawn, traced, SINGLE)


def _scores_by_hand(task: Task, simulator: Simulator) -> Iterator[str]:
    """The score of a log is the sum of its transitions' rewards, times the period.

    Leave score() as it is, and let the reward of a row depend on that row alone.
    """
    log, by_hand = _log(simulator.interface, 11), 0.0
    for k in range(10):
        before, after = _row(log.measurements, k), _row(log.measurements, k + 1)
        command = _row(log.commands, k)
        by_hand += float(np.asarray(task.reward(before, command, after))[0]) * simulator.interface.period_s
    if abs(task.score(log) - by_hand) > 1e-4 * max(1.0, abs(by_hand)):
        yield f"it is {task.score(log)} and by hand {by_hand}"


def _judges(task: Task, simulator: Simulator) -> Iterator[str]:
    """Any log gets a verdict with a reason and a fitting margin, and a stopped one does not pass.

    Let judge fail logs whose source says "stopped", and return a margin that is positive where it passes.
    """
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


def _anywhere(interface: Interface, seed: int) -> tuple[Signals, Signals]:
    """Measurements all over their limits, zero and both ends included, and commands within theirs."""
    rng = np.random.default_rng(seed)
    seen: Signals = {}
    for c in interface.measurements:
        low, high = (v if np.isfinite(v) else np.copysign(np.pi, v) for v in (c.low, c.high))
        values = rng.uniform(low, high, (ANYWHERE, c.width))
        values[:3] = np.clip([[0.0], [low], [high]], low, high)
        seen[c.name] = values
    _, command = _some_rows(interface, ANYWHERE)
    return seen, command


def _row(signals: Mapping[str, np.ndarray], k: int) -> Signals:
    return {name: values[k : k + 1] for name, values in signals.items()}


def _log(interface: Interface, rows: int) -> Log:
    seen, command = _some_rows(interface, rows)
    return on_one_clock(interface, command, seen, np.arange(rows) * interface.period_s)


TASK_LAWS: dict[str, tuple[Law, ...]] = {
    "interface": (_knows_channels, _names_joints, _rewards_rows, _scores_by_hand, _judges),
    "limits": (_rewards_anywhere,),
    "determinism": (_repeats, _traces),
}
"""By area."""
