"""A log: its clocks, its length, and what it refuses."""

import numpy as np
import pytest

from gapless.core import Channel, GaplessError, Interface, Log, on_one_clock, stack, unstack

MACHINE = Interface("cart", 0.02, (Channel("push"),), (Channel("place"), Channel("force", width=2)))


def rows(n: int) -> Log:
    measured = {"place": np.zeros((n, 1)), "force": np.zeros((n, 2))}
    return on_one_clock(MACHINE, {"push": np.zeros((n, 1))}, measured, np.arange(n) * 0.02)


def test_a_log_lasts_to_the_end_of_its_last_period() -> None:
    assert rows(50).seconds == pytest.approx(1.0)
    assert rows(0).seconds == 0.0


def test_a_log_can_gain_sources_without_losing_any() -> None:
    log = rows(3).with_source(robot="a").with_source(episode=4)
    assert log.source == {"robot": "a", "episode": 4}
    assert len(log) == 3


def test_a_missing_channel_is_named_with_those_present() -> None:
    with pytest.raises(GaplessError, match=r"the log has no channel 'force' \(it has: place\). Record it or map it."):
        on_one_clock(MACHINE, {"push": np.zeros((2, 1))}, {"place": np.zeros((2, 1))}, np.arange(2))


def test_a_channel_that_does_not_fit_its_clock_is_refused() -> None:
    measured = {"place": np.zeros((2, 1)), "force": np.zeros((2, 3))}
    with pytest.raises(GaplessError, match=r"channel 'force' has shape \(2, 3\); its clock and interface say \(2, 2\)"):
        on_one_clock(MACHINE, {"push": np.zeros((2, 1))}, measured, np.arange(2))


def test_unstacking_undoes_stacking() -> None:
    signals = {"a": np.arange(6.0).reshape(3, 2), "b": np.arange(3.0).reshape(3, 1)}
    again = unstack(stack(signals, ["b", "a"]), {"b": 1, "a": 2})
    assert list(again) == ["b", "a"]
    assert all((again[k] == signals[k]).all() for k in signals)
