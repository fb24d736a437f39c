"""What may go wrong in an episode, by name, and what becomes of a reading then."""

from collections.abc import Callable
from typing import Any

import numpy as np

from gapless.core import Signals

MACHINE_FAULTS = (
    "none", "missing channel", "missing reading", "not-a-number", "infinite", "wrong shape", "no numbers", "outside limits",
    "too fast", "bad start", "frozen channel", "frozen robot", "stale stamp", "stamp goes back", "read raises", "send raises",
    "wait raises", "clock raises", "gone for good", "read late", "send late", "wait late", "clock goes back",
    "clock stands still", "garbled reply",
)  # fmt: skip
POLICY_FAULTS = (
    "policy not-a-number", "policy infinite", "policy wrong shape", "policy no command", "policy slow", "policy saturates",
    "clock jumps",
)  # fmt: skip
HARMLESS = ("none", "garbled reply")
"""What must not stop the robot."""
ERRORS = (OSError, TimeoutError, ValueError, KeyError, RuntimeError, ZeroDivisionError)


def _without(seen: Signals, name: str, kept: Signals) -> Signals:
    return {k: v for k, v in seen.items() if k != name}


def _with(make: Callable[[np.ndarray], Any]) -> Callable[[Signals, str, Signals], Any]:
    return lambda seen, name, kept: seen | {name: make(seen[name])}


def _last(values: np.ndarray, value: float) -> np.ndarray:
    return np.append(values[:-1], value)


SPOILERS: dict[str, Callable[[Signals, str, Signals], Any]] = {
    "missing channel": _without,
    "missing reading": lambda seen, name, kept: None,
    "not-a-number": _with(lambda v: _last(v, np.nan)),
    "infinite": _with(lambda v: _last(v, -np.inf)),
    "wrong shape": _with(lambda v: np.append(v, 0.0)),
    "no numbers": _with(lambda v: ["left"] * len(v)),
    "outside limits": _with(lambda v: _last(v, 5.0 + 1e-6)),
    "bad start": _with(lambda v: _last(v, -7.0)),
    "too fast": lambda seen, name, kept: seen | {name: _last(seen[name], -4.9 if kept[name][-1] > 0 else 4.9)},
    "frozen channel": lambda seen, name, kept: seen | {name: kept[name]},
    "frozen robot": lambda seen, name, kept: seen | {k: v for k, v in kept.items() if not k.endswith(".time")},
    "stale stamp": lambda seen, name, kept: seen | {f"{name}.time": kept[f"{name}.time"]},
    "stamp goes back": lambda seen, name, kept: seen | {f"{name}.time": kept[f"{name}.time"] - 1.0},
}
