"""Logs on disk: nothing is lost, nothing is half-written, and damage is named."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from gapless.core import Channel, GaplessError, Interface, Log
from gapless.logs import read_logs, write_logs

FLOATS = st.floats(width=64)


def _files(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


@st.composite
def _sets_of_logs(draw) -> list[Log]:
    widths = draw(st.lists(st.integers(1, 3), min_size=1, max_size=3))
    commands = tuple(
        Channel(f"motor {i}", width=w) for i, w in enumerate(draw(st.lists(st.integers(1, 2), max_size=2)))
    )
    measured = tuple(Channel(f"sensor.{i}", width=w, high=1.5) for i, w in enumerate(widths))
    interface = Interface("robot", draw(st.floats(1e-3, 10)), commands, measured)
    sources = st.dictionaries(st.text(max_size=5), st.text(max_size=5) | st.booleans() | st.integers(-9, 9), max_size=2)

    def log() -> Log:
        rows = draw(st.integers(0, 5))
        counts = {c.name: draw(st.just(rows) | st.integers(0, 6)) for c in measured}
        return Log(
            interface,
            {c.name: draw(arrays(np.float64, (rows, c.width), elements=FLOATS)) for c in commands},
            {c.name: draw(arrays(np.float64, (counts[c.name], c.width), elements=FLOATS)) for c in measured},
            draw(arrays(np.float64, rows, elements=FLOATS)),
            {c.name: draw(arrays(np.float64, counts[c.name], elements=FLOATS)) for c in measured},
            draw(sources),
        )

    return [log() for _ in range(draw(st.integers(1, 3)))]


@given(logs=_sets_of_logs())
@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
def test_any_logs_come_back_bit_for_bit(logs, same, tmp_path_factory):
    folder = tmp_path_factory.mktemp("store") / "logs"
    write_logs(folder, logs, "balance")
    back = read_logs(folder)
    assert len(back) == len(logs)
    assert all(same(a, b) for a, b in zip(logs, back, strict=True))


@pytest.mark.parametrize("rows", [0, 1])
def test_an_aborted_log_comes_back(rows, make_log, same, tmp_path):
    logs = [make_log(5), make_log(rows, samples=3, stopped="pole.angle left its limits"), make_log(4)]
    write_logs(tmp_path / "logs", logs, "balance")
    assert all(same(a, b) for a, b in zip(logs, read_logs(tmp_path / "logs"), strict=True))


def test_empty_logs_are_no_episodes_for_lerobot(make_log, tmp_path):
    write_logs(tmp_path / "logs", [make_log(5), make_log(0), make_log(4)], "balance")
    info = json.loads((tmp_path / "logs/meta/info.json").read_text())
    episodes = pq.read_table(tmp_path / "logs/meta/episodes/chunk-000/file-000.parquet").to_pydict()
    assert (info["total_episodes"], info["total_frames"]) == (2, 9)
    assert episodes["length"] == [5, 4]
    assert episodes["dataset_from_index"] == [0, 5]


def test_the_data_file_holds_exactly_the_declared_features(make_log, tmp_path):
    write_logs(tmp_path / "logs", [make_log(5)], "balance")
    info = json.loads((tmp_path / "logs/meta/info.json").read_text())
    schema = pq.read_schema(tmp_path / "logs/data/chunk-000/file-000.parquet")
    assert set(schema.names) == set(info["features"])
    assert info["features"]["action"] == {"dtype": "float32", "shape": [1], "names": ["cart.force"]}
    assert info["features"]["observation.state"]["names"] == ["pole.angle", "cart.sensor.0", "cart.sensor.1"]
    assert schema.field("cart.sensor").type == pa.list_(pa.float64(), 2)
    assert schema.field("pole.angle.time").type == pa.float64()
    assert info["fps"] == 50


def test_timestamps_count_periods_and_true_clocks_stand_beside_them(make_log, tmp_path):
    log = make_log(4)
    write_logs(tmp_path / "logs", [log], "balance")
    table = pq.read_table(tmp_path / "logs/data/chunk-000/file-000.parquet")
    assert np.allclose(table["timestamp"].to_numpy(), [0, 0.02, 0.04, 0.06])
    assert table["command.time"].to_numpy().tolist() == log.command_time.tolist()


def test_a_channel_of_another_rate_lives_in_a_file_of_its_own(make_log, tmp_path):
    write_logs(tmp_path / "logs", [make_log(5), make_log(4, samples=9)], "balance")
    raw = pq.read_table(tmp_path / "logs/raw/cart.sensor.parquet")
    names = pq.read_schema(tmp_path / "logs/data/chunk-000/file-000.parquet").names
    assert raw["log_index"].to_pylist() == [0] * 5 + [1] * 9
    assert "cart.sensor" not in names
    assert "observation.state" in names


def test_the_state_for_lerobot_is_interpolated_at_the_command(machine, tmp_path):
    times, samples = np.array([0.0, 0.02]), np.array([0.0, 0.01, 0.03])
    log = Log(
        machine,
        {"cart.force": np.ones((2, 1))},
        {"pole.angle": np.array([[1.0], [2.0]]), "cart.sensor": np.array([[0.0, 0], [1, 10], [3, 30]])},
        times,
        {"pole.angle": times, "cart.sensor": samples},
    )
    write_logs(tmp_path / "logs", [log], "balance")
    table = pq.read_table(tmp_path / "logs/data/chunk-000/file-000.parquet")
    assert np.allclose(table["observation.state"].to_pylist(), [[1, 0, 0], [2, 2, 20]])


def test_statistics_are_those_of_the_columns(machine, make_log, tmp_path):
    log = replace(make_log(3), commands={"cart.force": np.array([[1.0], [2.0], [6.0]])})
    write_logs(tmp_path / "logs", [log], "balance")
    stats = json.loads((tmp_path / "logs/meta/stats.json").read_text())["action"]
    assert (stats["min"], stats["max"], stats["mean"], stats["q50"], stats["count"]) == ([1], [6], [3], [2], [3])
    assert np.isclose(stats["std"][0], np.sqrt(14 / 3))


def test_the_same_logs_give_the_same_bytes(make_log, tmp_path):
    for name in ("a", "b"):
        write_logs(tmp_path / name, [make_log(5, samples=7), make_log(3)], "balance")
    assert _files(tmp_path / "a") == _files(tmp_path / "b")


def test_an_empty_folder_is_filled_and_a_full_one_is_left_alone(make_log, same, tmp_path):
    folder = tmp_path / "logs"
    folder.mkdir()
    write_logs(folder, [make_log(3)], "balance")
    with pytest.raises(GaplessError, match="exists already"):
        write_logs(folder, [make_log(4)], "balance")
    assert same(read_logs(folder)[0], make_log(3))


@pytest.mark.parametrize("task", ["\ud800", "balance"])
def test_a_failed_write_leaves_nothing(task, make_log, tmp_path):
    odd = make_log(3).with_source(policy=object() if task == "balance" else "")
    with pytest.raises(GaplessError):
        write_logs(tmp_path / "logs", [make_log(3), odd], task)
    assert list(tmp_path.iterdir()) == []


def test_no_logs_cannot_be_written(tmp_path):
    with pytest.raises(GaplessError, match="no logs to write"):
        write_logs(tmp_path / "logs", [], "balance")


def test_logs_of_two_machines_cannot_share_a_folder(make_log, tmp_path):
    log = make_log(3)
    other = replace(log, interface=replace(log.interface, period_s=0.01))
    with pytest.raises(GaplessError, match=r"period 0.02 s against 0.01 s"):
        write_logs(tmp_path / "logs", [log, other], "balance")


def test_a_channel_beyond_the_interface_is_not_dropped_silently(make_log, tmp_path):
    log = make_log(3)
    odd = replace(log, measurements={**log.measurements, "secret": np.zeros((3, 1))})
    with pytest.raises(GaplessError, match="does not name: secret"):
        write_logs(tmp_path / "logs", [odd], "balance")


@pytest.mark.parametrize(
    "name", ["a/b", "../../x", "timestamp", "action", "observation.state", "a.time", ".x", "x" * 101]
)
def test_a_name_without_a_place_in_the_layout_is_refused(name, tmp_path):
    interface = Interface("robot", 0.1, (Channel(name),), ())
    log = Log(interface, {name: np.zeros((2, 1))}, {}, np.arange(2.0), {})
    with pytest.raises(GaplessError, match="cannot be stored"):
        write_logs(tmp_path / "logs", [log], "balance")


def test_names_that_differ_in_capitals_only_are_refused(tmp_path):
    interface = Interface("robot", 0.1, (Channel("Arm"), Channel("arm")), ())
    log = Log(interface, {n: np.zeros((2, 1)) for n in ("Arm", "arm")}, {}, np.arange(2.0), {})
    with pytest.raises(GaplessError, match="capitals"):
        write_logs(tmp_path / "logs", [log], "balance")
