"""Stored logs that somebody damaged, or made to look like ours, cost one sentence."""

import json
import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gapless.core import GaplessError
from gapless.logs import read_logs, write_logs


@pytest.fixture
def stored(make_log, tmp_path) -> Path:
    write_logs(tmp_path / "logs", [make_log(30), make_log(20, samples=50)], "balance")
    return tmp_path / "logs"


def _edit(folder: Path, change) -> None:
    path = folder / "meta/info.json"
    info = json.loads(path.read_text())
    change(info)
    path.write_text(json.dumps(info))


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(GaplessError, match="there is no folder"):
        read_logs(tmp_path / "nowhere")


def test_a_dataset_that_gapless_did_not_write_is_told_how_to_come_in(stored):
    _edit(stored, lambda info: info.pop("gapless"))
    with pytest.raises(GaplessError, match=r"Import data/chunk-000/file-000.parquet with a mapping"):
        read_logs(stored)


@pytest.mark.parametrize("template", ["../{chunk_index:03d}.parquet", "/etc/passwd", "{chunk_index:999999999}", 5])
def test_a_path_template_that_leads_elsewhere_is_refused(template, stored):
    _edit(stored, lambda info: info.update(data_path=template))
    with pytest.raises(GaplessError, match="data_path"):
        read_logs(stored)


def test_a_link_out_of_the_folder_is_refused(stored, tmp_path):
    shutil.move(stored / "data", tmp_path / "elsewhere")
    (stored / "data").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(GaplessError, match="leads out of the folder"):
        read_logs(stored)


@pytest.mark.parametrize(
    "change",
    [
        lambda g: g.update(logs=7),
        lambda g: g.update(raw=["../../secret"]),
        lambda g: g.update(raw=[["cart.sensor"]]),
        lambda g: g["logs"][0].update(commands=10**30),
        lambda g: g["logs"][0].update(commands=-1),
        lambda g: g["logs"][0].update(commands=True),
        lambda g: g["logs"][0].update(source=None),
        lambda g: g.update(interface=None),
        lambda g: g["interface"].update(period_s="often"),
        lambda g: g["interface"]["commands"][0].update(width=10**9),
        lambda g: g["interface"]["commands"][0].update(width="1"),
        lambda g: g["interface"]["commands"][0].update(name=["x"]),
        lambda g: g["interface"]["commands"][0].update(scale="x"),
        lambda g: g["interface"]["measurements"][0].update(name="../up"),
        lambda g: g["interface"]["measurements"].append(5),
    ],
)
def test_a_damaged_description_is_one_error(change, stored):
    _edit(stored, lambda info: change(info["gapless"]))
    with pytest.raises(GaplessError):
        read_logs(stored)


@pytest.mark.parametrize("text", ["", "[]", "{", "[" * 100_000, "\x00"])
def test_damaged_json_is_one_error(text, stored):
    (stored / "meta/info.json").write_text(text)
    with pytest.raises(GaplessError, match=r"info.json"):
        read_logs(stored)


def test_every_flipped_byte_of_the_data_is_harmless_or_named(stored, same):
    path, whole = stored / "data/chunk-000/file-000.parquet", read_logs(stored)
    original = path.read_bytes()
    for at in range(0, len(original), 131):
        damaged = bytearray(original)
        damaged[at] ^= 0x55
        path.write_bytes(damaged)
        try:
            assert all(same(a, b) for a, b in zip(read_logs(stored), whole, strict=True))
        except GaplessError:
            continue


@pytest.mark.parametrize("keep", [0, 3, 100, 2000])
def test_a_truncated_file_is_one_error(keep, stored):
    path = stored / "raw/cart.sensor.parquet"
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(GaplessError, match=r"raw.cart.sensor.parquet"):
        read_logs(stored)


def test_a_missing_file_and_missing_rows_are_named(stored):
    path = stored / "data/chunk-000/file-000.parquet"
    pq.write_table(pq.read_table(path).slice(1), path)
    with pytest.raises(GaplessError, match=r"has 49 rows; meta/info.json says 50"):
        read_logs(stored)
    path.unlink()
    with pytest.raises(GaplessError, match="there is no file"):
        read_logs(stored)


def test_raw_samples_of_an_unknown_log_are_refused(stored):
    path = stored / "raw/cart.sensor.parquet"
    table = pq.read_table(path)
    pq.write_table(table.set_column(0, "log_index", pa.array(np.full(len(table), 2))), path)
    with pytest.raises(GaplessError, match="beyond the 2 logs"):
        read_logs(stored)


def test_a_column_of_another_type_is_refused(stored):
    path = stored / "data/chunk-000/file-000.parquet"
    table = pq.read_table(path)
    place = table.column_names.index("cart.force")
    pq.write_table(table.set_column(place, "cart.force", pa.array(["x"] * len(table))), path)
    with pytest.raises(GaplessError, match="holds string; it must be double"):
        read_logs(stored)
