"""`gapless scenario`: what it lists, and how it refuses."""

import json
from pathlib import Path

import pytest

from gapless.cli import main

PUSHED = """
name = "pushed"
task = "swingup"
[[disturbance]]
what = "force"
of = "slider"
add = 6.0
from_s = 2.0
to_s = 2.1
[must]
within = {"cart.position" = [-0.4, 0.4]}
"""


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    main(["new", str(tmp_path / "bench"), "--model", "cartpole", "--task", "swingup"])
    (tmp_path / "bench" / "scenarios").mkdir()
    (tmp_path / "bench" / "scenarios" / "pushed.toml").write_text(PUSHED)
    return tmp_path / "bench"


def refused(arguments: list[str], capsys: pytest.CaptureFixture) -> str:
    """What is said on standard error by a command that must exit with 2."""
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    return " ".join(capsys.readouterr().err.split())


def test_the_list_says_what_each_scenario_asks_for(workspace: Path, tmp_path: Path) -> None:
    out = tmp_path / "listed.json"
    main(["scenario", "list", "--workspace", str(workspace), "--json", str(out)])
    (listed,) = json.loads(out.read_text())["scenarios"]
    assert listed["name"] == "pushed" and listed["must"]["within"] == {"cart.position": [-0.4, 0.4]}


def test_a_workspace_without_scenarios_says_how_to_get_one(workspace: Path, capsys: pytest.CaptureFixture) -> None:
    (workspace / "scenarios" / "pushed.toml").unlink()
    main(["scenario", "list", "--workspace", str(workspace)])
    assert "run `gapless scenario from-log`" in " ".join(capsys.readouterr().out.split())


def test_a_damaged_scenario_is_one_sentence(workspace: Path, capsys: pytest.CaptureFixture) -> None:
    (workspace / "scenarios" / "pushed.toml").write_text("name = 3\n")
    said = refused(["scenario", "list", "--workspace", str(workspace)], capsys)
    assert "is no scenario: name is 3" in said and "Traceback" not in said


def test_a_log_that_is_not_there_becomes_no_scenario(workspace: Path, capsys: pytest.CaptureFixture) -> None:
    said = refused(["scenario", "from-log", "150", "--workspace", str(workspace)], capsys)
    assert "no artifact has the id '150'" in said
    assert [p.name for p in (workspace / "scenarios").iterdir()] == ["pushed.toml"]


def test_scenarios_that_lead_out_of_the_workspace_are_refused(
    workspace: Path, tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    (workspace / "scenarios" / "link.toml").symlink_to(tmp_path / "elsewhere.toml")
    assert "leads out of" in refused(["scenario", "list", "--workspace", str(workspace)], capsys)
