"""The words by which ways of adapting are asked for."""

from collections.abc import Mapping

from gapless.core import GaplessError

from .adaptation import Adapter
from .by_gradient import Maml, Norml
from .es_maml import EsMaml
from .simopt import SimOpt
from .strategy import StrategyBo, StrategyCma
from .within import WithinDistil, WithinMemory, WithinOsi, WithinRma

WITHIN = (WithinOsi, WithinRma, WithinDistil, WithinMemory)
ADAPTERS: dict[str, type[Adapter]] = {
    way.word: way for way in (SimOpt, *WITHIN, StrategyCma, StrategyBo, Maml, Norml, EsMaml)
}


def adapter_of(word: str, among: Mapping[str, type[Adapter]] = ADAPTERS) -> Adapter:
    """The way of adapting with this name, with its usual settings."""
    if word not in among:
        raise GaplessError(f"there is no way of adapting {word!r} (there are: {', '.join(among)}). Choose one of them.")
    return among[word]()
