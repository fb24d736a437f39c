"""The fair split, worked out by hand, and what it takes to tell causes apart."""

import numpy as np
import pytest

from gapless.learn.separable import classes
from gapless.learn.shapley import coalitions, shapley


def test_two_players_share_what_they_make_together() -> None:
    # Alone they make 1 and 2, together 5: the extra 2 is shared.
    assert shapley(np.array([0.0, 1.0, 2.0, 5.0])) == pytest.approx([2.0, 3.0])


def test_parts_add_up_and_a_player_who_adds_nothing_gets_nothing() -> None:
    values = np.random.default_rng(0).normal(size=(8, 3))
    with_idler = np.concatenate([values, values])
    parts = shapley(with_idler)
    assert parts.sum(axis=0) == pytest.approx(values[-1] - values[0])
    assert parts[-1] == pytest.approx(np.zeros(3))


def test_nobody_shares_nothing() -> None:
    assert shapley(np.zeros((1, 4))).shape == (0, 4)
    assert coalitions(2).tolist() == [[False, False], [True, False], [False, True], [True, True]]


def test_families_whose_effects_cancel_are_one_class() -> None:
    families = ("inertia", "actuation", "friction")
    alike = 1e4 * np.outer([1, -1, 0], [1, -1, 0]) + np.diag([0.0, 0.0, 1e4])
    assert classes(families, alike) == (("inertia", "actuation"), ("friction",))
    assert classes(families, 1e4 * np.eye(3)) == (("inertia",), ("actuation",), ("friction",))


def test_families_of_which_logs_say_nothing_stay_apart() -> None:
    assert classes(("inertia", "actuation"), np.zeros((2, 2))) == (("inertia",), ("actuation",))
