"""The page's table of scenarios: what held, beside what the policy in place held; nothing where nobody wrote one."""

from pathlib import Path
from typing import Any

from gapless.core import Store
from gapless.report.scenarios import scenarios
from gapless.report.sections import sections
from gapless.report.story import read_story

HELD = {"name": "pushed", "passed": 60, "of": 64, "low": 0.85, "high": 0.98, "worst": "falls", "before": 62}
LOST = {
    "name": "<slow> motor",
    "passed": 30,
    "of": 64,
    "low": 0.34,
    "high": 0.6,
    "worst": "never gets up",
    "before": 60,
}


def told(folder: Path, *rows: dict[str, Any]) -> str:
    store = Store(folder)
    store.make("scenarios", {}, {"crank": 1}, lambda place: {"scenarios": list(rows)})
    (section,) = scenarios(read_story(store))
    return f"{section.says} {section.body}"


def test_every_scenario_is_a_row_with_its_interval(tmp_path: Path) -> None:
    said = told(tmp_path, HELD | {"lost": 3, "won": 1, "regressed": False})
    assert "60 of 64" in said and "62 of 64" in said
    assert "85\u00a0% to 98\u00a0%" in said
    assert "lost none" in said


def test_what_the_policy_lost_is_said_first_and_names_are_no_markup(tmp_path: Path) -> None:
    said = told(tmp_path, HELD, LOST | {"lost": 31, "won": 1, "regressed": True})
    assert "The policy lost 1 scenario, beyond chance." in said
    assert "loses 31, wins 1" in said
    assert "&lt;slow&gt; motor" in said


def test_damaged_figures_are_dashes(tmp_path: Path) -> None:
    assert "–" in told(tmp_path, {"name": "odd", "passed": "many"})


def test_without_scenarios_there_is_no_section(tmp_path: Path) -> None:
    assert "scenarios" not in [s.anchor for s in sections(read_story(Store(tmp_path)))]
