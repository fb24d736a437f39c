"""Each check says one clear sentence, and a good log passes them all."""

from dataclasses import replace

import numpy as np
import pytest

from gapless.core import Channel, GaplessError, Interface, Log, on_one_clock
from gapless.logs import check_log, faults, require_sound


def _changed(log: Log, name: str, values: np.ndarray) -> Log:
    return replace(log, measurements={**log.measurements, name: values})


def _clocked(log: Log, name: str, clock: np.ndarray) -> Log:
    return replace(log, measurement_time={**log.measurement_time, name: clock})


def test_a_good_log_has_neither_faults_nor_warnings(make_log):
    assert faults(make_log(20)) == []
    assert check_log(make_log(20)) == []
    require_sound(make_log(20))


def test_time_that_runs_backwards_is_a_fault(make_log):
    clock = np.arange(20) * 0.02
    clock[7] = 0.01
    with pytest.raises(GaplessError, match=r"log 3: the clock of 'pole.angle' runs backwards by 0.11 s after row 6"):
        require_sound(_clocked(make_log(20, episode=3), "pole.angle", clock))


def test_time_that_repeats_is_a_fault(make_log):
    clock = np.arange(20) * 0.02
    clock[7] = clock[6]
    with pytest.raises(GaplessError, match=r"the clock of 'pole.angle' stands still after row 6 \(0.12 s\)"):
        require_sound(_clocked(make_log(20), "pole.angle", clock))


def test_a_time_that_is_not_a_number_is_a_fault(make_log):
    log = make_log(20)
    found = faults(replace(log, command_time=np.where(np.arange(20) == 4, np.nan, log.command_time)))
    assert found == [
        "the log: the clock of the commands is nan in row 4; every sample needs its time. Repair that column."
    ]


@pytest.mark.parametrize(("value", "word"), [(np.nan, "NaN"), (np.inf, "infinite"), (-np.inf, "infinite")])
def test_values_that_are_no_numbers_are_a_fault(value, word, make_log):
    angles = np.zeros((20, 1))
    angles[[5, 9]] = value
    found = faults(_changed(make_log(20), "pole.angle", angles))
    assert found[0].startswith(f"the log: 'pole.angle' is {word} in row 5, and not a finite number in 2 of 20 rows.")


def test_several_faults_are_counted(make_log):
    bad = _changed(make_log(20), "pole.angle", np.full((20, 1), np.nan))
    bad = _changed(bad, "cart.sensor", np.full((20, 2), np.nan))
    with pytest.raises(GaplessError, match="and 1 more of its kind"):
        require_sound(bad)


@pytest.mark.parametrize("rows", [0, 1])
def test_a_log_that_is_too_short_is_a_fault_and_gives_no_warnings(rows, make_log):
    assert faults(make_log(rows))[0] == (
        f"the log: there are {rows} samples of the commands; at least 2 are needed. Leave this log out."
    )
    assert check_log(make_log(rows)) == []


def test_a_gap_is_a_warning(make_log):
    clock = np.arange(20) * 0.02
    clock[10:] += 0.06
    found = check_log(_clocked(make_log(20), "pole.angle", clock))
    assert len(found) == 1
    assert "has 1 gaps of more than 3 median periods (0.02 s), the longest 0.08 s after 0.18 s" in found[0]


def test_three_periods_are_not_yet_a_gap(make_log):
    clock = np.arange(20) * 1.0
    clock[10:] += 2.0
    assert check_log(_clocked(make_log(20), "pole.angle", clock)) == []


def test_a_channel_that_never_changes_is_a_warning(make_log):
    found = check_log(_changed(make_log(20), "pole.angle", np.full((20, 1), 0.5)))
    assert found == ["the log: 'pole.angle' never changes (it is [0.5]). Check that it is connected and mapped."]


def test_angles_that_look_like_degrees_are_a_warning(make_log):
    found = check_log(_changed(make_log(20), "pole.angle", np.linspace(-90, 90, 20)[:, None]))
    assert len(found) == 1
    assert "looks like degrees" in found[0]


@pytest.mark.parametrize("largest", [18.0, 5000.0])
def test_a_few_turns_and_a_running_wheel_do_not_look_like_degrees(largest, make_log):
    assert check_log(_changed(make_log(20), "pole.angle", np.linspace(0, largest, 20)[:, None])) == []


def test_large_values_in_other_units_do_not_look_like_degrees(make_log):
    assert check_log(_changed(make_log(20), "cart.sensor", np.linspace(0, 90, 40).reshape(20, 2))) == []


def test_a_broken_log_can_be_checked_for_oddities_too(make_log):
    clock = np.full(20, np.inf)
    assert (
        check_log(_changed(_clocked(make_log(20), "pole.angle", clock), "pole.angle", np.full((20, 1), np.nan))) == []
    )


def test_another_period_than_the_interfaces_is_a_warning():
    interface = Interface("robot", 0.02, (Channel("u"),), (Channel("y"),))
    ramp = np.arange(10.0)[:, None]
    found = check_log(on_one_clock(interface, {"u": ramp}, {"y": ramp}, np.arange(10) * 0.05))
    assert len(found) == 1
    assert "commands are 0.05 s apart (median), the interface's period is 0.02 s" in found[0]
