"""The network that has practised on synthetic throws, as it comes with the package."""

from pathlib import Path
from typing import Any

import equinox as eqx
import jax

from gapless.nets.described import Described

from .bent_law import BentLaw

FILES = Described("bent_law", 1, "Practise again")
SHIPPED = Path(__file__).parent / "weights"


def save_law(folder: Path, law: BentLaw, said: dict[str, Any]) -> None:
    """Write bent_law.safetensors and bent_law.json, with what is `said` about how it came to be."""
    FILES.save(folder, law, {"said": said})


def practised(folder: Path = SHIPPED) -> BentLaw:
    """The network that `save_law` wrote; without a folder, that of the package."""
    return FILES.load(folder, lambda said: eqx.filter_eval_shape(BentLaw, jax.random.key(0)))
