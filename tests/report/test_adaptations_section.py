"""The page's section on adaptations: returns over tries, and who was kept; nothing where nobody tried."""

from pathlib import Path
from typing import Any

from gapless.core import Store
from gapless.report.adaptations import adaptations
from gapless.report.sections import sections
from gapless.report.story import read_story

TRIES = [{"return": 1.0, "kept": False}, {"return": 2.5, "kept": True}, {"return": 2.0, "kept": False}]


def told(folder: Path, **figures: Any) -> str:
    store = Store(folder)
    store.make("policy", {}, {"crank": 0}, lambda place: figures)
    (section,) = adaptations(read_story(store))
    assert "adaptations" in [s.anchor for s in sections(read_story(store))]
    return f"{section.says} {section.body}"


def test_returns_over_tries_and_who_was_kept(tmp_path: Path) -> None:
    said = told(tmp_path, method="strategy-bo", adapted=True, robot_seconds=30.0, tries=TRIES)
    assert "strategy-bo, 3 tries in 30 robot seconds: the adapted policy returned 2.50, the first try 1.00" in said
    assert "Returns of tries by strategy-bo" in said


def test_a_policy_that_stayed_is_said_to_have_stayed(tmp_path: Path) -> None:
    said = told(tmp_path, method="simopt", adapted=False, robot_seconds=10.0, tries=[{"return": 1.0, "kept": True}])
    assert "1 try in 10 robot seconds: the first one, which was kept, returned 1.00" in said


def test_damaged_tries_do_not_fail_the_page(tmp_path: Path) -> None:
    assert "–" in told(tmp_path, method="<odd>", tries=[{"return": "much"}, {"kept": 3}])


def test_without_tries_there_is_no_section(tmp_path: Path) -> None:
    Store(tmp_path).make("policy", {}, {"crank": 0}, lambda place: {"curve": []})
    assert adaptations(read_story(Store(tmp_path))) == []
