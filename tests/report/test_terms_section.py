"""The page's table of reward terms: what each was forecast to bring, and what it brought."""

from pathlib import Path
from typing import Any

from gapless.core import Store
from gapless.report.story import Story, read_story
from gapless.report.terms import terms

FORECAST = [
    {"name": "height", "mean": 3.0, "low": 2.8, "high": 3.2},
    {"name": "volts", "mean": -0.1, "low": -0.12, "high": -0.08},
]


def story(folder: Path, said: Any, came: list[Any]) -> Story:
    store = Store(folder)
    store.make("forecast", {}, {"crank": 1}, lambda place: {"terms": said})
    recipe = {"crank": 1, "purpose": "deploy"}
    store.make("logs", {}, recipe, lambda place: {"episodes": [{"terms": c} for c in came]})
    return read_story(store)


def test_every_term_is_held_against_the_mean_of_the_robots_episodes(tmp_path: Path) -> None:
    (section,) = terms(story(tmp_path, FORECAST, [{"height": 2.9, "volts": -0.3}, {"height": 3.1, "volts": -0.5}]))
    assert "furthest from its forecast is volts" in section.says
    body = str(section.body)
    assert "3.00" in body and "−0.400" in body
    assert body.count("inside") == 1 and body.count("outside") == 1


def test_terms_that_came_as_forecast_are_said_to_have(tmp_path: Path) -> None:
    (section,) = terms(story(tmp_path, FORECAST, [{"height": 3.0, "volts": -0.1}]))
    assert "Every term came as it was forecast." in section.says


def test_one_term_tells_no_more_than_the_return(tmp_path: Path) -> None:
    assert terms(story(tmp_path, FORECAST[:1], [{"height": 3.0}])) == []


def test_stores_without_terms_and_damaged_ones_have_no_section(tmp_path: Path) -> None:
    assert terms(story(tmp_path / "a", None, [{}])) == []
    assert terms(story(tmp_path / "b", "odd", [None])) == []
