"""Scenarios: what their files may say, which worlds and starts they draw, and what they hold an episode to."""

import json
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

from gapless.core import Disturbance, GaplessError, Log, Point, on_one_clock
from gapless.robots.cartpole import INTERFACE
from gapless.tasks import SwingUp
from gapless.tasks.scenario import Must, Scenario, Settles
from gapless.tasks.scenario_file import read_scenario, read_scenarios, write_scenario

TASK = SwingUp()
PUSHED = """
name = "pushed at the top"
task = "swingup"

[start]
"hinge.position" = 3.14
"slider.position" = [-0.05, 0.05]

[params]
"slider.friction" = [1.0, 2.0]

[[disturbance]]
what = "force"
of = "slider"
add = 8.0
from_s = 2.0
to_s = 2.1

[must]
passes = true
return_at_least = 2.5
within = {"cart.position" = [-0.4, 0.4]}
settles = {"pole.angle" = {at = 3.14, by = 0.3, after_s = 3.0}}
"""


def written(folder: Path, text: str, name: str = "one.toml") -> Path:
    (folder / name).write_text(text)
    return folder / name


def episode(angle: float, place: float = 0.0, rows: int = 251) -> Log:
    measured = {"pole.angle": np.full((rows, 1), angle), "cart.position": np.full((rows, 1), place)}
    return on_one_clock(INTERFACE, {"motor": np.zeros((rows, 1))}, measured, np.arange(rows) * 0.02)


def test_a_file_says_where_it_starts_what_goes_wrong_and_what_must_hold(tmp_path: Path) -> None:
    found = read_scenario(written(tmp_path, PUSHED))
    assert found.start == {"hinge.position": (3.14, 3.14), "slider.position": (-0.05, 0.05)}
    assert found.disturbances == (Disturbance("force", "slider", add=8.0, from_s=2.0, to_s=2.1),)
    expected = Must(True, 2.5, {"cart.position": (-0.4, 0.4)}, {"pole.angle": Settles(3.14, 0.3, 3.0)})
    assert found.must == expected


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    found = read_scenario(written(tmp_path, PUSHED))
    write_scenario(tmp_path / "same.json", found)
    assert read_scenario(tmp_path / "same.json") == found


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"name": ""}, "name is ''"),
        ({"nmae": "x"}, "does not know 'nmae'"),
        ({"start": [1]}, "start is [1]; a table belongs there"),
        ({"start": {"hinge.position": "up"}}, "start hinge.position is 'up'"),
        ({"start": {"hinge.position": [2, 1]}}, "the lowest comes first"),
        ({"params": {"pole.mass": True}}, "params pole.mass is True"),
        ({"disturbance": {"what": "force"}}, "write it as [[disturbance]]"),
        ({"disturbance": [{"what": "wind", "of": "pole"}]}, "one of force, command, sensor, param"),
        ({"disturbance": [{"what": "force", "of": "slider", "from_s": 2, "to_s": 1}]}, "from_s < to_s"),
        ({"disturbance": [{"what": "force"}]}, "'of' is missing"),
        ({"must": {"passes": False}}, "nothing must hold"),
        ({"must": {"settles": {"pole.angle": {"at": 1, "by": 0, "after_s": 1}}}}, "by above 0"),
        ({"belief": {"kind": "hunch"}}, "unknown kind of belief"),
    ],
)
def test_what_is_wrong_with_a_file_is_one_sentence(tmp_path: Path, change: dict[str, Any], says: str) -> None:
    path = written(tmp_path, json.dumps({"name": "x", "task": "swingup"} | change), "one.json")
    with pytest.raises(GaplessError) as refused:
        read_scenario(path)
    assert says in str(refused.value) and str(path) in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_file_that_is_no_toml_is_refused(tmp_path: Path) -> None:
    with pytest.raises(GaplessError, match="is no scenario"):
        read_scenario(written(tmp_path, "name = "))


def test_a_folder_gives_its_scenarios_and_nothing_twice(tmp_path: Path) -> None:
    assert read_scenarios(tmp_path / "nowhere") == []
    written(tmp_path, PUSHED)
    written(tmp_path, "not read", "notes.txt")
    assert [s.name for s in read_scenarios(tmp_path)] == ["pushed at the top"]
    written(tmp_path, PUSHED, "two.toml")
    with pytest.raises(GaplessError, match=r"two scenarios .* are called 'pushed at the top'"):
        read_scenarios(tmp_path)


def test_ranges_beat_the_own_belief_which_beats_what_is_known() -> None:
    known = Point(("a", "b", "c"), np.array([1.0, 1.0, 1.0]))
    own = Point(("b", "c"), np.array([2.0, 2.0])).to_dict()
    scenario = Scenario("x", "swingup", params={"c": (3.0, 4.0)}, belief=own)
    drawn = scenario.worlds(known, jax.random.key(0), 50)
    assert np.all(drawn["a"] == 1.0) and np.all(drawn["b"] == 2.0)
    assert drawn["c"].min() >= 3.0 and drawn["c"].max() <= 4.0 and np.ptp(drawn["c"]) > 0.5


def test_joints_that_are_not_named_start_as_the_task_has_them() -> None:
    scenario = Scenario("x", "swingup", start={"hinge.position": (3.0, 3.0), "hinge.velocity": (1.0, 1.0)})
    begun = scenario.starts(TASK, jax.random.key(0), 4)
    assert np.all(begun["hinge.position"] == 3.0) and np.all(begun["hinge.velocity"] == 1.0)
    assert begun["slider.position"].shape == (4, 1) and np.ptp(begun["slider.position"]) > 0


@pytest.mark.parametrize(
    ("must", "log", "holds", "says"),
    [
        (Must(), episode(np.pi), True, "stays upright"),
        (Must(), episode(0.0), False, "falls or never gets up"),
        (Must(False, 4.9), episode(np.pi), True, "its return is 5"),  # 250 periods of 0.02 s at 1 per second
        (Must(False, 5.1), episode(np.pi), False, "its return is 5"),
        (Must(False, within={"cart.position": (-0.1, 0.1)}), episode(0.0, 0.2), False, "cart.position went from 0.2"),
        (Must(False, settles={"pole.angle": Settles(-np.pi, 0.1, 1.0)}), episode(np.pi), True, "pole.angle is up to"),
        (Must(False, settles={"pole.angle": Settles(0.0, 0.1, 1.0)}), episode(0.2), False, "0.2 rad off after 1 s"),
        (Must(False, settles={"pole.angle": Settles(0.0, 0.1, 1.0)}), episode(0.0, rows=90), False, "over after 1.8 s"),
        (Must(True, 9.0), episode(np.pi), False, "its return is 5"),  # the worst of all that must hold
    ],
)
def test_an_episode_is_held_to_all_of_it(must: Must, log: Log, holds: bool, says: str) -> None:
    verdict = must.judge(TASK, log)
    assert verdict.passed is holds and (verdict.margin >= 0) is holds
    assert says in verdict.reason


def test_a_channel_in_the_middle_of_its_range_has_all_the_margin() -> None:
    must = Must(False, within={"cart.position": (-0.4, 0.4)})
    assert must.judge(TASK, episode(0.0, 0.0)).margin == pytest.approx(1.0)
    assert must.judge(TASK, episode(0.0, 0.2)).margin == pytest.approx(0.5)
