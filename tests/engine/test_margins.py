"""How far ends of episodes are drawn in: by what held-out logs say that predictions miss, and no further than makes sense."""

import pytest

from gapless.engine import Recipe, Stages, Workspace
from gapless.engine.margins import MOST, margins, margins_of


def test_margins_are_five_deviations_of_the_error_half_a_second_ahead_by_hand() -> None:
    gap = {
        "horizons_s": [0.02, 0.1, 0.5, 2.0],
        "after": {"cart": [0.0, 0.0, 0.03, 0.9], "pole": [0.1, 0.2, 0.5, 0.6]},
        "spread": {"cart": 0.2, "pole": 2.0},
    }
    # cart: 5 · 0.03 / 0.6745 · 0.2 = 0.0445; the pole's would be 7.4 rad, and is a quarter of its deviation.
    assert margins_of(gap) == {"cart": pytest.approx(0.04), "pole": pytest.approx(MOST * 2.0)}


def test_logs_too_short_for_half_a_second_are_asked_as_far_ahead_as_they_go() -> None:
    gap = {"horizons_s": [0.02, 0.1], "after": {"cart": [0.01, 0.02]}, "spread": {"cart": 1.0}}
    assert margins_of(gap)["cart"] == pytest.approx(0.1)


def test_where_nothing_was_learned_nothing_is_drawn_in(workspace: Workspace) -> None:
    assert margins(Stages(workspace, Recipe(), 0), None) == {}
