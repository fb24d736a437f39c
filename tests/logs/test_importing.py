"""Files of other tools become logs, with their own clocks and in SI units, or one error says why not."""

import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gapless.core import Channel, GaplessError, Interface
from gapless.logs import Mapping, Reading, import_logs, write_logs

T = np.arange(10) * 0.02
U, ANGLE, SENSOR = np.sin(T), np.cos(T), np.stack([T, T**2], axis=1)

MAPPING = Mapping(
    {"cart.force": Reading(("u",)), "pole.angle": Reading(("angle",)), "cart.sensor": Reading(("s_0", "s_1"))},
    time="time",
)


def _csv(path, columns: dict, delimiter=",") -> None:
    rows = zip(*columns.values(), strict=True)
    lines = [delimiter.join(columns), *(delimiter.join("" if v is None else str(v) for v in row) for row in rows)]
    path.write_text("\n".join(lines) + "\n")


def _columns() -> dict:
    return {"time": T + 5.0, "u": U, "angle": ANGLE, "s_0": SENSOR[:, 0], "s_1": SENSOR[:, 1], "note": ["x"] * 10}


def _require_expected(log) -> None:
    assert np.allclose(log.command_time, T, atol=1e-12)
    assert np.array_equal(log.commands["cart.force"][:, 0], U)
    assert np.array_equal(log.measurements["pole.angle"][:, 0], ANGLE)
    assert np.array_equal(log.measurements["cart.sensor"], SENSOR)


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_a_csv_file_is_one_log_in_seconds_from_its_start(delimiter, machine, tmp_path):
    _csv(tmp_path / "run.csv", _columns(), delimiter)
    (log,) = import_logs([tmp_path / "run.csv"], MAPPING, machine)
    _require_expected(log)
    assert log.source == {"file": "run.csv", "episode": "run"}


def test_a_csv_file_that_numpy_wrote_is_read(machine, tmp_path):
    columns = {k: v for k, v in _columns().items() if k != "note"}
    np.savetxt(tmp_path / "run.csv", np.stack(list(columns.values()), 1), delimiter=",", header=",".join(columns))
    (log,) = import_logs([tmp_path / "run.csv"], MAPPING, machine)
    assert np.allclose(log.commands["cart.force"][:, 0], U)


def test_a_column_of_whole_numbers_may_turn_fractional_far_down(tmp_path):
    interface = Interface("robot", 1.0, (), (Channel("y"),))
    values = [0] * 300_000 + [0.5]
    _csv(tmp_path / "run.csv", {"y": values, "t": range(len(values))})
    (log,) = import_logs([tmp_path / "run.csv"], Mapping({"y": Reading(("y",))}, time="t"), interface)
    assert log.measurements["y"][-1, 0] == 0.5


def test_parquet_with_lists_is_read(machine, tmp_path):
    table = {"time": T, "u": U, "angle": ANGLE, "s": SENSOR.tolist()}
    mapping = Mapping({**MAPPING.channels, "cart.sensor": Reading(("s",))}, time="time")
    pq.write_table(pa.table(table), tmp_path / "run.parquet")
    (log,) = import_logs([tmp_path / "run.parquet"], mapping, machine)
    _require_expected(log)


def test_an_npz_with_groups_is_several_logs(machine, tmp_path):
    one = {"time": T, "u": U, "angle": ANGLE, "s": SENSOR}
    np.savez(tmp_path / "runs.npz", **{f"{run}/{k}": v for run in ("a", "b") for k, v in one.items()})
    mapping = Mapping({**MAPPING.channels, "cart.sensor": Reading(("s[0]", "s[1]"))}, time="time")
    logs = import_logs([tmp_path / "runs.npz"], mapping, machine)
    assert [log.source["episode"] for log in logs] == ["a", "b"]
    _require_expected(logs[1])
    only = Mapping(mapping.channels, time="time", only="b*")
    assert len(import_logs([tmp_path / "runs.npz"], only, machine)) == 1


def test_a_clock_with_one_time_more_than_commands_ends_with_a_measurement(machine, tmp_path):
    np.savez(tmp_path / "run.npz", time=T, u=U[:-1], angle=ANGLE, s=SENSOR)
    mapping = Mapping({**MAPPING.channels, "cart.sensor": Reading(("s",))}, time="time")
    (log,) = import_logs([tmp_path / "run.npz"], mapping, machine)
    assert (len(log), len(log.measurements["pole.angle"])) == (9, 10)


def test_an_episode_column_cuts_a_table(machine, tmp_path):
    columns = {name: np.tile(np.asarray(v), 2) for name, v in _columns().items()}
    _csv(tmp_path / "runs.csv", {**columns, "run": ["first"] * 10 + ["second"] * 10})
    logs = import_logs([tmp_path / "runs.csv"], Mapping(MAPPING.channels, time="time", episode="run"), machine)
    assert [log.source["episode"] for log in logs] == ["first", "second"]
    for log in logs:
        _require_expected(log)


def test_rows_without_a_value_are_no_samples_of_that_channel(machine, tmp_path):
    slow = [angle if i % 2 == 0 else None for i, angle in enumerate(ANGLE)]
    _csv(tmp_path / "run.csv", {**_columns(), "angle": slow})
    (log,) = import_logs([tmp_path / "run.csv"], MAPPING, machine)
    assert len(log) == 10
    assert np.allclose(log.measurement_time["pole.angle"], T[::2])
    assert np.array_equal(log.measurements["pole.angle"][:, 0], ANGLE[::2])


def test_each_channel_may_have_its_own_clock_and_unit(machine, tmp_path):
    late = {"when": (T + 0.005) * 1e3, "sent": T * 1e3, "angle": np.degrees(ANGLE)}
    _csv(tmp_path / "run.csv", {**_columns(), **late})
    angle = Reading(("angle",), unit="deg", time="when")
    sensor = Reading(("s_0", "s_1"), scale=2.0, offset=1.0, time="sent")
    channels = {**MAPPING.channels, "pole.angle": angle, "cart.sensor": sensor}
    mapping = Mapping(channels, command_time="sent", time_unit="ms")
    (log,) = import_logs([tmp_path / "run.csv"], mapping, machine)
    assert np.allclose(log.measurement_time["pole.angle"], T + 0.005)
    assert np.allclose(log.measurements["pole.angle"][:, 0], ANGLE)
    assert np.allclose(log.measurements["cart.sensor"], 2 * SENSOR + 1)


def test_without_a_clock_rows_are_one_period_apart_and_first_rows_can_be_skipped(machine, tmp_path):
    _csv(tmp_path / "run.csv", _columns())
    (log,) = import_logs([tmp_path / "run.csv"], Mapping(MAPPING.channels, skip_rows=3), machine)
    assert np.allclose(log.command_time, T[:7])
    assert log.commands["cart.force"][0, 0] == U[3]


def test_a_machine_without_motors_can_be_imported(tmp_path):
    interface = Interface("pendulum", 0.02, (), (Channel("angle"),))
    np.savez(tmp_path / "run.npz", state=np.stack([ANGLE, U], 1))
    (log,) = import_logs([tmp_path / "run.npz"], Mapping({"angle": Reading(("state[0]",))}), interface)
    assert len(log) == 10
    assert np.array_equal(log.measurements["angle"][:, 0], ANGLE)


def test_imported_logs_can_be_stored(machine, tmp_path):
    _csv(tmp_path / "run.csv", _columns())
    write_logs(tmp_path / "logs", import_logs([tmp_path / "run.csv"], MAPPING, machine), "balance")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"angle": [*ANGLE[:-1], "oops"]}, "cannot be read as CSV"),
        ({"angle": [*ANGLE[:-1], "nan"]}, "'pole.angle' is NaN in row 9"),
        ({"angle": [*ANGLE[:-1], "1e999"]}, "'pole.angle' is infinite"),
        ({"time": T[::-1]}, "runs backwards"),
        ({"time": [*T[:-1], T[-2]]}, "stands still"),
        ({"s_1": [*SENSOR[:-1, 1], None]}, "'cart.sensor' is NaN"),
        ({"time": [*T[:-1], None]}, "is nan in row 9"),
    ],
)
def test_bad_cells_are_named(change, sentence, machine, tmp_path):
    _csv(tmp_path / "run.csv", {**_columns(), **change})
    with pytest.raises(GaplessError, match=sentence):
        import_logs([tmp_path / "run.csv"], MAPPING, machine)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "its first line must name the columns"),
        ("0,1,2\n3,4,5\n", "its first line must name the columns"),
        ("time,u,u\n1,2,3\n", "several columns named 'u'"),
        ("time,u\n1,2\n", "has no column 'angle' for 'pole.angle'"),
        ("time,u,angle,s_0,s_1\n", "there are 0 samples of the commands"),
        ("time,u,angle,s_0,s_1\n0,1,2,3,4\n", "there are 1 samples of the commands; at least 2"),
        ("time,u,angle,s_0,s_1\n0,1,2,3\n", "cannot be read as CSV"),
        ("\udcff", "cannot be read as CSV"),
    ],
)
def test_a_file_of_another_shape_is_one_sentence(text, sentence, machine, tmp_path):
    (tmp_path / "run.csv").write_text(text, errors="surrogateescape")
    with pytest.raises(GaplessError, match=sentence):
        import_logs([tmp_path / "run.csv"], MAPPING, machine)


def test_one_bad_file_means_that_nothing_is_imported(machine, tmp_path):
    _csv(tmp_path / "good.csv", _columns())
    _csv(tmp_path / "bad.csv", {**_columns(), "time": T[::-1]})
    with pytest.raises(GaplessError, match="log 'bad'"):
        import_logs([tmp_path / "good.csv", tmp_path / "bad.csv"], MAPPING, machine)


@pytest.mark.parametrize(
    ("arrays", "sentence"),
    [
        ({"s": np.zeros((10, 3))}, "its width is 2"),
        ({"s": np.zeros((10, 2, 1))}, r"of shape \(10, 2, 1\)"),
        ({"u": np.array(["a"] * 10)}, "it must hold numbers"),
        ({"u": np.array([{}] * 10)}, "it must hold numbers"),
        ({"u": U[:5]}, "for 5 samples; it needs one time per sample"),
        ({"time": SENSOR}, r"clock 'time' of shape \(10, 2\)"),
        ({"u": np.zeros(10, complex)}, "it must hold numbers"),
    ],
)
def test_arrays_of_another_shape_or_kind_are_named(arrays, sentence, machine, tmp_path):
    np.savez(tmp_path / "run.npz", **{"time": T, "u": U, "angle": ANGLE, "s": SENSOR, **arrays})
    mapping = Mapping({**MAPPING.channels, "cart.sensor": Reading(("s",))}, time="time")
    with pytest.raises(GaplessError, match=sentence):
        import_logs([tmp_path / "run.npz"], mapping, machine)


def test_a_place_beyond_the_column_is_named(machine, tmp_path):
    np.savez(tmp_path / "run.npz", time=T, u=U, angle=ANGLE, s=SENSOR)
    mapping = Mapping({**MAPPING.channels, "cart.sensor": Reading(("s[1]", "s[2]"))}, time="time")
    with pytest.raises(GaplessError, match=r"has 2 numbers in 's'; 's\[2\]' is beyond"):
        import_logs([tmp_path / "run.npz"], mapping, machine)


def test_an_archive_that_announces_absurd_sizes_is_not_loaded(machine, tmp_path):
    header = {"descr": "<f8", "fortran_order": False, "shape": (2**40,)}
    np.savez(tmp_path / "run.npz", time=T, angle=ANGLE, s=SENSOR)
    with zipfile.ZipFile(tmp_path / "run.npz", "a") as archive, archive.open("u.npy", "w") as file:
        np.lib.format.write_array_header_1_0(file, header)
    mapping = Mapping({**MAPPING.channels, "cart.sensor": Reading(("s",))}, time="time")
    with pytest.raises(GaplessError, match="numbers; at most"):
        import_logs([tmp_path / "run.npz"], mapping, machine)


def test_partly_sent_commands_are_named(tmp_path):
    interface = Interface("robot", 0.02, (Channel("a"), Channel("b")), ())
    _csv(tmp_path / "run.csv", {"a": [1, 2, 3], "b": [1, None, 3]})
    mapping = Mapping({"a": Reading(("a",)), "b": Reading(("b",))})
    with pytest.raises(GaplessError, match="only a part of a, b in row 1"):
        import_logs([tmp_path / "run.csv"], mapping, interface)


@pytest.mark.parametrize("name", ["run.mat", "nothing.csv"])
def test_files_that_cannot_be_imported_are_named(name, machine, tmp_path):
    (tmp_path / "run.mat").write_text("x")
    with pytest.raises(GaplessError, match=r"no kind of file|there is no file"):
        import_logs([tmp_path / name], MAPPING, machine)


def test_an_episode_pattern_that_matches_nothing_is_named(machine, tmp_path):
    _csv(tmp_path / "run.csv", _columns())
    with pytest.raises(GaplessError, match=r"matches only = 'walk\*'"):
        import_logs([tmp_path / "run.csv"], Mapping(MAPPING.channels, time="time", only="walk*"), machine)
