"""How a crank trains after the last one."""

import pytest

from gapless.core import GaplessError
from gapless.engine import Recipe


def test_the_first_policy_has_two_beginnings() -> None:
    assert Recipe().ways(further=False) == [(Recipe().train, False)] * 2
    assert Recipe(beginnings=1).ways(further=False) == [(Recipe().train, False)]


def test_a_policy_is_improved_and_challenged() -> None:
    assert Recipe().ways(further=True) == [(Recipe().again, True), (Recipe().train, False)]


def test_without_challengers_a_policy_always_goes_on() -> None:
    assert Recipe(afresh=False).ways(further=True) == [(Recipe().again, True)]


def test_a_policy_has_to_begin_somewhere() -> None:
    with pytest.raises(GaplessError, match="at least one deployment, excitation, beginning"):
        Recipe(beginnings=0)


def test_a_way_to_adapt_that_nobody_knows_is_refused_at_once() -> None:
    with pytest.raises(GaplessError, match="no way of adapting 'prayer'"):
        Recipe(adapt="prayer")


def test_everything_has_to_be_worth_something() -> None:
    with pytest.raises(GaplessError, match="worth is 0; it must be above 0"):
        Recipe(worth=0.0)
