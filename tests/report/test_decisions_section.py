"""The page's table of decisions: every option with its gain, and which were done; nothing where nothing was decided."""

from pathlib import Path
from typing import Any

from gapless.core import Store
from gapless.report.decisions import decisions
from gapless.report.sections import sections
from gapless.report.story import read_story

MOTION = {"kind": "excite", "seconds": 11.0, "gain": 0.0234, "why": "not knowing costs <3 %", "allowed": True}
PART = {"kind": "part", "seconds": 0.0, "gain": 0.3, "why": "the recipe allows no part", "allowed": False}


def told(folder: Path, figures: dict[str, Any]) -> str:
    store = Store(folder)
    store.make("decision", {}, {"crank": 2}, lambda place: figures)
    (section,) = decisions(read_story(store))
    return f"{section.says} {section.body}"


def test_every_option_is_a_row_with_gain_seconds_and_verdict(tmp_path: Path) -> None:
    said = told(tmp_path, {"options": [MOTION, PART], "taken": ["excite"], "why": "it pays"})
    assert "crank 2" in said and "motion that teaches" in said and "11 s" in said and "2.3\u00a0%" in said
    assert "not knowing costs &lt;3 %" in said
    assert said.index("done") < said.index("not possible")


def test_damaged_decisions_are_dashes(tmp_path: Path) -> None:
    assert "–" in told(tmp_path, {"options": [{"kind": "excite", "gain": "much"}], "taken": "all"})


def test_where_nothing_was_decided_there_is_no_section(tmp_path: Path) -> None:
    assert "decisions" not in [s.anchor for s in sections(read_story(Store(tmp_path)))]
