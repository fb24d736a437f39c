"""The words by which ways of adapting are asked for."""

from gapless.core import GaplessError

from .adaptation import Adapter
from .by_gradient import Maml, Norml
from .es_maml import EsMaml

ADAPTERS: dict[str, type[Adapter]] = {method.word: method for method in (Maml, Norml, EsMaml)}


def adapter_of(word: str) -> Adapter:
    """The way of adapting with this name, with its usual settings."""
    if word not in ADAPTERS:
        raise GaplessError(
            f"there is no way of adapting {word!r} (there are: {', '.join(ADAPTERS)}). Choose one of them."
        )
    return ADAPTERS[word]()
