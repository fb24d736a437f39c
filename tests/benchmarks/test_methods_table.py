"""Cells of the judge become shares, ranks and pictures; numbers are worked out by hand."""

import math
import sys
import xml.etree.ElementTree
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
from methods_chart import curves, dots, median_curve
from methods_table import difference, fall, figures, joined, matrix, rank


def _cell(robot: str, seed: int, word: str, returns: list[float], **more: Any) -> dict[str, Any]:
    made = {"belief": "prior", "robot_seconds": [10.0 * k for k in range(len(returns))], "returns": returns}
    return {"robot": robot, "seed": seed, "tier": "C", "cell": word, "methods": {word: made}, **more}


def _crank(robot: str, seed: int, returns: list[float], passed: float = 1.0) -> dict[str, Any]:
    return _cell(robot, seed, "crank", returns, j0=10.0, jstar=30.0, oracle_passed=passed)


def _rows(shares: dict[str, list[float]], robot: str = "puck") -> list[dict[str, Any]]:
    """One row for each method and seed, by their last shares."""
    made = {w: [{"shares": [v], "share": v, "robot_seconds": [5.0]} for v in values] for w, values in shares.items()}
    common = {"robot": robot, "tier": "C", "valid": True}
    return [{**common, "method": w, "seed": k, **row} for w, rows in made.items() for k, row in enumerate(rows)]


def test_shares_are_taken_between_the_ends_of_the_cranks_own_cell() -> None:
    rows = joined([_cell("puck", 0, "rma", [15.0, 20.0]), _crank("puck", 0, [12.0, 28.0])])
    assert [(r["method"], r["shares"], r["share"]) for r in rows] == [
        ("rma", [0.25, 0.5], 0.5),
        ("crank", [0.1, 0.9], 0.9),
    ]


def test_a_method_waits_for_the_crank_of_its_robot_and_seed() -> None:
    cells = [_crank("puck", 0, [28.0]), _cell("puck", 1, "rma", [20.0]), _cell("arm", 0, "rma", [20.0])]
    assert [r["method"] for r in joined(cells)] == ["crank"]


@pytest.mark.parametrize(("value", "passed", "valid"), [(30.6, 1.0, True), (30.7, 1.0, False), (20.0, 0.89, False)])
def test_a_share_above_the_oracles_or_an_oracle_that_fails_makes_a_row_invalid(
    value: float, passed: float, valid: bool
) -> None:
    rows = joined([_crank("puck", 0, [28.0], passed), _cell("puck", 0, "rma", [value])])
    assert next(r for r in rows if r["method"] == "rma")["valid"] is valid
    assert figures(rows)["invalid"] == sum(not r["valid"] for r in rows)


def test_only_methods_that_beat_the_crank_on_all_draws_push_it_down() -> None:
    crank = [0.90, 0.92, 0.94]
    better, tied, worse = [0.95, 0.96, 0.99], [0.95, 0.96, 0.90], [0.5, 0.6, 0.7]
    assert rank(_rows({"crank": crank, "tied": tied, "worse": worse})) == 1
    assert rank(_rows({"crank": crank, "tied": tied, "better": better, "worse": worse})) == 2


def test_the_worst_robot_counts() -> None:
    rows = _rows({"crank": [0.95, 0.95], "glue": [0.7, 0.8]}) + _rows({"crank": [0.8, 0.8], "glue": [0.9, 0.9]}, "arm")
    found = figures(rows)
    assert (found["crank_rank_puck"], found["crank_rank_arm"], found["crank_rank_worst"]) == (1, 2, 2)
    assert found["crank_share_worst"] == pytest.approx(0.8)
    # Differences are 0.25, 0.15, -0.1 and -0.1.
    assert found["glue_margin"] == pytest.approx(0.025)


def test_differences_are_paired_by_robot_and_seed() -> None:
    rows = _rows({"crank": [0.5, 0.9, 0.7], "rma": [0.4, 0.8]})
    assert difference(rows, "rma") == pytest.approx((0.1, 0.1, 0.1))
    assert math.isnan(difference(rows, "nobody")[0])


def test_a_curve_falls_by_its_largest_drop_to_any_later_point() -> None:
    rising, falling, short = ({"shares": s} for s in ([0.1, 0.5, 0.9], [0.2, 0.9, 0.8, 0.6, 0.7], [0.8]))
    assert fall([rising]) == 0.0
    assert fall([falling]) == pytest.approx(0.3)
    # Medians: 0.5, 0.85, 0.8, 0.7, 0.75, since the short curve stays at 0.8.
    assert fall([falling, short]) == pytest.approx(0.15)


def test_a_method_that_failed_is_shown_and_counts_for_nobody() -> None:
    failed = {
        "robot": "puck",
        "seed": 0,
        "tier": "C",
        "cell": "mpc",
        "methods": {},
        "failed": "nothing can be planned.",
    }
    rows = joined([_crank("puck", 0, [28.0]), failed])
    assert {line["method"]: line["puck"] for line in matrix(rows)} == {"mpc": "fails", "crank": "0.90 in 0 s (1)"}
    assert figures(rows)["crank_rank_worst"] == 1


def test_before_any_crank_is_done_there_are_no_figures() -> None:
    assert figures(joined([_cell("puck", 0, "rma", [20.0])])) == {}


def test_the_curve_of_a_method_is_the_median_over_its_seeds() -> None:
    rows = [
        {"shares": [0.0, 0.5], "robot_seconds": [0.0, 10.0]},
        {"shares": [0.2, 0.7, 0.9], "robot_seconds": [0.0, 20.0, 30.0]},
    ]
    assert median_curve(rows) == [pytest.approx(p) for p in ((0.0, 0.1), (15.0, 0.6), (20.0, 0.7))]


def test_both_pictures_are_drawn_with_every_method_and_robot() -> None:
    rows = _rows({"crank": [0.9, 0.95], "glue": [0.5, -3.0]}) + _rows({"crank": [0.9, 0.8]}, "arm")
    for picture in (dots(rows), curves(rows)):
        texts = [t.text for t in xml.etree.ElementTree.fromstring(picture).iter("{http://www.w3.org/2000/svg}text")]
        assert {"crank", "glue", "puck", "arm"} <= set(texts)
