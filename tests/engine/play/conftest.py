"""Games with two members that know the law."""

from collections.abc import Callable

import pytest

from gapless.engine.play import Session
from gapless.engine.play.session import Session as _Session


@pytest.fixture(scope="session")
def game(make_members: Callable) -> Session:
    """One for all tests, as it is compiled once; `playing` begins it anew."""
    return _Session(make_members(2), bodies=3)


@pytest.fixture
def playing(game: Session) -> Session:
    game.reset("fall")
    return game
