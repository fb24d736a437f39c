"""No file, however broken, gives anything but sound logs or one sentence, and reading leaves no trace."""

import io
import zipfile
from contextlib import suppress
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays, scalar_dtypes

from gapless.core import Channel, GaplessError, Interface
from gapless.logs import (
    Mapping,
    Reading,
    faults,
    import_logs,
    mapping_from_dict,
    propose_mapping,
    read_logs,
    write_logs,
)

INTERFACE = Interface("robot", 0.1, (Channel("u"),), (Channel("q", width=2, unit="rad"), Channel("y")))
PLAIN = Mapping({"u": Reading(("u",)), "q": Reading(("q_0", "q_1")), "y": Reading(("y",))}, time="time")
WIDE = Mapping({"u": Reading(("u",)), "q": Reading(("q",), unit="deg"), "y": Reading(("y",))}, time="time")
EPISODIC = Mapping(PLAIN.channels, time="time", episode="run")

FUZZ = settings(max_examples=100, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
CELLS = st.sampled_from(["", "0", "1", "2", "-3.5", "nan", "inf", "1e999", "x", '"', "0x1", "1,2", "true", "é", "\x00"])
EDITS = st.lists(
    st.tuples(st.sampled_from(["flip", "cut", "grow", "drop"]), st.integers(0, 2**20), st.binary(max_size=4))
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("foreign")


def _damaged(content: bytes, edits) -> bytes:
    """The content after flipping bits, cutting the end, inserting bytes and dropping a stretch."""
    for kind, where, more in edits:
        at = where % (len(content) + 1)
        match kind:
            case "flip":
                content = (
                    content[:at] + bytes([b ^ (1 + where % 255) for b in content[at : at + 1]]) + content[at + 1 :]
                )
            case "cut":
                content = content[: max(at, len(content) // 2)]
            case "grow":
                content = content[:at] + more + content[at:]
            case "drop":
                content = content[:at] + content[at + len(more) :]
    return content


def _require_sound_or_refused(path: Path, content: bytes, *mappings: Mapping) -> None:
    path.write_bytes(content)
    try:
        for mapping in mappings:
            _require_sound_logs_or_a_sentence(path, mapping)
        with suppress(GaplessError):
            propose_mapping(path, INTERFACE)
        assert [p.name for p in path.parent.iterdir()] == [path.name]
        assert path.read_bytes() == content
    finally:
        path.unlink()


def _require_sound_logs_or_a_sentence(path: Path, mapping: Mapping) -> None:
    try:
        logs = import_logs([path], mapping, INTERFACE)
    except GaplessError as error:
        assert str(error).endswith((".", ")"))
        assert "\n" not in str(error)
    else:
        assert logs
        assert not any(faults(log) for log in logs)


def _table() -> dict[str, np.ndarray]:
    rows = np.arange(6)
    return {"time": rows * 0.1, "u": np.sin(rows), "q_0": rows**2, "q_1": -rows, "y": rows % 2, "run": rows // 3}


def _csv() -> bytes:
    columns = _table()
    lines = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]
    return "\n".join(lines).encode()


def _npz(members: dict[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in members.items():
            archive.writestr(f"{name}.npy", content)
    return file.getvalue()


def _npy(values: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.save(file, values)
    return file.getvalue()


def _arrays() -> dict[str, np.ndarray]:
    table = _table()
    return {"time": table["time"], "u": table["u"], "q": np.stack([table["q_0"], table["q_1"]], 1), "y": table["y"]}


def _parquet(columns: dict) -> bytes:
    file = io.BytesIO()
    pq.write_table(pa.table(columns), file)
    return file.getvalue()


@given(content=st.binary(max_size=200))
@FUZZ
def test_noise_is_refused_whatever_it_calls_itself(content, folder):
    for name in ("a.csv", "a.npz", "a.parquet"):
        _require_sound_or_refused(folder / name, content, PLAIN, EPISODIC)


@given(edits=EDITS)
@FUZZ
def test_damaged_csv_is_sound_or_refused(edits, folder):
    _require_sound_or_refused(folder / "a.csv", _damaged(_csv(), edits), PLAIN, EPISODIC)


@given(header=st.permutations(list(_table())), rows=st.lists(st.lists(CELLS, min_size=4, max_size=7), max_size=5))
@FUZZ
def test_csv_of_odd_cells_is_sound_or_refused(header, rows, folder):
    content = "\n".join([",".join(header), *(",".join(row) for row in rows)]).encode()
    _require_sound_or_refused(folder / "a.csv", content, PLAIN, EPISODIC)


@given(edits=EDITS)
@FUZZ
def test_a_damaged_archive_is_sound_or_refused(edits, folder):
    content = _npz({name: _npy(values) for name, values in _arrays().items()})
    _require_sound_or_refused(folder / "a.npz", _damaged(content, edits), WIDE)


@given(name=st.sampled_from(["time", "u", "q", "y"]), edits=EDITS)
@FUZZ
def test_a_damaged_array_in_a_sound_archive_is_sound_or_refused(name, edits, folder):
    members = {key: _npy(values) for key, values in _arrays().items()}
    _require_sound_or_refused(folder / "a.npz", _npz({**members, name: _damaged(members[name], edits)}), WIDE)


@given(
    name=st.sampled_from(["time", "u", "q", "y"]), values=arrays(scalar_dtypes(), array_shapes(min_dims=0, max_dims=3))
)
@FUZZ
def test_arrays_of_any_kind_are_sound_or_refused(name, values, folder):
    members = {key: _npy(found) for key, found in {**_arrays(), name: values}.items()}
    _require_sound_or_refused(folder / "a.npz", _npz(members), WIDE)


@given(edits=EDITS)
@FUZZ
def test_damaged_parquet_is_sound_or_refused(edits, folder):
    _require_sound_or_refused(folder / "a.parquet", _damaged(_parquet(_table()), edits), PLAIN, EPISODIC)


ODD_COLUMNS = st.sampled_from(
    [
        pa.array(["a"] * 6),
        pa.array([None] * 6),
        pa.array([1, None, 3, 4, 5, 6]),
        pa.array([[1.0, 2.0]] * 5 + [[1.0]]),
        pa.array([[1.0, 2.0]] * 5 + [None]),
        pa.array([[1.0, None]] * 6),
        pa.array([[]] * 6, pa.list_(pa.float64())),
        pa.array([[[1.0]]] * 6),
        pa.array([None] * 6, pa.list_(pa.float64(), 3)),
        pa.array([[1, 2, 3]] * 6, pa.list_(pa.int8(), 3)),
        pa.array([{"q_0": 1.0}] * 6),
        pa.array([b"\x80"] * 6),
        pa.array([2**63] * 6, pa.uint64()),
        pa.array(["a", "b"] * 3).dictionary_encode(),
        pa.array([1.5, -2.5, 3, 4, 5, 6], pa.float16()),
        pa.array([1, 2, 3, 4, 5, 6], pa.timestamp("ns")),
        pa.array([True, False] * 3),
    ]
)


@given(odd=st.dictionaries(st.sampled_from(list(_table())), ODD_COLUMNS, min_size=1, max_size=2))
@FUZZ
def test_parquet_of_odd_columns_is_sound_or_refused(odd, folder):
    content = _parquet({**_table(), **odd})
    doubled = pa.Table.from_arrays([pa.array(_table()["u"])] * 2, names=["u", "u"])
    file = io.BytesIO()
    pq.write_table(doubled, file)
    _require_sound_or_refused(folder / "a.parquet", content, PLAIN, WIDE, EPISODIC)
    _require_sound_or_refused(folder / "a.parquet", file.getvalue(), PLAIN)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["time", "channels", "columns", "x"]), inner)
    ),
    max_leaves=8,
)


@given(plain=st.dictionaries(st.sampled_from(["time", "channels", "skip_rows", "only", "x"]), JSON, max_size=4))
@FUZZ
def test_mappings_of_odd_values_are_refused(plain):
    with suppress(GaplessError):
        mapping_from_dict(plain)


@pytest.fixture(scope="module")
def stored(make_log, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("stored") / "logs"
    write_logs(folder, [make_log(8), make_log(5, samples=9)], "balance")
    return folder


@given(
    name=st.sampled_from(["meta/info.json", "data/chunk-000/file-000.parquet", "raw/cart.sensor.parquet"]), edits=EDITS
)
@FUZZ
def test_a_damaged_folder_of_logs_is_read_or_refused(name, edits, stored):
    path = stored / name
    original = path.read_bytes()
    path.write_bytes(_damaged(original, edits))
    try:
        assert len(read_logs(stored)) >= 0
    except GaplessError:
        pass
    finally:
        path.write_bytes(original)
