"""Quaternions in logs: whether they have length one, and whether w comes first, judged by the rates that a gyro measured."""

from itertools import product

import numpy as np
from jaxtyping import Float

from gapless.core import Channel, Log

from .finding import Finding
from .undoing import Reorder

ONE = 0.02
"""How far from one the length of a quaternion may be."""
XYZW, WXYZ = (3, 0, 1, 2), (0, 1, 2, 3)
"""Which logged number is w, x, y, z if w came last, and if it came first as the model has it."""
FOLD, FITS = 2.0, 0.6
"""How many fold better the other order must explain the rates, and how well at least, as a share of them."""

Quaternions = Float[np.ndarray, "time 4"]


def quaternion_findings(logs: list[Log]) -> list[Finding]:
    """What is wrong with channels of four numbers that are quaternions."""
    interface = logs[0].interface
    gyros = [c for c in interface.measurements if c.width == 3 and c.unit == "rad/s"]
    return [f for c in interface.measurements if _is_quaternion(c, logs) for f in _findings(c, gyros, logs)]


def _is_quaternion(channel: Channel, logs: list[Log]) -> bool:
    lengths = np.concatenate([np.linalg.norm(log.measurements[channel.name], axis=1) for log in logs])
    named = any(word in channel.name.lower() for word in ("quat", "orientation", "rotation", "attitude"))
    return channel.width == 4 and channel.unit == "" and (named or bool(np.all(np.abs(lengths - 1) < ONE)))


def _findings(channel: Channel, gyros: list[Channel], logs: list[Log]) -> list[Finding]:
    lengths = np.concatenate([np.linalg.norm(log.measurements[channel.name], axis=1) for log in logs])
    typical = float(np.median(lengths))
    if abs(typical - 1) > ONE:
        evidence = f"{channel.name} has length {typical:.3g}, and a quaternion has length 1"
        advice = f"Check the columns and the scale of {channel.name} in the mapping."
        return [Finding("quaternion", (channel.name,), evidence, advice)]
    for gyro in gyros:
        now, other = (_misfit(channel.name, gyro.name, logs, order) for order in (WXYZ, XYZW))
        if now > FOLD * other and other < FITS:
            evidence = f"{channel.name} looks like x, y, z, w: reading w last explains {gyro.name} {now / other:.0f}-fold better"
            advice = f"Give the columns of {channel.name} as w, x, y, z in the mapping."
            return [Finding("quaternion", (channel.name,), evidence, advice, now / other, Reorder(channel.name, XYZW))]
    return []


def _misfit(channel: str, gyro: str, logs: list[Log], order: tuple[int, ...]) -> float:
    """How badly the quaternion's own rate explains the measured one, in the better of body and world frame."""
    off, all_rates = {"body": 0.0, "world": 0.0}, 0.0
    for log, frame in product(logs, off):
        clock, q = log.measurement_time[channel], log.measurements[channel][:, list(order)]
        if len(clock) < 4:
            continue
        middle, rate = _rates(clock, q, frame)
        measured = np.stack(
            [np.interp(middle, log.measurement_time[gyro], c) for c in log.measurements[gyro].T], axis=1
        )
        off[frame] += float(((rate - measured) ** 2).sum())
        all_rates += float((measured**2).sum()) / len(off)
    return float(np.sqrt(min(off.values()) / max(all_rates, 1e-12)))


def _rates(clock: np.ndarray, q: Quaternions, frame: str) -> tuple[np.ndarray, Float[np.ndarray, "step 3"]]:
    """Angular velocity between neighbouring samples, and the times between them."""
    a, b = q[:-1], q[1:]
    b = b * np.where((a * b).sum(axis=1) < 0, -1.0, 1.0)[:, None]  # q and −q are one rotation
    inverse = a * np.array([1.0, -1.0, -1.0, -1.0])
    turned = _product(inverse, b) if frame == "body" else _product(b, inverse)
    return (clock[:-1] + clock[1:]) / 2, 2 * turned[:, 1:] / np.diff(clock)[:, None]


def _product(p: Quaternions, q: Quaternions) -> Quaternions:
    w, v = p[:, :1], p[:, 1:]
    u, x = q[:, :1], q[:, 1:]
    return np.concatenate([w * u - (v * x).sum(axis=1, keepdims=True), w * x + u * v + np.cross(v, x)], axis=1)
