"""Undoing a convention in a log and in the mapping it was imported with come to the same."""

from pathlib import Path

import numpy as np
import pytest

from gapless.core import Channel, GaplessError, Interface, Log, on_one_clock
from gapless.learn.preflight.finding import Finding, apply_fix
from gapless.learn.preflight.undoing import COMMANDS, Both, Exchange, Reorder, Rescale, Shift, Undo
from gapless.logs import Mapping, Reading, import_logs, mapping_from_dict, mapping_to_toml

INTERFACE = Interface(
    "leg", 0.02, (Channel("hip"), Channel("knee")),
    (Channel("hip.angle", unit="rad"), Channel("knee.angle", unit="rad"), Channel("turn", width=4)),
)  # fmt: skip
COLUMNS = ("t", "u0", "u1", "q0", "q1", "w", "x", "y", "z")
MAPPING = Mapping(
    {
        "hip": Reading(("u0",)), "knee": Reading(("u1",), scale=2.0), "hip.angle": Reading(("q0",), unit="deg"),
        "knee.angle": Reading(("q1",), scale=3.0, offset=0.5), "turn": Reading(("w", "x", "y", "z")),
    },
    time="t",
)  # fmt: skip
CHANGES = [
    Exchange("hip", "knee"),
    Exchange("hip.angle", "knee.angle"),
    Rescale("knee.angle", -2.0, 0.25),
    Rescale("knee", 0.001),
    Reorder("turn", (3, 0, 1, 2)),
    Both(Exchange("hip", "knee"), Rescale("hip", -1.0)),
]


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    rows = np.random.default_rng(0).normal(size=(12, len(COLUMNS)))
    rows[:, 0] = 0.02 * np.arange(12)
    path = tmp_path / "run.csv"
    np.savetxt(path, rows, delimiter=",", header=",".join(COLUMNS), comments="")
    return path


def test_a_fix_in_the_mapping_is_the_change_of_the_log(recording: Path) -> None:
    (log,) = import_logs([recording], MAPPING, INTERFACE)
    for undo in CHANGES:
        (again,) = import_logs([recording], apply_fix(MAPPING, _finding(undo)), INTERFACE)
        wanted = undo.on_log(log)
        for name, values in (wanted.commands | wanted.measurements).items():
            assert np.allclose(values, (again.commands | again.measurements)[name]), (undo, name)


def test_a_shifted_clock_is_imported_shifted(recording: Path) -> None:
    mapping = apply_fix(apply_fix(MAPPING, _finding(Shift(COMMANDS, 0.07))), _finding(Shift("knee.angle", -0.03)))
    (log,) = import_logs([recording], mapping_from_dict(_read(mapping)), INTERFACE)
    assert log.command_time[0] - log.measurement_time["hip.angle"][0] == pytest.approx(0.07)
    assert log.measurement_time["knee.angle"][0] - log.measurement_time["hip.angle"][0] == pytest.approx(-0.03)


def test_exchanging_twice_changes_nothing() -> None:
    log = _log()
    for pair in (("hip", "knee"), ("hip.angle", "knee.angle"), ("hip", "hip.angle")):
        again = Exchange(*pair).on_log(Exchange(*pair).on_log(log))
        assert all(np.array_equal(again.commands[n], v) for n, v in log.commands.items())
        assert all(np.array_equal(again.measurements[n], v) for n, v in log.measurements.items())


def test_what_no_mapping_can_put_right_is_said() -> None:
    with pytest.raises(GaplessError, match=r"no mapping.*hip froze"):
        apply_fix(MAPPING, Finding("frozen", ("hip.angle",), "hip froze", "Connect it."))
    with pytest.raises(GaplessError, match="no channel 'arm'"):
        apply_fix(MAPPING, _finding(Rescale("arm", 2.0)))


def test_a_shift_of_one_command_is_refused(recording: Path) -> None:
    mapping = Mapping({**MAPPING.channels, "hip": Reading(("u0",), shift_s=0.1)}, time="t")
    with pytest.raises(GaplessError, match="command_shift_s"):
        import_logs([recording], mapping, INTERFACE)


def _finding(undo: Undo) -> Finding:
    return Finding("order", (), "something is off", "Change it.", 2.0, undo)


def _read(mapping: Mapping) -> dict:
    import tomllib

    return tomllib.loads(mapping_to_toml(mapping))


def _log() -> Log:
    rng = np.random.default_rng(1)
    commands = {c.name: rng.normal(size=(9, c.width)) for c in INTERFACE.commands}
    measurements = {c.name: rng.normal(size=(9, c.width)) for c in INTERFACE.measurements}
    return on_one_clock(INTERFACE, commands, measurements, 0.02 * np.arange(9))
