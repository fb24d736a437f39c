"""The words by which ways of adapting are asked for."""

from gapless.core import GaplessError

from .adaptation import Adapter
from .simopt import SimOpt
from .strategy import StrategyBo, StrategyCma
from .within import WithinDistil, WithinMemory, WithinOsi, WithinRma

ADAPTERS: dict[str, type[Adapter]] = {
    way.word: way for way in (SimOpt, WithinOsi, WithinRma, WithinDistil, WithinMemory, StrategyCma, StrategyBo)
}


def adapter_of(word: str) -> Adapter:
    """The way of adapting with this name, with its usual settings."""
    if word not in ADAPTERS:
        raise GaplessError(
            f"there is no way of adapting {word!r} (there are: {', '.join(ADAPTERS)}). Choose one of them."
        )
    return ADAPTERS[word]()
