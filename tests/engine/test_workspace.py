"""Workspaces: made once, opened by folder, held by one command at a time."""

import json
from pathlib import Path

import pytest

from gapless.core import GaplessError
from gapless.engine import Workspace, find_task, new_workspace, open_workspace
from gapless.tasks import SwingUp

ARM = """
<mujoco>
  <worldbody><body><joint name="elbow"/><geom size="0.1"/></body></worldbody>
  <actuator><motor name="motor" joint="elbow" ctrlrange="-1 1"/></actuator>
  <sensor><jointpos name="elbow.angle" joint="elbow"/></sensor>
</mujoco>
"""


def test_a_new_workspace_holds_all_that_it_needs(workspace: Workspace) -> None:
    again = open_workspace(workspace.folder)
    assert {p.name for p in again.folder.iterdir()} == {"workspace.json", "model.xml", "params.toml", "interface.json"}
    assert isinstance(again.task, SwingUp)
    assert again.interface.command_names == ("motor",)
    assert [c.unit for c in again.interface.measurements] == ["m", "rad"]  # which a model file cannot say
    assert "slider.friction" in {p.name for p in again.parameters}
    assert again.simulator.substeps == 5
    assert again.store.all() == []


def test_the_only_workspace_below_a_folder_is_found(workspace: Workspace) -> None:
    assert open_workspace(workspace.folder.parent).folder == workspace.folder


def test_several_workspaces_below_a_folder_are_named(workspace: Workspace) -> None:
    new_workspace(workspace.folder.parent / "second", "cartpole", "swingup")
    with pytest.raises(GaplessError, match=r"several workspaces \(cart, second\)\. Choose one"):
        open_workspace(workspace.folder.parent)


def test_a_folder_without_a_workspace_is_named(tmp_path: Path) -> None:
    with pytest.raises(GaplessError, match=r"is not a workspace\. Make one with `gapless new`"):
        open_workspace(tmp_path)
    with pytest.raises(GaplessError, match="is not a workspace"):
        Workspace(tmp_path / "nowhere")


def test_nothing_is_written_over(workspace: Workspace) -> None:
    with pytest.raises(GaplessError, match="exists and is not empty"):
        new_workspace(workspace.folder, "cartpole", "swingup")


@pytest.mark.parametrize(
    ("model", "task", "said"),
    [
        ("unicycle", "swingup", "there is no model file unicycle"),
        ("cartpole", "juggle", "there is no task 'juggle'; built in are swingup"),
        ("arm.xml", "swingup", "needs the channel 'cart.position' and the model has only motor, elbow.angle"),
    ],
)
def test_what_does_not_fit_is_said_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str, task: str, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("arm.xml").write_text(ARM)
    with pytest.raises(GaplessError, match=said):
        new_workspace(tmp_path / "new", model, task)
    assert not (tmp_path / "new").exists()


def test_a_class_that_is_no_task_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("class Idle: ...\n")
    with pytest.raises(GaplessError, match="is not a task"):
        find_task(f"{tmp_path / 'mine.py'}:Idle")


@pytest.mark.parametrize("text", ["{", "[]", '{"name": "cart"}', '{"surprise": 1}'])
def test_damaged_settings_cost_one_sentence(workspace: Workspace, text: str) -> None:
    (workspace.folder / "workspace.json").write_text(text)
    with pytest.raises(GaplessError, match=r"workspace\.json is damaged"):
        Workspace(workspace.folder)


@pytest.mark.parametrize("text", ["", "[]", json.dumps({"robot": "cart"})])
def test_a_damaged_interface_costs_one_sentence(workspace: Workspace, text: str) -> None:
    (workspace.folder / "interface.json").write_text(text)
    with pytest.raises(GaplessError, match="interface"):
        _ = workspace.interface


def test_a_second_command_is_refused_while_the_first_is_at_work(workspace: Workspace) -> None:
    with (
        workspace.locked(),
        pytest.raises(GaplessError, match=r"another command is at work in .*cart"),
        Workspace(workspace.folder).locked(),
    ):
        pytest.fail("two commands at once")
    with Workspace(workspace.folder).locked():
        pass


def test_what_an_interrupted_command_left_behind_is_removed_by_the_next(workspace: Workspace) -> None:
    def interrupted(folder: Path) -> dict:
        (folder / "half.bin").write_bytes(b"half")
        (workspace.store.folder / ".belief-0123456789ab-left").mkdir()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        workspace.store.make("belief", {}, {}, interrupted)
    with workspace.locked():
        assert list(workspace.store.folder.iterdir()) == []


def test_a_damaged_artifact_costs_one_sentence(workspace: Workspace) -> None:
    made = workspace.store.make("belief", {}, {}, lambda folder: {})
    for text in ("{", "[1]", '{"kind": "belief"}', "null", '"belief"'):
        (made.folder / "artifact.json").write_text(text)
        with pytest.raises(GaplessError, match=r"artifact\.json is not the record of an artifact .*Remove that folder"):
            workspace.store.all()


def test_a_product_is_built_once(workspace: Workspace) -> None:
    first = workspace.store.make("belief", {"logs": "a"}, {"seed": 0}, lambda folder: {"figure": 1.0})

    def never(folder: Path) -> dict:
        raise AssertionError("built twice")

    assert workspace.store.make("belief", {"logs": "a"}, {"seed": 0}, never) == first
