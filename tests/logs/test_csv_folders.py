"""Folders of CSV files with their own clocks, as SAGE writes them, become one episode each."""

import csv
from pathlib import Path

import numpy as np
import pytest

from gapless.core import Channel, GaplessError, Interface
from gapless.logs import Mapping, Reading, import_logs, mapping_from_dict, propose_mapping
from gapless.logs.files import column_widths, read_episodes

ARM = Interface(
    "arm",
    0.02,
    (Channel("hip"), Channel("knee")),
    (Channel("hip.position", unit="rad"), Channel("knee.torque", unit="N m")),
)
T = np.arange(20) * 0.02


def sage(folder: Path, seconds: bool = False, joints: str = "/World/robot/hip\n/World/robot/knee\n") -> Path:
    """A motion as SAGE records it: microseconds on robots, seconds in simulation."""
    unit = 1.0 if seconds else 1e6
    folder.mkdir(parents=True)
    (folder / "joint_list.txt").write_text(joints)
    _write(folder / "control.csv", ["type", "timestamp", "positions"], [["CONTROL", t * unit, [t, 2 * t]] for t in T])
    rows = [["STATE_MOTOR", (t + 0.004) * unit, [3 * t, 4 * t], [0.0, 0.0], [5 * t, 6 * t]] for t in T[:15]]
    _write(folder / "state_motor.csv", ["type", "timestamp", "positions", "velocities", "torques"], rows)
    _write(folder / "event.csv", ["type", "timestamp", "event"], [["EVENT", 0.0, "MOTION_START"]])
    return folder


def _write(path: Path, header: list, rows: list) -> None:
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([header, *rows])


@pytest.mark.parametrize("seconds", [True, False])
def test_a_sage_folder_is_one_log_whatever_unit_it_counts_in(seconds, tmp_path):
    folder = sage(tmp_path / "wave", seconds)
    mapping = propose_mapping(folder, ARM)
    assert mapping.time_unit == ("s" if seconds else "us")
    assert mapping.command_time == "control.timestamp"
    assert mapping.channels["knee.torque"] == Reading(("state_motor.torques[knee]",), time="state_motor.timestamp")
    (log,) = import_logs([folder], mapping, ARM)
    assert np.allclose(log.commands["knee"][:, 0], 2 * T)
    assert np.allclose(log.measurements["hip.position"][:, 0], 3 * T[:15])
    assert np.allclose(log.measurements["knee.torque"][:, 0], 6 * T[:15])
    assert np.allclose(log.measurement_time["hip.position"], T[:15] + 0.004)
    assert log.source == {"file": "wave", "episode": "wave"}


def test_a_folder_of_such_folders_is_several_episodes(tmp_path):
    for name in ("b", "a"):
        sage(tmp_path / "motions" / name)
    logs = import_logs([tmp_path / "motions"], propose_mapping(tmp_path / "motions", ARM), ARM)
    assert [log.source["episode"] for log in logs] == ["a", "b"]


def test_without_a_list_of_joints_numbers_are_named_by_their_place(tmp_path):
    folder = sage(tmp_path / "wave")
    (folder / "joint_list.txt").unlink()
    assert column_widths(folder)["control.positions"] == 2
    plain = {
        "command_time": "control.timestamp",
        "time_unit": "us",
        "channels": {
            "hip": {"columns": "control.positions[0]"},
            "knee": {"columns": "control.positions[1]"},
            "hip.position": {"columns": "state_motor.positions[0]", "time": "state_motor.timestamp"},
            "knee.torque": {"columns": "state_motor.torques[1]", "time": "state_motor.timestamp"},
        },
    }
    (log,) = import_logs([folder], mapping_from_dict(plain), ARM)
    assert np.allclose(log.commands["knee"][:, 0], 2 * T)


def test_plain_columns_of_several_files_are_read_side_by_side(tmp_path):
    _write(tmp_path / "motor.csv", ["time", "volts"], [[0.0, 1.0], [0.1, ""], [0.2, 3.0]])
    _write(tmp_path / "encoder.csv", ["time", "angle"], [[0.05, 4.0], [0.06, 5.0]])
    (columns,) = read_episodes(tmp_path, ["motor.volts", "encoder.angle", "encoder.time"]).values()
    assert columns["motor.volts"].present.tolist() == [True, False, True]
    assert columns["encoder.angle"].values[:, 0].tolist() == [4.0, 5.0]


@pytest.mark.parametrize(
    ("cell", "sentence"),
    [
        ("[1.0]", "lists of different lengths"),
        ("[1.0, x]", "cannot be read as CSV"),
        ("[1.0, ]", "cannot be read as CSV"),
    ],
)
def test_lists_that_are_no_numbers_are_named(cell, sentence, tmp_path):
    folder = sage(tmp_path / "wave")
    _write(folder / "control.csv", ["type", "timestamp", "positions"], [["C", 0, "[1, 2]"], ["C", 1, cell]])
    with pytest.raises(GaplessError, match=sentence):
        read_episodes(folder, ["control.positions"])


def test_an_empty_list_of_cells_is_no_sample(tmp_path):
    folder = sage(tmp_path / "wave")
    rows = [["C", 0, "[1, nan]"], ["C", 1, ""], ["C", 2, "(3, 4)"]]
    _write(folder / "control.csv", ["type", "timestamp", "positions"], rows)
    (columns,) = read_episodes(folder, ["control.positions[hip]"]).values()
    assert columns["control.positions[hip]"].present.tolist() == [True, False, True]
    assert columns["control.positions[hip]"].values[2, 0] == 3.0


def test_a_folder_without_recordings_is_one_sentence(tmp_path):
    (tmp_path / "notes.txt").write_text("x")
    with pytest.raises(GaplessError, match="holds no recording"):
        column_widths(tmp_path)


def test_links_out_of_the_folder_are_not_followed(tmp_path):
    folder = sage(tmp_path / "wave")
    _write(tmp_path / "secret.csv", ["time"], [[1]])
    (folder / "extra.csv").symlink_to(tmp_path / "secret.csv")
    with pytest.raises(GaplessError, match="leads out of the folder"):
        column_widths(folder)


def test_an_episode_column_makes_no_sense_in_a_folder(tmp_path):
    mapping = Mapping({c.name: Reading((c.name,)) for c in ARM.commands + ARM.measurements}, episode="type")
    with pytest.raises(GaplessError, match=r"is one episode\. Drop `episode`"):
        import_logs([sage(tmp_path / "wave")], mapping, ARM)
