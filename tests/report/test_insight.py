"""The pictures of learning: each shows what its figures say, and an older workspace without them still has its page."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from gapless.core import Store
from gapless.report import write_report
from gapless.report.evidence import ResidualMap, Side, read_findings, read_maps, read_parts
from gapless.report.fits import read_fit
from gapless.report.maps import map_chart, map_spoken, strongest
from gapless.report.story import read_story

NEW = (
    "maps", "motions", "preflight", "untold", "untold_alone", "untold_together", "refused", "agreeing", "window_s", "bend",
    "chi_square_before", "windows",
)  # fmt: skip
FINDING = {
    "kind": "permuted",
    "channels": ["hip.position", "knee.position"],
    "evidence": "hip and knee look swapped: exchanging them cuts the prediction error 18-fold",
    "advice": "Exchange them in the mapping file.",
    "fold": 18.0,
}


def page(store: Store) -> str:
    return write_report(store, store.folder.parent / "report.html", "Swing-up", "Robot: cart-pole").read_text()


def section(store: Store, anchor: str) -> str:
    found = re.search(rf'<section id="{anchor}".*?</section>', page(store), re.DOTALL)
    assert found is not None
    return found.group()


def small_map(mean: list[list[float | None]], noise: float) -> ResidualMap:
    counts = tuple(tuple(0.0 if v is None else 1.0 for v in row) for row in mean)
    rows = tuple(map(tuple, mean))
    return ResidualMap("a", "m", 0.1, Side("a", "m", 0, 1), Side("b", "V", -1, 1), rows, counts, 0.1, noise, 0.5)


def test_map_colours_cells_where_the_motion_was_and_leaves_out_the_others():
    chart = map_chart(small_map([[0.2, None], [-0.1, 0.0]], 0.01))
    cells = chart[: chart.rindex("data-tip")]  # the colour scale follows
    assert cells.count("data-tip") == 2
    assert cells.count("heat above") == 1
    assert 'heat below" fill-opacity="0.57"' in cells  # half of the strongest, to the power of 0.8


def test_map_of_noise_alone_stays_pale():
    assert strongest(small_map([[0.01, -0.02]], noise=0.02)) == pytest.approx(0.04)
    assert strongest(small_map([[0.5, -0.02]], noise=0.02)) == pytest.approx(0.5)


def test_map_says_aloud_where_the_error_is_largest():
    said = map_spoken(small_map([[0.2, None], [-0.1, 0.0]], 0.01))
    assert "largest where a 0.25 m, b −0.50 V, +0.20 m" in said
    assert "0.10 m against 0.010 of noise" in said


def test_map_without_an_axis_or_a_cell_is_left_out():
    side = {"name": "a", "low": 0.0, "high": 1.0}
    assert read_maps({"maps": [{"x": side, "y": side, "mean": [[None]]}, {"x": side, "mean": [[1.0]]}]}) == ()


def test_maps_of_every_channel_are_on_the_page(whole: Store):
    shown = section(whole, "unexplained")
    assert "cart.position: what is left, over its value and its rate" in shown
    assert "the map foretells 64\u00a0% of its square" in shown


def test_chosen_motion_is_shown_with_its_limits_and_what_it_should_teach(whole: Store):
    shown = section(whole, "motion")
    assert shown.count("limit strong") == 4  # two of the motor and two of the cart; the pole has none
    assert "At most 74\u00a0% of the way to a limit was used." in shown
    assert "Doubt expected to be left: pole.mass 10\u00a0%" in shown


def test_motion_that_was_never_expected_anything_of_is_not_shown(put: Callable[..., Any], empty: Store):
    put("logs", {"robot_seconds": 1.0, "episodes": [], "motions": [{"time_s": [0.0], "channels": [{"name": "a"}]}]})
    assert "Not there yet" in section(empty, "motion")


def test_findings_are_shown_with_evidence_and_advice(whole: Store, put: Callable[..., Any], empty: Store):
    assert "No wrong convention in the logs" in section(whole, "bugs")
    put("preflight", {"findings": [FINDING]}, crank=4)
    shown = section(empty, "bugs")
    assert "1 wrong convention in the logs" in shown
    assert FINDING["evidence"] in shown
    assert "18 ×" in shown


def test_nobody_having_looked_is_not_the_same_as_nothing_found():
    assert read_findings({"preflight": None}) is None
    assert read_findings({"preflight": []}) == ()


def test_parameters_that_the_logs_do_not_tell_are_marked_and_combinations_named(whole: Store):
    shown = section(whole, "parameters")
    assert shown.count(">not told<") == 2  # for the desk and for the phone
    assert "and motor.gain" in shown
    assert "84 → 1.1" in shown
    assert "3 of 3" in shown
    assert "96 windows of 0.42 s" in shown


def test_refused_fit_says_so_first(put: Callable[..., Any], empty: Store):
    parameters = [{"name": "a", "prior_low": 0.0, "prior_high": 1.0, "mean": 0.5}]
    put("belief", {"parameters": parameters, "refused": "it predicts held-out logs worse than the prior."})
    assert "The fit was refused, and the belief is still the prior: it predicts" in section(empty, "parameters")


def test_learned_parts_are_shown_where_there_are_any(whole: Store, put: Callable[..., Any], empty: Store):
    assert 'id="parts"' not in page(whole)
    part = {"acts_on": ["slider.force"], "terms": {"slider.force": ["place"]}}
    put("belief", {"residual": part | {"held_out_before": 0.3, "held_out_after": 0.1}}, crank=9)
    said = "With slider.force (place) the error up to half a second ahead is 3.0 times smaller."
    assert said in section(empty, "parts")


def test_part_whose_worth_is_not_known_is_left_out():
    assert read_parts({"parts": [{"name": "a", "held_out_before": 0.3}], "residual": None}) == ()


def test_damaged_combinations_are_left_out():
    fit = read_fit({"untold_together": [[["a", 1.0], ["b", None]], [], "x"], "agreeing": [3]})
    assert fit.together == ((("a", 1.0),),)
    assert fit.agreeing is None


def test_interval_of_a_bar_stands_out_from_it(whole: Store):
    shown = section(whole, "causes")
    assert "whisker over" in shown
    assert "with its 90 % interval" in shown


def test_repeatability_of_the_machine_is_told(put: Callable[..., Any], empty: Store):
    put("attribution", {"families": [{"family": "friction", "explained": 0.5}], "repeatability": 0.04})
    assert "repeats itself to within 4\u00a0%" in section(empty, "causes")


def test_what_varies_within_the_logs_is_said(put: Callable[..., Any], empty: Store):
    said = ["motor.gain falls by 14 % in 6 s", "arm.friction varies along arm by 0.03"]
    put("attribution", {"families": [{"family": "friction", "explained": 0.5}], "varied": said})
    shown = section(empty, "causes")
    assert f"Within the logs {said[0]}, {said[1]}." in shown


def test_older_workspace_without_these_figures_still_has_its_page(whole: Store):
    for artifact in whole.all():
        record = artifact.file("artifact.json")
        stored = json.loads(record.read_text())
        stored["figures"] = {k: v for k, v in stored["figures"].items() if k not in NEW}
        record.write_text(json.dumps(stored))
    story, written = read_story(whole), page(whole)
    assert story.last("maps") == ()
    assert story.last("findings") is None
    assert written.count("Not there yet") == 4  # the film, bugs, the motion and maps
    assert "Each parameter in its prior range" in written


def test_ladders_of_actuators_are_shown_newest_first_and_only_where_there_are_some(
    whole: Store, put: Callable[..., Any], empty: Store
):
    assert 'id="actuators"' not in page(whole)
    rungs = [
        {"name": "data sheet", "share": 0.4},
        {"name": "friction m1", "share": 0.02},
        {"name": "mlp", "share": None},
    ]
    for crank, chosen in enumerate(("pd", "friction m1")):
        put("actuator", {"joint": "hip", "fitted_to": "motion", "chosen": chosen, "rungs": rungs}, crank=crank)
    shown = section(empty, "actuators")
    assert "friction m1 for hip" in shown and "pd for hip" not in shown
    assert "Held-out error of hip: data sheet 40\u00a0%; friction m1 2\u00a0%." in shown
