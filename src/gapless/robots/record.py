"""Record one episode of a robot under a policy: what was sent and what was measured, each at its own time."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import numpy as np
from jaxtyping import PRNGKeyArray

from gapless.core import Block, Interface, Log, Robot, Signals

from .gate import Gate

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

    `note` receives every row as it happens, for those who must not lose it.
    """
    gate = robot if isinstance(robot, Gate) else Gate(robot)
    gate.reset(episode)
    interface, rows = gate.interface, []
    act, keys = _compiled(policy), np.asarray(jax.random.key_data(jax.random.split(key, 2)))
    memory = policy.init(jax.random.wrap_key_data(keys[0]))
    began = gate.now()
    for k in range(round(seconds / interface.period_s) + 1):
        gate.wait_until(began + k * interface.period_s)
        seen = gate.get_observation()
        ended = finished is not None and not gate.stopped and bool(finished(_only(interface.measurement_names, seen)))
        if not gate.stopped and not ended:
            memory, command = act(policy, memory, _only(interface.measurement_names, seen), keys[1], k)
        else:
            command = gate.rest()
        time_s = gate.now()
        sent = gate.send_action({name: np.asarray(v) for name, v in command.items()})
        rows.append(_row(seen, sent, time_s, began, interface.measurement_names))
        if note is not None:
            note(rows[-1])
        if gate.stopped or ended:
            break
    return log_of(rows, gate.interface, {"episode": episode, "stopped": gate.stopped})


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


def _row(seen: Signals, sent: Signals, time_s: float, began: float, names: tuple[str, ...]) -> Row:
    taken = {name: float(np.asarray(seen.get(f"{name}.time", time_s)).reshape(-1)[0]) - began for name in names}
    plain = {k: np.asarray(v, np.float64).tolist() for k, v in seen.items() if k in names}
    return {
        "seen": plain,
        "sent": {k: np.asarray(v, np.float64).tolist() for k, v in sent.items()},
        "time": time_s - began,
        "times": taken,
    }


def _only(names: tuple[str, ...], seen: Signals) -> Signals:
    return {name: np.asarray(seen[name], np.float32) for name in names}


@eqx.filter_jit
def _jitted(policy: Block, memory: Any, seen: Signals, key: Any, step: Any) -> tuple[Any, Signals]:
    key = jax.random.fold_in(jax.random.wrap_key_data(key), step)
    return policy.step({}, memory, seen, 0.0, key)


def _compiled(policy: Block) -> Callable:
    """The policy's step; a block that cannot be traced (an ONNX session, say) is called as it is."""
    if getattr(policy, "traceable", True):
        return lambda policy, memory, seen, key, step: _jitted(policy, memory, seen, key, np.int32(step))

    def plain(policy: Block, memory: Any, seen: Signals, key: Any, step: int) -> tuple[Any, Signals]:
        return policy.step({}, memory, seen, 0.0, jax.random.wrap_key_data(key))

    return plain
