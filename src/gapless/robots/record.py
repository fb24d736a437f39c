"""Record one episode of a robot under a policy: what was sent and what was measured, each at its own time."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import numpy as np
from jaxtyping import PRNGKeyArray

from gapless.core import Block, Interface, Log, Robot, Signals

from .gate import Gate
from .readings import stamp_of

Row = dict[str, Any]


def record(
    robot: Robot,
    policy: Block,
    seconds: float,
    episode: int,
    key: PRNGKeyArray,
    finished: Callable[[Signals], Any] | None = None,
    note: Callable[[Row], None] | None = None,
) -> Log:
    """The log of one episode through the safety gate; it ends after `seconds`, when finished, or when the gate stops it.

    A robot that fails on the way ends the episode, too: the log holds what there was, and its source says why. `note` receives
    every row as it happens, for those who must not lose it. A robot with limits of its own comes as Gate(robot, limits).
    """
    gate = robot if isinstance(robot, Gate) else Gate(robot)
    interface, rows = gate.interface, []
    act, keys = _compiled(policy, interface.period_s), np.asarray(jax.random.key_data(jax.random.split(key, 2)))
    memory = policy.init(jax.random.wrap_key_data(keys[0]))
    still = {c.name: np.zeros(c.width, np.float32) for c in interface.measurements}
    act(policy, memory, still, keys[1], 0)  # compiles, so that no period of a real clock is spent on it
    over = finished or (lambda seen: False)
    over(still)
    gate.announce(finished is not None)
    gate.reset(episode)
    began, ended = gate.now(), False
    try:
        for k in range(round(seconds / interface.period_s) + 1):
            seen, time_s = _next(gate, began + k * interface.period_s)
            ended = not gate.stopped and bool(over(_only(interface.measurement_names, seen)))
            command: Signals = {}
            if not gate.stopped and not ended:
                memory, command = act(policy, memory, _only(interface.measurement_names, seen), keys[1], k)
            sent_s = gate.now()
            sent = gate.to_rest() if gate.stopped or ended else gate.send_action(command)
            rows.append(_row(seen, sent, (time_s - began, sent_s - began), began, interface.measurement_names))
            if note is not None:
                note(rows[-1])
            if gate.stopped or ended:
                break
    except BaseException:  # a policy that raises, Ctrl-C
        gate.stop("the recording was interrupted")
        raise
    finally:
        gate.to_rest()  # however it ends, the robot does not keep the last command
    return log_of(rows, interface, {"episode": episode, **_marks(gate, policy.notes(memory), len(rows))})


def _next(gate: Gate, time_s: float) -> tuple[Signals, float]:
    """What is measured then, and when that was; a robot that was stopped while it waited is not asked before it rests."""
    gate.wait_until(time_s)
    return {} if gate.stopped else gate.get_observation(), gate.now()


def _marks(gate: Gate, notes: dict[str, Any], rows: int) -> dict[str, Any]:
    """Why it was stopped, how much the policy pushed against its limits, how many last rows nobody should learn from."""
    noted = dict(notes)
    stopped, trusted = noted.pop("stopped", None), noted.pop("trusted", rows)
    spoiled = max(gate.spoiled, rows - trusted)
    return {"stopped": gate.stopped or stopped, "saturated": round(gate.saturated, 4), "spoiled": spoiled, **noted}


def log_of(rows: list[Row], interface: Interface, source: dict[str, Any]) -> Log:
    """Rows as a log; a channel that was missing or misshapen is written as not-a-number."""

    def column(kind: str, name: str, width: int) -> np.ndarray:
        values = [np.asarray(r[kind].get(name, np.nan), np.float64) for r in rows]
        shaped = [v.reshape(width) if v.size == width else np.full(width, np.nan) for v in values]
        return np.array(shaped).reshape(len(rows), width)

    return Log(
        interface,
        {c.name: column("sent", c.name, c.width) for c in interface.commands},
        {c.name: column("seen", c.name, c.width) for c in interface.measurements},
        np.array([r["time"] for r in rows], np.float64),
        {c.name: np.array([r["times"][c.name] for r in rows], np.float64) for c in interface.measurements},
        source,
    )


def _row(seen: Signals, sent: Signals, times: tuple[float, float], began: float, names: tuple[str, ...]) -> Row:
    """One period; `times` are when measurements were read and when the command was sent."""
    stamps = {name: stamp_of(seen.get(f"{name}.time")) for name in names}
    return {
        "seen": {k: _plain(seen[k]) for k in names if k in seen},
        "sent": {k: _plain(v) for k, v in sent.items()},
        "time": times[1],
        "times": {name: times[0] if stamp is None else stamp - began for name, stamp in stamps.items()},
    }


def _plain(values: Any) -> Any:
    """Numbers as JSON knows them; not-a-number for what is none."""
    try:
        return np.asarray(values, np.float64).tolist()
    except (ValueError, TypeError, OverflowError):
        return float("nan")


def _only(names: tuple[str, ...], seen: Signals) -> Signals:
    return {name: np.asarray(seen[name], np.float32) for name in names}


def _step(policy: Block, memory: Any, seen: Signals, key: Any, step: Any, dt_s: float) -> tuple[Any, Signals]:
    return policy.step({}, memory, seen, dt_s, jax.random.fold_in(jax.random.wrap_key_data(key), step))


_jitted = eqx.filter_jit(_step)


def _compiled(policy: Block, dt_s: float) -> Callable:
    """The policy's step; a block that cannot be traced (an ONNX session, say) is called as it is."""
    step = _jitted if getattr(policy, "traceable", True) else _step
    return lambda policy, memory, seen, key, k: step(policy, memory, seen, key, np.int32(k), dt_s)
