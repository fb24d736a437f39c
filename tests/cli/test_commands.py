"""The command line: what it makes, what it says, and how it refuses."""

import json
from pathlib import Path

import numpy as np
import pytest

from gapless.cli import main
from gapless.cli.options import asked_recipe
from gapless.engine import Recipe


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    main(["new", str(tmp_path / "bench"), "--model", "cartpole", "--task", "swingup"])
    return tmp_path / "bench"


def refused(arguments: list[str], capsys: pytest.CaptureFixture) -> str:
    """What is said on standard error by a command that must exit with 2."""
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "Traceback" not in said
    return said


def drive_csv(path: Path, seconds: float = 6.0, **columns: np.ndarray) -> Path:
    """A log as somebody else's recorder would write it."""
    time = np.arange(0, seconds, 0.02)
    held = {"time": time, "motor": 3 * np.sin(3 * time), "cart.position": 0.1 * np.sin(3 * time)}
    held |= {"pole.angle": 0.2 * np.sin(5 * time), **columns}
    rows = np.column_stack(list(held.values()))
    path.write_text(",".join(held) + "\n" + "\n".join(",".join(map(repr, map(float, r))) for r in rows))
    return path


@pytest.mark.parametrize("command", ["new", "collect", "import", "excite", "gap", "learn", "train", "check", "crank"])
def test_every_command_explains_itself(command: str, capsys: pytest.CaptureFixture) -> None:
    with pytest.raises(SystemExit) as ended:
        main([command, "--help"])
    assert ended.value.code == 0
    assert "--seed" in capsys.readouterr().out


def test_a_new_workspace_proposes_parameters_that_can_be_edited(workspace: Path) -> None:
    text = (workspace / "params.toml").read_text()
    assert '["command.latency"]' in text
    assert "free = true" in text


def test_a_workspace_is_not_made_over_another(workspace: Path, capsys: pytest.CaptureFixture) -> None:
    said = refused(["new", str(workspace), "--model", "cartpole", "--task", "swingup"], capsys)
    assert "exists and is not empty" in said


@pytest.mark.parametrize(
    ("model", "task", "says"),
    [("nowhere.xml", "swingup", "no model file"), ("cartpole", "juggle", "there is no task")],
)
def test_what_cannot_be_found_is_named(
    tmp_path: Path, model: str, task: str, says: str, capsys: pytest.CaptureFixture
) -> None:
    assert says in refused(["new", str(tmp_path / "x"), "--model", model, "--task", task], capsys)
    assert not (tmp_path / "x").exists()


def test_commands_outside_a_workspace_say_so(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    assert "is not a workspace" in refused(["gap", "--workspace", str(tmp_path)], capsys)


def test_learning_without_logs_says_what_to_do(workspace: Path, capsys: pytest.CaptureFixture) -> None:
    assert "gapless collect" in refused(["learn", "--workspace", str(workspace)], capsys)


def test_one_word_changes_how_policies_are_trained(capsys: pytest.CaptureFixture) -> None:
    """The word's own settings are then the usual ones, and can be changed like any others."""
    left, recipe = asked_recipe(["train", "--recipe", "ppo", "--recipe.train.looks", "3"])
    assert left == ["train", "--recipe.train.looks", "3"]
    assert recipe == Recipe()
    assert "there is no recipe 'magic' (there are: ppo" in refused(["train", "--recipe", "magic"], capsys)
    assert "--recipe wants a word: ppo" in refused(["train", "--recipe"], capsys)


def test_an_unknown_robot_is_explained(workspace: Path, capsys: pytest.CaptureFixture) -> None:
    said = refused(["collect", "--robot", "twin:unicycle", "--workspace", str(workspace)], capsys)
    assert "twins are cartpole" in said


def test_imported_logs_are_measured_against_the_data_sheet(workspace: Path, tmp_path: Path) -> None:
    files = [str(drive_csv(tmp_path / f"run{k}.csv")) for k in range(2)]
    out = tmp_path / "gap.json"
    main(["import", *files, "--workspace", str(workspace)])
    main(["gap", "--workspace", str(workspace), "--json", str(out)])
    assert set(json.loads(out.read_text())["before"]) == {"cart.position", "pole.angle"}


def test_columns_that_match_no_channel_leave_a_mapping_to_complete(
    workspace: Path, tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    file = drive_csv(tmp_path / "run.csv")
    file.write_text(file.read_text().replace("motor", "volts", 1))
    said = refused(["import", str(file), "--workspace", str(workspace)], capsys)
    assert "motor" in said
    assert (workspace / "mapping.toml").is_file()
    assert not list((workspace / "artifacts").glob("logs-*"))


def test_a_log_with_time_running_backwards_is_not_imported(
    workspace: Path, tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    time = np.arange(0, 6.0, 0.02)
    file = drive_csv(tmp_path / "run.csv", time=time[::-1])
    refused(["import", str(file), "--workspace", str(workspace)], capsys)
    assert not list((workspace / "artifacts").glob("logs-*"))


def test_a_report_can_be_had_at_any_time(workspace: Path) -> None:
    main(["report", "--workspace", str(workspace)])
    assert "<html" in (workspace / "report.html").read_text()


def test_motions_are_recorded_on_a_twin_and_counted(workspace: Path, tmp_path: Path) -> None:
    out = tmp_path / "collected.json"
    small = ["--recipe.excite.candidates", "8", "--recipe.excite.doubts", "2"]
    robot = ["--robot", "twin:cartpole?seed=3", "--seconds", "6", "--workspace", str(workspace)]
    main(["collect", *robot, *small, "--json", str(out)])
    figures = json.loads(out.read_text())
    assert figures["robot_seconds"] == pytest.approx(figures["episodes"][0]["seconds"] + 5.0)


def test_the_chosen_motion_is_written_with_its_times(workspace: Path, tmp_path: Path) -> None:
    small = ["--recipe.excite.candidates", "4", "--recipe.excite.generations", "1", "--recipe.excite.doubts", "2"]
    out, said = tmp_path / "motion.csv", tmp_path / "said.json"
    main(["excite", "--workspace", str(workspace), "--seconds", "1", "--out", str(out), *small, "--json", str(said)])
    written = np.genfromtxt(out, delimiter=",", names=True)
    assert np.allclose(np.diff(written["time"]), 0.02)
    assert np.abs(written["motor"]).max() <= 10.0
    figures = json.loads(said.read_text())
    assert figures["after"]["motor.gain"] < figures["now"]["motor.gain"]


def test_excitation_around_a_policy_needs_one(workspace: Path, tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    out = ["--out", str(tmp_path / "motion.npz")]
    assert "no policy yet" in refused(["excite", "--workspace", str(workspace), "--around-policy", *out], capsys)
