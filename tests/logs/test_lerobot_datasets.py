"""LeRobot datasets that others recorded become logs: by the names of their joints, episode by episode."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gapless.core import Channel, GaplessError, Interface
from gapless.logs import check_log, import_logs, propose_mapping, write_logs
from gapless.logs.files import column_widths, read_episodes

ARM = Interface(
    "arm",
    1 / 30,
    (Channel("shoulder_pan"), Channel("gripper")),
    (Channel("shoulder_pan.position", unit="rad"), Channel("gripper.position", unit="rad")),
)
NAMES = ["gripper.pos", "shoulder_pan.pos"]


def dataset(folder: Path, version: str = "v3.0", names: object = NAMES, lengths: tuple[int, ...] = (8, 5, 6)) -> Path:
    """A dataset with a camera; version 3 puts two episodes into the first file, version 2 writes one file each."""
    vector = {"dtype": "float32", "shape": [2], "names": names}
    counter = {"dtype": "int64", "shape": [1], "names": None}
    features = {
        "action": vector,
        "observation.state": vector,
        "observation.images.wrist": {"dtype": "video", "shape": [480, 640, 3], "names": ["height", "width", "channel"]},
        "timestamp": {"dtype": "float32", "shape": [1], "names": None},
        "episode_index": counter,
    }
    evil = "../../{episode_chunk.__class__}/{chunk_index}.parquet"
    described = {"codebase_version": version, "fps": 30, "features": features, "data_path": evil}
    (folder / "meta").mkdir(parents=True)
    (folder / "meta/info.json").write_text(json.dumps(described))
    tables = [_table(episode, rows) for episode, rows in enumerate(lengths)]
    for name, parts in _files(version, tables).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.concat_tables(parts), folder / name)
    return folder


def _files(version: str, tables: list[pa.Table]) -> dict[str, list[pa.Table]]:
    if version.startswith("v2"):
        return {f"data/chunk-000/episode_{i:06d}.parquet": [table] for i, table in enumerate(tables)}
    return {"data/chunk-000/file-000.parquet": tables[:2], "data/chunk-001/file-000.parquet": tables[2:]}


def _table(episode: int, rows: int) -> pa.Table:
    values = np.stack([np.arange(rows), 10 * episode + 0.5 * np.arange(rows)], 1).astype(np.float32)
    wide = pa.FixedSizeListArray.from_arrays(values.reshape(-1), 2)
    clock = pa.array(np.arange(rows) / 30, pa.float32())
    return pa.table(
        {"action": wide, "observation.state": wide, "timestamp": clock, "episode_index": pa.array([episode] * rows)}
    )


@pytest.mark.parametrize("version", ["v3.0", "v2.1"])
def test_joints_are_found_by_name_in_every_episode(version, tmp_path):
    folder = dataset(tmp_path / "arm", version)
    mapping = propose_mapping(folder, ARM)
    assert mapping.channels["shoulder_pan"].columns == ("action[shoulder_pan.pos]",)
    assert mapping.channels["gripper.position"].columns == ("observation.state[gripper.pos]",)
    assert (mapping.time, mapping.episode) == ("timestamp", "episode_index")
    logs = import_logs([folder], mapping, ARM)
    assert [log.source["episode"] for log in logs] == ["0", "1", "2"]
    assert [len(log) for log in logs] == [8, 5, 6]
    assert np.allclose(logs[2].commands["shoulder_pan"][:, 0], 20 + 0.5 * np.arange(6))
    assert np.allclose(logs[1].measurements["gripper.position"][:, 0], np.arange(5))
    assert np.allclose(logs[1].command_time, np.arange(5) / 30, atol=1e-6)
    assert check_log(logs[0]) == []


def test_names_in_groups_are_names_too(tmp_path):
    assert "action[gripper.pos]" in column_widths(dataset(tmp_path / "arm", names={"motors": NAMES}))


def test_numbers_without_names_are_read_by_their_place(tmp_path):
    folder = dataset(tmp_path / "arm", names=None)
    mapping = propose_mapping(folder, ARM)
    assert mapping.channels["gripper"].columns == ("action[1]",)
    assert len(import_logs([folder], mapping, ARM)) == 3


def test_cameras_are_left_alone(tmp_path):
    assert not any("images" in name for name in column_widths(dataset(tmp_path / "arm")))


def test_what_gapless_wrote_is_read_with_its_true_clocks(machine, make_log, tmp_path):
    logs = [make_log(12, seed=1), make_log(7, seed=2)]
    write_logs(tmp_path / "logs", logs, "balance")
    again = import_logs([tmp_path / "logs"], propose_mapping(tmp_path / "logs", machine), machine)
    for log, copy in zip(logs, again, strict=True):
        assert np.array_equal(copy.commands["cart.force"], log.commands["cart.force"])
        assert np.allclose(np.diff(copy.command_time), np.diff(log.command_time), atol=1e-12)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"codebase_version": "v1.6"}, "says version 'v1.6'; LeRobot's v2.x and v3.x are read"),
        ({"codebase_version": None}, "says version None"),
        ({"features": []}, "declares no features"),
        ({"features": {"action": {"dtype": "float32", "shape": [2]}}}, "has no episode column 'episode_index'"),
    ],
)
def test_another_description_is_one_sentence(change, sentence, tmp_path):
    info = dataset(tmp_path / "arm") / "meta/info.json"
    info.write_text(json.dumps({**json.loads(info.read_text()), **change}))
    with pytest.raises(GaplessError, match=sentence):
        read_episodes(tmp_path / "arm", ["action"])


def test_a_dataset_without_data_is_one_sentence(tmp_path):
    folder = dataset(tmp_path / "arm")
    for file in folder.glob("data/*/*"):
        file.unlink()
    with pytest.raises(GaplessError, match="Download the dataset's data"):
        read_episodes(folder, ["action"])


def test_links_out_of_the_folder_are_not_followed(tmp_path):
    folder = dataset(tmp_path / "arm")
    data = folder / "data/chunk-000/file-000.parquet"
    data.rename(tmp_path / "elsewhere.parquet")
    data.symlink_to(tmp_path / "elsewhere.parquet")
    with pytest.raises(GaplessError, match="leads out of the folder"):
        read_episodes(folder, ["action"])
