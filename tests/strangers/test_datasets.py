"""Somebody else's folder of logs is read where it says it is, and nowhere else."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from gapless.core import Channel, GaplessError, Interface, Log
from gapless.logs import Mapping, Reading, import_logs, read_logs, write_logs

DATA = "data/chunk-000/file-000.parquet"
ROWS = np.arange(6.0)


def log(name: str = "y", samples: int = 9) -> Log:
    interface = Interface("robot", 0.1, (Channel("u"),), (Channel(name),))
    clock = np.arange(samples) * 0.05
    return Log(interface, {"u": ROWS[:, None]}, {name: clock[:, None]}, ROWS * 0.1, {name: clock})


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    folder = tmp_path / "logs"
    write_logs(folder, [log()], "balance")
    return folder


def described(folder: Path, **change: object) -> Path:
    """The folder after somebody edited meta/info.json."""
    path = folder / "meta" / "info.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    return folder


def gapless(folder: Path, **change: object) -> Path:
    """The folder after somebody edited what Gapless wrote in meta/info.json."""
    kept = json.loads((folder / "meta" / "info.json").read_text())["gapless"]
    return described(folder, gapless={**kept, **change})


@pytest.mark.parametrize(
    "template",
    [
        "../../outside/{chunk_index:03d}.parquet",
        "/etc/passwd",
        "data/chunk-{chunk_index.__class__}/file-{file_index.__init__.__globals__}.parquet",
        "{chunk_index:999999999d}",
        "{0}{1}{2}",
        ["data"],
        None,
    ],
)
def test_a_template_that_leads_elsewhere_is_not_followed(stored: Path, template: object, refusal) -> None:
    assert "data_path" in refusal(read_logs, described(stored, data_path=template))


def test_a_template_in_a_dataset_of_others_is_not_followed_either(stored: Path, tmp_path: Path) -> None:
    mapping = Mapping({"u": Reading(("u",)), "y": Reading(("observation.state",))}, time="command.time")
    shutil.copytree(stored / "data", tmp_path / "outside" / "data")
    described(stored, data_path="../../outside/data/{chunk_index.__class__}.parquet")
    found = import_logs([stored], mapping, log().interface)
    assert [len(each) for each in found] == [6]


@pytest.mark.parametrize("name", [DATA, "meta/info.json", "raw/y.parquet", "data", "meta", "raw"])
def test_links_out_of_the_folder_are_not_followed(stored: Path, name: str, tmp_path: Path, refusal) -> None:
    outside = tmp_path / "outside"
    (stored / name).rename(outside)
    (stored / name).symlink_to(outside)
    assert "leads out of the folder" in refusal(read_logs, stored)


@pytest.mark.parametrize("name", ["../../x", "/tmp/x", "..", "a/b", "x\x00", "a\nb", "x" * 300, "y.time", ""])
def test_a_channel_cannot_name_a_file_elsewhere(stored: Path, name: str, tmp_path: Path, refusal) -> None:
    interface = json.loads((stored / "meta" / "info.json").read_text())["gapless"]["interface"]
    interface["measurements"][0]["name"] = name
    assert refusal(read_logs, gapless(stored, interface=interface, raw=[name]))
    if name:
        assert "cannot be stored" in refusal(write_logs, tmp_path / "written", [log(name)], "balance")


@pytest.mark.parametrize(
    "change",
    [
        {"raw": ["../../secret"]},
        {"raw": "y"},
        {"raw": [["y"]]},
        {"raw": None},
        {"logs": [{"commands": 10**30, "source": {}}]},
        {"logs": [{"commands": -6, "source": {}}, {"commands": 12, "source": {}}]},
        {"logs": [{"commands": 6.0, "source": {}}]},
        {"logs": [{"commands": True, "source": {}}]},
        {"logs": [{"commands": 6}]},
        {"logs": {"commands": 6}},
        {"logs": [{"commands": 0, "source": {}}] * 100},
        {"interface": {"robot": "x"}},
        {"interface": []},
    ],
)
def test_absurd_descriptions_are_refused(stored: Path, change: dict, refusal) -> None:
    assert refusal(read_logs, gapless(stored, **change))


def test_very_many_empty_logs_are_refused(stored: Path, refusal) -> None:
    entries = [{"commands": 0, "source": {}}] * 20_000
    many = log().interface.to_dict()
    many["measurements"] = [{"name": f"y{k}"} for k in range(500)]
    assert "channels of logs" in refusal(read_logs, gapless(stored, logs=entries, interface=many, raw=[]))


@pytest.mark.parametrize("text", ["[" * 10**6, '{"a": NaN}', '{"a": Infinity}', "{" * 10, '{"a": ' + "1" * 10**4 + "}"])
def test_an_absurd_text_is_refused(stored: Path, text: str, refusal) -> None:
    (stored / "meta" / "info.json").write_text(text)
    assert "info.json cannot be read as JSON" in refusal(read_logs, stored)


def test_counters_that_promise_the_absurd_change_nothing(stored: Path) -> None:
    described(stored, total_frames=10**30, total_episodes=10**30, fps=1e308, chunks_size=10**30)
    assert [len(each) for each in read_logs(stored)] == [6]


def test_a_folder_of_logs_is_written_nowhere_else(tmp_path: Path) -> None:
    write_logs(tmp_path / "deep" / "logs", [log()], "../../balance")
    assert {p.name for p in tmp_path.iterdir()} == {"deep"}
    assert {p.name for p in (tmp_path / "deep").iterdir()} == {"logs"}


def test_an_import_of_a_hostile_folder_is_sound_or_refused(tmp_path: Path) -> None:
    mapping = Mapping({"u": Reading(("u",)), "y": Reading(("y",))})
    (tmp_path / "set" / "meta").mkdir(parents=True)
    for text in ("[" * 10**6, '{"codebase_version": "v3.0", "features": {"u": {"dtype": [], "shape": [1e999]}}}'):
        (tmp_path / "set" / "meta" / "info.json").write_text(text)
        with pytest.raises(GaplessError):
            import_logs([tmp_path / "set"], mapping, log().interface)
