"""The order of quaternions, judged by a gyro."""

import numpy as np
import pytest

from gapless.core import Channel, Interface, Log, on_one_clock
from gapless.learn.preflight.quaternions import quaternion_findings
from gapless.learn.preflight.undoing import Reorder

INTERFACE = Interface("body", 0.01, (), (Channel("orientation", width=4), Channel("gyro", width=3, unit="rad/s")))


def _tumbling(seed: int, world: bool = False) -> Log:
    """A body that tumbles; its gyro turns with it, or stays behind."""
    rng, q, rows = np.random.default_rng(seed), np.array([1.0, 0.0, 0.0, 0.0]), []
    times = 0.01 * np.arange(80)
    rates = rng.normal(size=3) + np.sin(times[:, None] * rng.uniform(1, 6, 3)) * 3
    for rate in rates:
        rows.append(q)
        half = np.concatenate([[0.0], rate]) * 0.005
        turned = _times(half, q) if world else _times(q, half)
        q = (q + turned) / np.linalg.norm(q + turned)
    noisy = rates + 0.05 * rng.normal(size=rates.shape)
    return on_one_clock(INTERFACE, {}, {"orientation": np.array(rows), "gyro": noisy}, times)


def _times(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    return np.concatenate([[p[0] * q[0] - p[1:] @ q[1:]], p[0] * q[1:] + q[0] * p[1:] + np.cross(p[1:], q[1:])])


@pytest.mark.parametrize("world", [False, True])
def test_w_last_is_found_and_undone(world: bool) -> None:
    logs = [_tumbling(seed, world) for seed in range(3)]
    assert quaternion_findings(logs) == []
    turned = [Reorder("orientation", (1, 2, 3, 0)).on_log(log) for log in logs]
    (found,) = quaternion_findings(turned)
    assert (found.kind, found.channels) == ("quaternion", ("orientation",)) and (found.fold or 0) > 3
    assert quaternion_findings([found.fix.on_log(log) for log in turned]) == []


def test_a_quaternion_has_length_one() -> None:
    logs = [_tumbling(0)]
    doubled = on_one_clock(
        INTERFACE,
        {},
        {**logs[0].measurements, "orientation": 2 * logs[0].measurements["orientation"]},
        logs[0].command_time,
    )
    (found,) = quaternion_findings([doubled])
    assert "length 2" in found.evidence
