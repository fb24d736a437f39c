"""Tables and archives from somebody else are read or refused; none is unpickled, unpacked or trusted about its size."""

import io
import os
import struct
import time
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gapless.core import Channel, GaplessError, Interface
from gapless.logs import Mapping, Reading, import_logs, propose_mapping, read_mapping
from gapless.logs.guard import from_arrow

INTERFACE = Interface("robot", 0.1, (Channel("u"),), (Channel("y"),))
MAPPING = Mapping({"u": Reading(("u",)), "y": Reading(("y",))}, time="time")
EPISODIC = Mapping(MAPPING.channels, time="time", episode="run")
ROWS = np.arange(6.0)
COLUMNS = {"time": ROWS * 0.1, "u": np.sin(ROWS), "y": ROWS}


class Hostile:
    """What runs a command when it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple:
        return os.system, (f"touch {self.mark}",)


def npy(values: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.save(file, values)
    return file.getvalue()


def npz(path: Path, members: dict[str, bytes], compression: int = zipfile.ZIP_STORED) -> Path:
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def announced(shape: str, kind: str = "<f8") -> bytes:
    """An array's header that promises this shape, and no numbers after it."""
    text = f"{{'descr': {kind!r}, 'fortran_order': False, 'shape': {shape}, }}".encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text) + 1) + text + b"\n"


def brought_in(path: Path, mapping: Mapping = MAPPING) -> list:
    return import_logs([path], mapping, INTERFACE)


MEMBERS = {f"{name}.npy": npy(values) for name, values in COLUMNS.items()}


def test_pickled_objects_in_an_archive_are_not_revived(tmp_path: Path, refusal) -> None:
    mark = tmp_path / "it-ran"
    hostile = np.array([Hostile(mark)] * 6, object)
    path = npz(tmp_path / "a.npz", {**MEMBERS, "u.npy": npy(hostile)})
    assert "it must hold numbers" in refusal(brought_in, path)
    propose_mapping(path, INTERFACE)
    assert not mark.exists()


@pytest.mark.parametrize(
    "name", ["../u.npy", "/u.npy", "../../../../tmp/u.npy", "C:\\u.npy", "a/../../u.npy", "u.npy/"]
)
def test_names_that_lead_out_of_an_archive_write_nothing(tmp_path: Path, name: str) -> None:
    (tmp_path / "deep" / "inside").mkdir(parents=True)
    others = {key: content for key, content in MEMBERS.items() if key != "u.npy"}
    path = npz(tmp_path / "deep" / "inside" / "a.npz", {**others, name: MEMBERS["u.npy"]})
    there = sorted(tmp_path.rglob("*"))
    try:
        brought_in(path)
    except GaplessError as error:
        assert str(error).isprintable()
    assert sorted(tmp_path.rglob("*")) == there


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (announced("(1000000000000,)"), "announces"),
        (announced("(1000000, 1000000)"), "announces"),
        (announced("(-1,)"), "a.npz"),
        (announced("(" + "9" * 300 + ",)"), "a.npz"),
        (announced("(200000000,)"), "which no recording compresses to"),
        (announced("(6,)"), "cannot be read as NPZ"),
        (announced("(6,)", "|O"), "it must hold numbers"),
        (announced("__import__('os').system('true')"), "cannot be read as NPZ"),
        (announced("(" * 3000 + ")" * 3000), "cannot be read as NPZ"),
        (b"\x93NUMPY\x02\x00" + struct.pack("<I", 2**32 - 1), "cannot be read as NPZ"),
        (b"\x93NUMPY\x09\x00", "unusual format"),
        (b"", "cannot be read as NPZ"),
    ],
)
def test_arrays_that_promise_the_absurd_are_refused(tmp_path: Path, content: bytes, says: str, refusal) -> None:
    assert says in refusal(brought_in, npz(tmp_path / "a.npz", {**MEMBERS, "u.npy": content}))


def test_a_small_archive_that_would_unpack_to_gigabytes_is_refused(tmp_path: Path, refusal) -> None:
    bomb = announced(f"({2**24},)") + bytes(8 * 2**24)
    path = npz(tmp_path / "a.npz", {**MEMBERS, "u.npy": bomb}, zipfile.ZIP_DEFLATED)
    assert path.stat().st_size < 2**18
    assert "which no recording compresses to" in refusal(brought_in, path)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_arrays_of_one_name_are_refused(tmp_path: Path, refusal) -> None:
    path = npz(tmp_path / "a.npz", MEMBERS)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("u.npy", npy(ROWS))
    assert "some under one name" in refusal(brought_in, path)


def test_an_archive_of_very_many_arrays_is_refused(tmp_path: Path, refusal) -> None:
    path = npz(tmp_path / "a.npz", {f"{k}/u.npy": b"" for k in range(20_000)})
    assert "announces 20000 arrays" in refusal(brought_in, path)


def parquet(path: Path, columns: dict, **options: object) -> Path:
    pq.write_table(pa.table(columns), path, **options)
    return path


def test_a_word_repeated_a_million_times_is_refused(tmp_path: Path, refusal) -> None:
    rows = 10**6
    word = pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, np.int32)), pa.array(["x" * 10**5]))
    columns = {"time": np.arange(rows) * 0.1, "u": np.zeros(rows), "y": np.zeros(rows), "run": word}
    path = parquet(tmp_path / "a.parquet", columns, store_schema=False)
    assert "letters" in refusal(brought_in, path, EPISODIC)


def test_a_few_bytes_of_parquet_do_not_become_gigabytes(tmp_path: Path, refusal) -> None:
    same = pa.array(np.zeros(2**23 + 1))
    path = parquet(tmp_path / "a.parquet", {"time": same, "u": same, "y": same}, compression="zstd")
    assert "which no recording compresses to" in refusal(brought_in, path)


def test_empty_lists_of_enormous_width_are_refused(tmp_path: Path, refusal) -> None:
    wide = pa.chunked_array([pa.array([None] * 60, pa.list_(pa.null(), 2**25))])  # a type is all it takes
    (tmp_path / "a.parquet").touch()
    assert "announces 2013265920 numbers" in refusal(from_arrow, wide, "u", tmp_path / "a.parquet")


def test_one_wide_row_among_very_many_empty_ones_is_refused(tmp_path: Path, refusal) -> None:
    wide = pa.chunked_array([pa.array([[0.0] * 2**12, *[None] * 2**18])])
    (tmp_path / "a.parquet").touch()
    assert "numbers" in refusal(from_arrow, wide, "u", tmp_path / "a.parquet")


@pytest.mark.parametrize("depth", [1, 3, 60])
def test_nested_columns_are_refused(tmp_path: Path, depth: int, refusal) -> None:
    kind, value = pa.float64(), 1.0
    for _ in range(depth):
        kind, value = pa.struct([("x", kind)]), {"x": value}
    path = parquet(tmp_path / "a.parquet", {**COLUMNS, "u": pa.array([value] * 6, kind)})
    assert "a.parquet" in refusal(brought_in, path)


def test_parquet_with_a_forged_end_is_refused(tmp_path: Path, refusal) -> None:
    whole = parquet(tmp_path / "a.parquet", COLUMNS).read_bytes()
    for size in (0, 2**31 - 1, 2**32 - 1, len(whole) * 2):
        (tmp_path / "a.parquet").write_bytes(whole[:-8] + struct.pack("<I", size) + b"PAR1")
        assert "cannot be read as Parquet" in refusal(brought_in, tmp_path / "a.parquet")


@pytest.mark.parametrize("seed", range(60))
def test_parquet_with_flipped_bits_is_sound_or_refused(tmp_path: Path, seed: int) -> None:
    noise = np.random.default_rng(seed)
    columns = {**COLUMNS, "run": pa.array(["a", "b"] * 3).dictionary_encode()}
    content = bytearray(parquet(tmp_path / "a.parquet", columns, write_page_checksum=bool(seed % 2)).read_bytes())
    for place in noise.integers(len(content) // 2, len(content), 3):  # the half that describes the rest
        content[place] ^= 1 << int(noise.integers(8))
    (tmp_path / "a.parquet").write_bytes(content)
    began = time.monotonic()
    for mapping in (MAPPING, EPISODIC):
        try:
            assert brought_in(tmp_path / "a.parquet", mapping)
        except GaplessError as error:
            assert str(error).isprintable()
    assert time.monotonic() - began < 5


@pytest.mark.parametrize(
    "line",
    [b"," * 10**7, b"time,u,y" + b",x" * 10**6, b"a" * 10**7, b'"' + b"a" * 10**7, b"\x00" * 10**6, b"\xff\xfe"],
)
def test_gigantic_first_lines_are_refused(tmp_path: Path, line: bytes, refusal) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(line + b"\n0,0,0\n")
    assert "a.csv" in refusal(brought_in, path)


def test_a_gigantic_line_of_numbers_is_refused(tmp_path: Path, refusal) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"time,u,y\n0,0," + b"1" * 10**7 + b"\n")
    assert "a.csv cannot be read as CSV" in refusal(brought_in, path)


@pytest.mark.parametrize("name", ["a.csv", "a.npz", "a.parquet"])
def test_sparse_giants_are_refused_without_being_read(tmp_path: Path, name: str, refusal) -> None:
    with (tmp_path / name).open("wb") as file:
        file.truncate(2**40)
    assert name in refusal(brought_in, tmp_path / name)


@pytest.mark.parametrize("name", ["a.csv", "a.npz", "a.parquet", "a.toml"])
def test_a_pipe_does_not_hang(tmp_path: Path, name: str, refusal) -> None:
    os.mkfifo(tmp_path / name)
    call = read_mapping if name.endswith("toml") else brought_in
    assert "there is no file" in refusal(call, tmp_path / name)


@pytest.mark.parametrize(
    "text", ["[" * 10**5, "a." * 10**5 + "b = 1", "x = " + "9" * 10**5, "x = '" + "y" * 2**20 + "'"]
)
def test_absurd_mappings_are_refused(tmp_path: Path, text: str, refusal) -> None:
    path = tmp_path / "mapping.toml"
    path.write_text(text)
    assert "mapping.toml" in refusal(read_mapping, path)
