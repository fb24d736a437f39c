"""What logs show without a model, and what they must not be blamed for."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from gapless.core import Channel, Interface, Log, on_one_clock
from gapless.learn.preflight.signals import signal_findings

INTERFACE = Interface("arm", 0.02, (Channel("motor"),), (Channel("joint", unit="rad"), Channel("tip", unit="m")))


def _log(noise: float = 1e-3, step: float = 0.0, rows: int = 300) -> Log:
    """Two channels that follow sines, with noise, or rounded to an encoder's steps."""
    clock, rng = 0.02 * np.arange(rows), np.random.default_rng(0)
    joint = np.sin(3 * clock) + 0.5 * np.sin(7 * clock) + noise * rng.normal(size=rows)
    tip = 0.3 * np.cos(4 * clock) + noise * rng.normal(size=rows)
    if step:
        joint, tip = (np.round(v / step) * step for v in (joint, tip))
    measured = {"joint": joint[:, None], "tip": tip[:, None]}
    return on_one_clock(INTERFACE, {"motor": np.sin(5 * clock)[:, None]}, measured, clock)


def _joint(log: Log, change: Callable[[np.ndarray], np.ndarray]) -> Log:
    return replace(log, measurements={**log.measurements, "joint": change(log.measurements["joint"])})


def _kinds(*logs: Log) -> list[tuple[str, tuple[str, ...]]]:
    return [(f.kind, f.channels) for f in signal_findings(list(logs))]


@pytest.mark.parametrize("log", [_log(), _log(0.0), _log(0.0, 0.01), _log(1e-3, 0.01)])
def test_good_logs_are_not_blamed(log: Log) -> None:
    assert _kinds(log) == []


def test_an_encoder_at_rest_is_not_blamed() -> None:
    rest = _joint(_log(0.0, 0.01), lambda v: np.where(np.arange(len(v))[:, None] < 60, 0.0, v - v[60]))
    assert _kinds(rest) == []


def test_a_channel_that_stops_answering_is_frozen() -> None:
    log = _log()
    frozen = _joint(log, lambda v: np.concatenate([v[:120], np.repeat(v[120:121], 180, axis=0)]))
    assert _kinds(log, frozen) == [("frozen", ("joint",))]
    assert _kinds(_joint(log, lambda v: 0 * v)) == [("frozen", ("joint",))]


def test_a_clipped_channel_is_at_its_limit() -> None:
    assert _kinds(_joint(_log(), lambda v: np.clip(v, -0.8, 0.8))) == [("saturated", ("joint",))]


def test_repeated_samples_are_named() -> None:
    held = np.arange(300) - (np.random.default_rng(1).random(300) < 0.12)
    assert _kinds(_joint(_log(), lambda v: v[np.maximum(held, 0)])) == [("repeated", ("joint",))]
    assert _kinds(_joint(_log(), lambda v: v[2 * (np.arange(300) // 2)])) == [("repeated", ("joint",))]


@pytest.mark.parametrize("clock_tells", [True, False])
def test_missing_samples_are_named_whether_the_clock_tells_or_not(clock_tells: bool) -> None:
    log = _log()
    kept = np.sort(np.random.default_rng(2).permutation(300)[:275])
    clock = log.command_time[kept] if clock_tells else log.command_time[:275]
    commands = {k: v[kept] for k, v in log.commands.items()}
    measured = {k: v[kept] for k, v in log.measurements.items()}
    assert [kind for kind, _ in _kinds(on_one_clock(INTERFACE, commands, measured, clock))] == ["dropped"]


def test_a_clock_that_runs_backwards_is_named() -> None:
    log = _log()
    late = log.command_time.copy()
    late[150:] -= 0.5
    assert _kinds(replace(log, command_time=late)) == [("clock", ("the commands",))]
