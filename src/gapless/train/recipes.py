"""The words by which ways of training are asked for."""

from gapless.core import GaplessError

from .learning import Method
from .ppo import Ppo

RECIPES: dict[str, type[Method]] = {method.word: method for method in (Ppo,)}


def method_of(word: str) -> Method:
    """The method of this name, with its usual settings."""
    if word not in RECIPES:
        raise GaplessError(f"there is no recipe {word!r} (there are: {', '.join(RECIPES)}). Choose one of them.")
    return RECIPES[word]()
