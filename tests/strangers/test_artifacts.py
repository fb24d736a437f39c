"""Records, beliefs, interfaces and policies in somebody else's workspace are sound, or refused in one sentence."""

import hashlib
import json
import struct
from pathlib import Path

import pytest

from gapless.core import Interface, belief_from_dict, read_belief
from gapless.engine import Workspace
from gapless.nets.stored_policy import load_policy, save_policy
from gapless.robots.cartpole import INTERFACE

GAUSSIAN = {
    "kind": "gaussian",
    "names": ["a", "b"],
    "centre": [0.0, 0.0],
    "covariance": [[1.0, 0.5], [0.5, 1.0]],
    "low": [-9.0, -9.0],
    "high": [9.0, 9.0],
}


@pytest.mark.parametrize(
    "change",
    [
        {"id": "../../../outside"},
        {"kind": "../policy"},
        {"id": 7},
        {"kind": ["belief"]},
        {"parents": ["a"]},
        {"parents": {"logs": {"a": 1}}},
        {"figures": None},
        {"recipe": 1},
        {"made": {"at": 3}},
        {"made": []},
        {"folder": "/etc"},
        {"surprise": 1},
    ],
)
def test_a_forged_record_is_refused(workspace: Workspace, change: dict, refusal) -> None:
    made = workspace.store.make("belief", {}, {}, lambda folder: {})
    record = json.loads(made.file("artifact.json").read_text())
    made.file("artifact.json").write_text(json.dumps({**record, **change}))
    assert "is not the record of an artifact" in refusal(workspace.store.all)


@pytest.mark.parametrize("text", ["[" * 10**6, '{"kind": NaN}', "\x00", '{"kind": ' + "1" * 10**4 + "}"])
def test_an_absurd_record_is_refused(workspace: Workspace, text: str, refusal) -> None:
    made = workspace.store.make("belief", {}, {}, lambda folder: {})
    made.file("artifact.json").write_text(text)
    assert "is not the record of an artifact" in refusal(workspace.store.all)


def test_a_record_of_gigabytes_is_not_read(workspace: Workspace, refusal) -> None:
    made = workspace.store.make("belief", {}, {}, lambda folder: {})
    with made.file("artifact.json").open("wb") as file:
        file.truncate(2**36)
    assert "has more than" in refusal(workspace.store.all)


def test_a_record_in_another_artifacts_folder_is_refused(workspace: Workspace, refusal) -> None:
    made = workspace.store.make("belief", {}, {}, lambda folder: {})
    made.folder.rename(made.folder.with_name("policy-0123456789ab"))
    assert f"it belongs to belief-{made.id}" in refusal(workspace.store.all)


def test_a_build_does_not_follow_a_link_in_its_place(workspace: Workspace, tmp_path: Path) -> None:
    first = workspace.store.make("belief", {}, {}, lambda folder: {})
    (tmp_path / "precious").mkdir()
    (first.folder / "artifact.json").unlink()
    first.folder.rmdir()
    first.folder.symlink_to(tmp_path / "precious")
    again = workspace.store.make("belief", {}, {}, lambda folder: {})
    assert not again.folder.is_symlink()
    assert list((tmp_path / "precious").iterdir()) == []


@pytest.mark.parametrize(
    "change",
    [
        {"kind": ["gaussian"]},
        {"kind": "pickle"},
        {"names": "ab"},
        {"names": ["a", "a"]},
        {"names": ["a", 1]},
        {"names": ["a"]},
        {"centre": [0.0, None]},
        {"centre": [0.0, 1e999]},
        {"centre": [0.0, 10**400]},
        {"centre": [[0.0], [0.0]]},
        {"centre": ["a", "b"]},
        {"centre": [0.0, [0.0]]},
        {"covariance": [[1.0, 2.0], [2.0, 1.0]]},
        {"covariance": [[-1.0, 0.0], [0.0, 1.0]]},
        {"covariance": [[0.0, 0.0], [0.0, 0.0]]},
        {"covariance": [[1.0, 0.9], [0.1, 1.0]]},
        {"covariance": [1.0, 1.0]},
        {"low": [10.0, 10.0]},
        {"surprise": [1.0, 1.0]},
    ],
)
def test_an_impossible_belief_is_refused(change: dict, refusal) -> None:
    assert "belief" in refusal(belief_from_dict, {**GAUSSIAN, **change})


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", "[" * 10**6, '{"kind": NaN}', json.dumps({"kind": "point", "names": []})]
)
def test_a_file_that_is_no_belief_is_named(tmp_path: Path, text: str, refusal) -> None:
    path = tmp_path / "belief.json"
    path.write_text(text)
    assert "belief.json cannot be read as a belief" in refusal(read_belief, path)


def test_a_sound_belief_comes_back(tmp_path: Path) -> None:
    (tmp_path / "belief.json").write_text(json.dumps(GAUSSIAN))
    assert read_belief(tmp_path / "belief.json").to_dict() == GAUSSIAN


def channel(**fields: object) -> dict:
    """The cart-pole's interface with one odd channel."""
    plain = INTERFACE.to_dict()
    plain["commands"][0] |= fields
    return plain


@pytest.mark.parametrize(
    "plain",
    [
        channel(name=7),
        channel(name=["motor"]),
        channel(name=""),
        channel(width=1.5),
        channel(width=True),
        channel(width=10**12),
        channel(width=-1),
        channel(low="0"),
        channel(low=10**400),
        channel(scale=1e999),
        channel(offset=1e999),
        channel(unit=None),
        channel(surprise=1),
        {**INTERFACE.to_dict(), "period_s": 1e-300},
        {**INTERFACE.to_dict(), "period_s": 10**400},
        {**INTERFACE.to_dict(), "period_s": "0.02"},
        {**INTERFACE.to_dict(), "joints": "slider"},
        {**INTERFACE.to_dict(), "joints": [1]},
        {**INTERFACE.to_dict(), "robot": {}},
        {**INTERFACE.to_dict(), "commands": "motor"},
        {**INTERFACE.to_dict(), "commands": [[]]},
        {**INTERFACE.to_dict(), "commands": [{"name": str(k)} for k in range(10**5)]},
    ],
)
def test_an_absurd_interface_is_refused(workspace: Workspace, plain: dict, refusal) -> None:
    assert refusal(Interface.from_dict, plain)
    (workspace.folder / "interface.json").write_text(json.dumps(plain))
    assert "interface.json" in refusal(lambda: Workspace(workspace.folder).interface)


@pytest.fixture
def stored(make_policy, tmp_path: Path) -> Path:
    save_policy(tmp_path / "policy", make_policy(0))
    return tmp_path / "policy"


@pytest.mark.parametrize(
    "change",
    [
        {"hidden": {"width": 2**14, "depth": 2**14}},
        {"hidden": {"width": -1, "depth": 1}},
        {"hidden": [8, 2]},
        {"hidden": {"width": 1e999, "depth": 2}},
        {"observation": {"features": [], "frames": 10**9, "commands": 0}},
        {"observation": {"features": [], "frames": 1, "commands": -5}},
        {"observation": {"features": [{"channel": "motor.position", "kind": "__class__"}], "frames": 1, "commands": 0}},
        {"observation": {"features": [{"channel": "nothing", "kind": "value"}], "frames": 1, "commands": 0}},
        {"observation": {"features": [{"channel": ["a"], "kind": ["value"]}], "frames": 1, "commands": 0}},
        {"interface": {}},
        {"format": [1]},
    ],
)
def test_an_absurd_description_of_a_policy_is_refused(stored: Path, change: dict, refusal) -> None:
    path = stored / "policy.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    assert "policy.json is not the description of a policy" in refusal(load_policy, stored)


def header(text: bytes, size: int | None = None) -> bytes:
    return struct.pack("<Q", len(text) if size is None else size) + text


@pytest.mark.parametrize(
    "content",
    [
        header(b"", 2**63),
        header(b"{}", 2**40),
        header(b"[" * 10**5),
        header(b'{"w":{"dtype":"F32","shape":[4294967296,4294967296,16],"data_offsets":[0,0]}}'),
        header(b'{"w":{"dtype":"F32","shape":[-1],"data_offsets":[0,0]}}'),
        header(b'{"w":{"dtype":"F32","shape":[1],"data_offsets":[0,99999999999]}}'),
        header(b'{"w":{"dtype":"F32","shape":[1],"data_offsets":[8,4]}}') + bytes(8),
        header(b'{"../../w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}') + bytes(4),
        b"\x80\x04cos\nsystem\n(S'touch ran'\ntR.",
    ],
)
def test_forged_weights_are_refused(stored: Path, content: bytes, refusal) -> None:
    (stored / "policy.safetensors").write_bytes(content)
    described = json.loads((stored / "policy.json").read_text())
    (stored / "policy.json").write_text(
        json.dumps({**described, "weights_sha256": hashlib.sha256(content).hexdigest()})
    )
    assert "policy.safetensors" in refusal(load_policy, stored)


def test_weights_of_gigabytes_are_not_read(stored: Path, refusal) -> None:
    with (stored / "policy.safetensors").open("wb") as file:
        file.truncate(2**36)
    assert "has more than" in refusal(load_policy, stored)
