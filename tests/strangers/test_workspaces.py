"""Somebody else's workspace runs no code and writes nothing outside itself until its reader has vouched for it."""

import json
import os
import py_compile
import shutil
from collections.abc import Callable
from importlib.util import cache_from_source
from pathlib import Path

import pytest

from gapless.core import GaplessError
from gapless.engine import Workspace, new_workspace
from gapless.engine.trust import record_path, trust
from gapless.tasks import SwingUp

TASK = """
from pathlib import Path
from gapless.tasks import SwingUp
Path({mark!r}).touch()
class Mine(SwingUp):
    name = "mine"
"""


@pytest.fixture
def mark(tmp_path: Path) -> Path:
    """A file that exists once the task's code has run."""
    return tmp_path / "the-code-ran"


@pytest.fixture
def code(tmp_path: Path, mark: Path) -> Path:
    path = tmp_path / "mine.py"
    path.write_text(TASK.format(mark=str(mark)))
    return path


def edited(workspace: Workspace, **settings: object) -> Path:
    """The workspace's folder after somebody edited its settings."""
    path = workspace.folder / "workspace.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **settings}))
    return workspace.folder


def task_of(folder: Path) -> object:
    return Workspace(folder).task


def model_of(folder: Path) -> object:
    return Workspace(folder).model


def test_a_task_that_a_workspace_brings_does_not_run(workspace: Workspace, code: Path, mark: Path, refusal) -> None:
    shutil.copy(code, workspace.folder)
    for spec in (f"{code}:Mine", "mine.py:Mine", "../mine.py:Mine", f"{workspace.folder}/mine.py:Mine"):
        said = refusal(task_of, edited(workspace, task=spec))
        assert "runs the code of the task" in said
        assert f"`gapless trust {workspace.folder}`" in said
    assert not mark.exists()


def test_a_module_that_a_workspace_names_is_not_imported(
    workspace: Workspace, code: Path, mark: Path, refusal, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(code, workspace.folder / "hostile.py")
    (workspace.folder / "hidden").mkdir()
    shutil.copy(code, workspace.folder / "hidden" / "inner.py")
    monkeypatch.syspath_prepend(workspace.folder)
    for spec in ("hostile:Mine", "hidden.inner:Mine"):
        assert "is a module inside" in refusal(task_of, edited(workspace, task=spec))
    assert "vouched for" in refusal(task_of, edited(workspace, task="os.path:join"))
    for spec in (".:X", "a b:X", ":X", "x:"):
        assert "cart" in refusal(task_of, edited(workspace, task=spec))
    assert not mark.exists()


def test_what_the_user_typed_is_trusted_wherever_commands_run(
    tmp_path: Path, code: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    made = new_workspace(Path("own"), "cartpole", "mine.py:Mine")
    assert made.settings.task == f"{code}:Mine"
    monkeypatch.chdir("/")
    assert Workspace(tmp_path / "own").task.name == "mine"


def test_a_user_edits_a_task_beside_the_workspace_without_being_asked(tmp_path: Path, code: Path) -> None:
    new_workspace(tmp_path / "own", "cartpole", f"{code}:Mine")
    code.write_text(code.read_text().replace('"mine"', '"better"'))
    assert Workspace(tmp_path / "own").task.name == "better"


def test_a_copy_of_a_trusted_workspace_is_not_trusted(tmp_path: Path, code: Path, mark: Path, refusal) -> None:
    new_workspace(tmp_path / "own", "cartpole", f"{code}:Mine")
    mark.unlink()
    shutil.copytree(tmp_path / "own", tmp_path / "copy")
    assert "vouched for" in refusal(task_of, tmp_path / "copy")
    assert not mark.exists()


def test_trust_in_a_task_inside_the_workspace_ends_when_its_text_changes(
    workspace: Workspace, code: Path, refusal
) -> None:
    inner = workspace.folder / "mine.py"
    shutil.copy(code, inner)
    found = Workspace(edited(workspace, task="mine.py:Mine"))
    trust(found.folder, found.claims)
    assert Workspace(workspace.folder).task.name == "mine"
    inner.write_text(inner.read_text() + "# one more line\n")
    assert "vouched for" in refusal(task_of, workspace.folder)


def test_trust_in_one_task_is_not_trust_in_another(tmp_path: Path, code: Path, refusal) -> None:
    made = new_workspace(tmp_path / "own", "cartpole", f"{code}:Mine")
    shutil.copy(code, tmp_path / "other.py")
    assert "vouched for" in refusal(task_of, edited(made, task=f"{tmp_path}/other.py:Mine"))


def test_a_compiled_file_beside_the_task_is_never_run(workspace: Workspace, code: Path, mark: Path) -> None:
    inner = workspace.folder / "mine.py"
    inner.write_text("from gapless.tasks import SwingUp as Mine\n")
    py_compile.compile(
        str(code), cache_from_source(str(inner)), invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH
    )
    found = Workspace(edited(workspace, task="mine.py:Mine"))
    trust(found.folder, found.claims)
    assert isinstance(found.task, SwingUp)
    assert not mark.exists()


def test_built_in_tasks_need_no_trust_and_leave_no_record(workspace: Workspace) -> None:
    assert Workspace(workspace.folder).task.name == "swingup"
    assert not record_path(workspace.folder).exists()


def test_trust_is_recorded_outside_the_workspace(workspace: Workspace, code: Path) -> None:
    found = Workspace(edited(workspace, task=f"{code}:Mine"))
    trust(found.folder, found.claims)
    assert not record_path(found.folder).is_relative_to(found.folder)
    assert record_path(found.folder).is_relative_to(os.environ["XDG_STATE_HOME"])
    record_path(found.folder).write_text("{")
    with pytest.raises(GaplessError, match="is damaged"):
        _ = found.task


@pytest.mark.parametrize("model", ["/etc/passwd", "../../../../etc/passwd", "/dev/zero", "link.xml", "../outside.xml"])
def test_a_model_outside_the_workspace_is_not_read(workspace: Workspace, model: str, tmp_path: Path, refusal) -> None:
    shutil.copy(workspace.folder / "model.xml", tmp_path / "outside.xml")
    (workspace.folder / "link.xml").symlink_to(tmp_path / "outside.xml")
    assert "reads, for its model," in refusal(model_of, edited(workspace, model=model))


def test_a_model_inside_the_workspace_does_not_lead_out(workspace: Workspace, tmp_path: Path, refusal) -> None:
    (tmp_path / "secret.xml").write_text("<mujocoinclude/>")
    text = (workspace.folder / "model.xml").read_text()
    (workspace.folder / "model.xml").write_text(
        text.replace("<worldbody>", '<include file="../secret.xml"/><worldbody>')
    )
    assert "secret.xml" in refusal(model_of, workspace.folder)


def test_a_model_that_the_user_named_elsewhere_is_trusted(tmp_path: Path) -> None:
    source = Path(new_workspace(tmp_path / "first", "cartpole", "swingup").folder / "model.xml")
    (tmp_path / "robot").mkdir()
    (tmp_path / "robot" / "empty.xml").write_text("<mujocoinclude><option/></mujocoinclude>")
    text = source.read_text().replace("<worldbody>", '<include file="empty.xml"/><worldbody>')
    (tmp_path / "robot" / "own.xml").write_text(text)
    made = new_workspace(tmp_path / "second", str(tmp_path / "robot" / "own.xml"), "swingup")
    assert made.settings.model == str(tmp_path / "robot" / "own.xml")
    assert Workspace(made.folder).model.nu == 1


DRIVEN = """
from gapless.core import Channel
from gapless.tasks import SwingUp
class Turn(SwingUp):
    name, commands, measurements = "turn", (Channel("j.torque"),), (Channel("j.position"),)
"""
ARM = """
<robot name="arm">
  <link name="base"/>
  <link name="l"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><geometry><mesh filename="m.obj"/></geometry></visual>
    <collision><geometry><mesh filename="m.obj"/></geometry></collision></link>
  <joint name="j" type="revolute"><parent link="base"/><child link="l"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="2" velocity="1"/></joint>
</robot>
"""
CORNERS = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"


def test_a_model_inside_that_uses_meshes_elsewhere_is_its_makers_alone(tmp_path: Path, refusal) -> None:
    (tmp_path / "robot").mkdir()
    (tmp_path / "robot" / "m.obj").write_text(CORNERS)
    (tmp_path / "robot" / "arm.urdf").write_text(ARM)
    (tmp_path / "turn.py").write_text(DRIVEN)
    made = new_workspace(tmp_path / "own", str(tmp_path / "robot" / "arm.urdf"), f"{tmp_path}/turn.py:Turn")
    assert made.settings.model == "model.xml"
    assert Workspace(made.folder).model.nmesh == 1
    shutil.copytree(made.folder, tmp_path / "copy")
    assert "m.obj', which nobody on this machine has vouched for" in refusal(model_of, tmp_path / "copy")


@pytest.mark.parametrize("name", [".lock", "artifacts", "progress", "report.html", "params.toml", "interface.json"])
def test_links_that_lead_out_of_a_workspace_are_refused(
    workspace: Workspace, name: str, tmp_path: Path, refusal
) -> None:
    outside = tmp_path / "outside"
    (outside / ".dotted-folder").mkdir(parents=True)
    (outside / "precious").write_text("precious")
    (workspace.folder / name).unlink(missing_ok=True)
    inner = name in ("artifacts", "progress")
    (workspace.folder / name).symlink_to(outside if inner else outside / "precious")
    assert "leads out of" in refusal(Workspace, workspace.folder)


def test_links_deep_in_the_artifacts_are_refused(workspace: Workspace, tmp_path: Path, refusal) -> None:
    made = workspace.store.make("belief", {}, {}, lambda folder: {})
    (tmp_path / "elsewhere.json").write_text("{}")
    made.file("belief.json").symlink_to(tmp_path / "elsewhere.json")
    assert "belief.json leads out of" in refusal(Workspace, workspace.folder)


def test_a_pipe_in_the_place_of_a_file_does_not_hang(workspace: Workspace, refusal) -> None:
    (workspace.folder / "params.toml").unlink()
    os.mkfifo(workspace.folder / "params.toml")
    assert "is neither a file nor a folder" in refusal(Workspace, workspace.folder)


@pytest.mark.parametrize(
    "settings",
    [
        {"task": ["swingup"]},
        {"model": 7},
        {"seed": "0"},
        {"seed": True},
        {"name": None},
        {"task": {"a": 1}, "seed": 1e999},
    ],
)
def test_settings_of_the_wrong_kind_are_refused(workspace: Workspace, settings: dict, refusal) -> None:
    assert "workspace.json is damaged" in refusal(Workspace, edited(workspace, **settings))


@pytest.mark.parametrize("text", ["[" * 10**6, '{"seed": NaN}', '{"seed": ' + "9" * 10**5 + "}", "\x00", "\ud800"])
def test_absurd_settings_are_refused(workspace: Workspace, text: str, refusal) -> None:
    (workspace.folder / "workspace.json").write_bytes(text.encode("utf-8", "surrogatepass"))
    assert "workspace.json is damaged" in refusal(Workspace, workspace.folder)


def test_settings_too_large_to_be_meant_are_not_read(workspace: Workspace, refusal: Callable) -> None:
    with (workspace.folder / "workspace.json").open("wb") as file:
        file.truncate(2**36)
    assert "has more than" in refusal(Workspace, workspace.folder)


def test_what_a_file_says_does_not_reach_the_terminal_as_commands(workspace: Workspace, refusal: Callable) -> None:
    said = refusal(task_of, edited(workspace, task="\x1b]0;owned\x07\n\x1b[2J"))
    assert "\\x1b" in said
