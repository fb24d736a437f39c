"""How a crank trains after the last one."""

import pytest

from gapless.core import GaplessError
from gapless.engine import Recipe


def test_the_first_policy_is_trained_from_scratch() -> None:
    assert Recipe().ways(None) == [(Recipe().train, False)]


def test_a_finished_policy_is_improved_and_challenged() -> None:
    assert Recipe().ways(1.0) == [(Recipe().again, True), (Recipe().train, False)]


def test_an_unfinished_policy_goes_on_with_the_budget_of_both() -> None:
    r = Recipe()
    ((train, goes_on),) = r.ways(0.1)
    assert goes_on
    assert train.method.budget == r.train.method.budget + r.again.method.budget


def test_without_challengers_a_policy_always_goes_on() -> None:
    r = Recipe(afresh=False)
    assert r.ways(0.0) == r.ways(1.0) == [(r.again, True)]


def test_a_way_to_adapt_that_nobody_knows_is_refused_at_once() -> None:
    with pytest.raises(GaplessError, match="no way of adapting 'prayer'"):
        Recipe(adapt="prayer")


def test_everything_has_to_be_worth_something() -> None:
    with pytest.raises(GaplessError, match="worth is 0; it must be above 0"):
        Recipe(worth=0.0)
