"""At the command line a stranger's file costs one sentence and exit status 2; `gapless trust` says what it lets in."""

import json
import shutil
from pathlib import Path

import pytest

from gapless.cli import main
from gapless.engine import Workspace

TASK = "from pathlib import Path\nPath({mark!r}).touch()\nfrom gapless.tasks import SwingUp as Mine\n"


def refused(arguments: list[str], capsys: pytest.CaptureFixture) -> str:
    """What is said on standard error by a command that must exit with 2: one line."""
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    said = capsys.readouterr().err.strip()
    assert said.startswith("gapless: ")
    assert said.isprintable()
    return said


def named(workspace: Workspace, **settings: object) -> str:
    path = workspace.folder / "workspace.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **settings}))
    return str(workspace.folder)


@pytest.fixture
def hostile(workspace: Workspace, tmp_path: Path) -> str:
    """A workspace that brings code of its own."""
    (workspace.folder / "mine.py").write_text(TASK.format(mark=str(tmp_path / "it-ran")))
    return named(workspace, task="mine.py:Mine")


def test_a_workspace_that_brings_code_runs_after_trust_and_not_before(hostile: str, tmp_path: Path, capsys) -> None:
    (tmp_path / "run.csv").write_text(
        "time,motor,cart.position,pole.angle\n" + "".join(f"{k / 50},0,0,{k}\n" for k in range(9))
    )
    bring = ["import", str(tmp_path / "run.csv"), "--workspace", hostile]
    assert f"run `gapless trust {hostile}`" in refused(bring, capsys)
    assert not (tmp_path / "it-ran").exists()
    main(["trust", hostile])
    assert "mine.py:Mine" in " ".join(capsys.readouterr().out.split())
    assert not (tmp_path / "it-ran").exists()
    main(bring)
    assert (tmp_path / "it-ran").exists()


def test_a_report_of_somebody_elses_workspace_needs_no_trust(hostile: str, tmp_path: Path) -> None:
    main(["report", "--workspace", hostile])
    assert not (tmp_path / "it-ran").exists()


def test_trusting_a_workspace_that_names_nothing_says_so(workspace: Workspace, capsys) -> None:
    main(["trust", str(workspace.folder)])
    assert "nothing to trust" in " ".join(capsys.readouterr().out.split())


def test_trusting_what_is_no_workspace_is_refused(tmp_path: Path, capsys) -> None:
    assert "is not a workspace" in refused(["trust", str(tmp_path)], capsys)


def test_a_copied_workspace_is_refused_in_one_sentence(hostile: str, tmp_path: Path, capsys) -> None:
    main(["trust", hostile])
    capsys.readouterr()
    shutil.copytree(hostile, tmp_path / "copy")
    (tmp_path / "run.csv").write_text("time,motor,cart.position,pole.angle\n0,0,0,0\n.02,0,0,1\n.04,0,0,2\n")
    bring = ["import", str(tmp_path / "run.csv"), "--workspace", str(tmp_path / "copy")]
    assert "vouched for" in refused(bring, capsys)


@pytest.mark.parametrize("name", ["workspace.json", "interface.json", "params.toml"])
def test_damage_costs_one_sentence(workspace: Workspace, name: str, tmp_path: Path, capsys) -> None:
    (workspace.folder / name).write_text("\x1b[31m[[[\n{" * 9)
    (tmp_path / "run.csv").write_text("time,motor,cart.position,pole.angle\n0,0,0,0\n")
    command = ["import", str(tmp_path / "run.csv"), "--workspace", str(workspace.folder)]
    if name == "params.toml":
        command = ["train", "--workspace", str(workspace.folder)]
    assert name in refused(command, capsys)


def test_a_model_that_leads_outside_costs_one_sentence(tmp_path: Path, capsys) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "part.xml").write_text("<mujocoinclude><option/></mujocoinclude>")
    (tmp_path / "a" / "b" / "m.xml").write_text('<mujoco><include file="../../part.xml"/></mujoco>')
    new = ["new", str(tmp_path / "w"), "--model", str(tmp_path / "a" / "b" / "m.xml"), "--task", "swingup"]
    assert "part.xml, which is no file inside" in refused(new, capsys)
    assert not (tmp_path / "w").exists()


def test_markup_in_names_reaches_nobody(workspace: Workspace, capsys) -> None:
    said = refused(["gap", "--workspace", named(workspace, seed="[red]\\[/][bold]\x1b[2J")], capsys)
    assert "[red]" in said
