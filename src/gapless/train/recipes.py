"""The words by which ways of training are asked for."""

from gapless.core import GaplessError

from .distil import Distil
from .fast_sac import FastSac
from .fast_td3 import FastTd3
from .fpo import Fpo, FpoPlusPlus
from .learning import Method
from .osi import UpOsi
from .ppo import Ppo
from .rma import Rma
from .sapg import Sapg
from .short_horizon import ShortHorizon

RECIPES: dict[str, type[Method]] = {
    method.word: method for method in (Ppo, Sapg, FastTd3, FastSac, Fpo, FpoPlusPlus, ShortHorizon, Distil, Rma, UpOsi)
}


def method_of(word: str) -> Method:
    """The method of this name, with its usual settings."""
    if word not in RECIPES:
        raise GaplessError(f"there is no recipe {word!r} (there are: {', '.join(RECIPES)}). Choose one of them.")
    return RECIPES[word]()
