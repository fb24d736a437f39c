"""Prompters on disk, and the one that comes with the package."""

from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from gapless.nets.described import Described
from gapless.simulators.planar.matter import WIDTH

from .encoder import Encoder
from .prompt import Honest, Prompter

FILES = Described("prompter", 1, "Teach it again")
SHIPPED = Path(__file__).parent / "weights"


def untaught(key: Any) -> Prompter:
    """A prompter that trusts itself."""
    return Prompter(Encoder(key), Honest(jnp.ones(WIDTH), jnp.ones(WIDTH)))


def save_prompter(folder: Path, prompter: Prompter, said: dict[str, Any] | None = None) -> None:
    """Write prompter.safetensors and prompter.json, with whatever is `said` about how it came to be."""
    FILES.save(folder, prompter, {"said": said or {}})


def load_prompter(folder: Path = SHIPPED) -> Prompter:
    """What `save_prompter` wrote; without a folder, the prompter of the package."""
    return FILES.load(folder, lambda _: eqx.filter_eval_shape(untaught, jax.random.key(0)))
