"""The story read from the store."""

from collections.abc import Callable
from typing import Any

from gapless.core import Store
from gapless.report.story import read_story


def test_robot_seconds_add_up_over_the_cranks(whole: Store):
    story = read_story(whole)
    assert [round(c.until_s, 1) for c in story.cranks] == [32.3, 64.6, 96.9]


def test_cranks_come_in_the_order_of_their_numbers(put: Callable[..., Any], empty: Store):
    for crank in (2, 0, 1):
        put("logs", {"robot_seconds": 1.0, "episodes": []}, crank=crank)
    assert [c.name for c in read_story(empty).cranks] == ["start", "crank 1", "crank 2"]


def test_last_of_several_products_of_a_crank_counts(empty: Store):
    for attempt, value in enumerate((1.0, 2.0)):
        empty.make("policy", {}, {"crank": 1, "attempt": attempt}, lambda folder, value=value: {"return": value})
    assert read_story(empty).last("training").final == 2.0


def test_hit_follows_from_the_forecast_where_the_outcome_does_not_say(put: Callable[..., Any], empty: Store):
    put("forecast", {"low": 3.0, "mean": 3.5, "high": 4.0, "share": 0.8})
    put("outcome", {"return": 4.5, "inside": None})
    assert read_story(empty).cranks[0].hit is False


def test_families_come_with_the_largest_cause_first(whole: Store):
    families = read_story(whole).last("attribution").families
    assert [part.name for part in families] == ["latency", "friction", "inertia", "actuation", "sensing"]


def test_a_crank_speaks_of_the_policy_that_did_best_on_the_robot(empty: Store):
    for attempt, value in enumerate((2.0, 1.0)):
        made = empty.make("policy", {}, {"crank": 1, "attempt": attempt}, lambda folder, v=value: {"return": 10 * v})
        ran = {"episodes": [{"return": value}, {"return": value}], "robot_seconds": 1.0}
        empty.make("logs", {"policy": made.id}, {"crank": 1}, lambda folder, ran=ran: ran)
        said = empty.make("forecast", {"policy": made.id}, {"crank": 1}, lambda folder, v=value: {"mean": v + 0.1})
        empty.make("outcome", {"forecast": said.id}, {"crank": 1}, lambda folder, v=value: {"return": v})
    (crank,) = read_story(empty).cranks
    assert (crank.training.final, crank.forecast.mean, crank.outcome.mean) == (20.0, 2.1, 2.0)
