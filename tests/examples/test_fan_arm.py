"""The example that docs/your-robot.md walks through: it conforms, it learns, and the page shows it as it is."""

import re
from pathlib import Path

import pytest

from gapless.core import Robot
from gapless.core.conformance import check_robot, check_simulator, check_task
from gapless.engine import Recipe, Workspace, cranks, new_workspace
from gapless.learn import Excite, Identify
from gapless.robots import find_robot
from gapless.train import Ppo, Train

ROOT = Path(__file__).parents[2]
FAN_ARM = ROOT / "examples" / "fan_arm"
PAGE = (ROOT / "docs" / "your-robot.md").read_text()
SHORT = Recipe(
    excite_s=4.0, deploy=1, checks=8, draws=8, excite=Excite(candidates=8, doubts=2),
    identify=Identify(windows=30, iterations=6), train=Train(Ppo(budget=60_000), looks=2, worlds=8),
)  # fmt: skip
"""Most of its time is compiling, and eight worlds everywhere are compiled once."""


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    folder = tmp_path_factory.mktemp("example") / "fan-arm"
    return new_workspace(folder, str(FAN_ARM / "robot.xml"), f"{FAN_ARM / 'task.py'}:Lift")


@pytest.fixture
def robot() -> Robot:
    return find_robot(f"{FAN_ARM / 'robot.py'}:FanArm")


def test_the_example_conforms(workspace: Workspace, robot: Robot) -> None:
    assert check_robot(robot, repeatable=True) == []
    assert check_simulator(workspace.simulator) == []
    assert check_task(workspace.task, workspace.simulator) == []


@pytest.mark.parametrize(("file", "name"), [("robot.py", "FanArm"), ("task.py", "Lift")])
def test_the_examples_classes_have_twenty_to_forty_lines(file: str, name: str) -> None:
    text = (FAN_ARM / file).read_text()
    body = text[text.index(f"class {name}") :]
    assert 20 <= len([line for line in body.splitlines() if line.strip()]) <= 40


@pytest.mark.parametrize("file", ["robot.xml", "robot.py", "task.py"])
def test_the_page_shows_the_examples_files_as_they_are(file: str) -> None:
    shown = re.search(rf"`examples/fan_arm/{re.escape(file)}`:\n\n```\w+\n(.*?)```", PAGE, re.DOTALL)
    assert shown is not None
    assert shown[1] == (FAN_ARM / file).read_text()


def test_the_pages_commands_lead_from_the_clone_to_the_crank() -> None:
    commands = "".join(re.findall(r"^```sh\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)).splitlines()
    assert commands[0].startswith("git clone ")
    assert [c.split()[1] for c in commands if c.startswith("gapless ")] == ["doctor", "new", "crank", "report"]
    for named in re.findall(r"examples/\S+?\.(?:py|xml)", " ".join(commands)):
        assert (ROOT / named).is_file()


def test_a_short_crank_closes_the_gap_and_lifts_the_arm(workspace: Workspace, robot: Robot) -> None:
    (turn,) = cranks(workspace, robot, SHORT, 0, 1)
    said = turn.figures()
    assert said["gap_after"] < 0.2 * said["gap_before"]
    found = {p["name"]: p["mean"] for p in turn.belief.figures["parameters"]}
    assert found["command.latency"] == pytest.approx(0.035, abs=0.006)
    assert said["return"] > 2.0  # hanging still scores 0.01


@pytest.mark.slow
def test_the_first_crank_forecasts_and_passes(workspace: Workspace, robot: Robot, tmp_path: Path) -> None:
    whole = new_workspace(tmp_path / "whole", str(FAN_ARM / "robot.xml"), f"{FAN_ARM / 'task.py'}:Lift")
    (turn,) = cranks(whole, robot, Recipe(), 0, 1)
    said = turn.figures()
    assert said["gap_after"] < 0.1 * said["gap_before"]
    assert (said["check"], said["verdict"]) == ("10/10", "1/1")
    assert said["inside"]
