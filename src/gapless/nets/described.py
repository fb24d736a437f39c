"""A network on disk as two files: its arrays, and a description that says what they are and vouches for them."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from gapless.core import GaplessError
from gapless.core.reading import LARGEST_JSON, plain_object, read_limited

from .weights import most_bytes, weights_bytes, weights_from_bytes, write_whole

Module = TypeVar("Module")


@dataclass(frozen=True)
class Described:
    """`<name>.safetensors` and `<name>.json` of one kind of network."""

    name: str
    format: int
    again: str
    """What to do where a file is damaged."""

    def weights(self, folder: Path) -> Path:
        return folder / f"{self.name}.safetensors"

    def description(self, folder: Path) -> Path:
        return folder / f"{self.name}.json"

    def save(self, folder: Path, module: Any, description: dict[str, Any]) -> None:
        """Write both; the same network gives the same bytes."""
        weights = weights_bytes(module)
        whole = {"format": self.format, **description, "weights_sha256": hashlib.sha256(weights).hexdigest()}
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(self.weights(folder), weights)
        # The description comes last: with its hash it vouches for the weights beside it.
        write_whole(self.description(folder), (json.dumps(whole, indent=1, ensure_ascii=False) + "\n").encode())

    def load(self, folder: Path, like: Callable[[dict[str, Any]], Module]) -> Module:
        """What `save` wrote, exact to the last bit; `like` makes the shapes that a description speaks of."""
        path = self.description(folder)
        text = read_limited(path, LARGEST_JSON)
        try:
            description = plain_object(text)
            if description["format"] != self.format:
                raise ValueError(f"format {description['format']!r:.20}, and {self.format} is what is read")
            untrained, expected = like(description), str(description["weights_sha256"])
        except (GaplessError, ValueError, TypeError, KeyError, AttributeError, ArithmeticError) as error:
            article = "an" if self.name[0] in "aeiou" else "a"
            raise GaplessError(
                f"{path} is not the description of {article} {self.name} ({type(error).__name__}: {str(error)[:200]}). "
                f"{self.again}."
            ) from None
        weights = read_limited(self.weights(folder), most_bytes(untrained))
        if hashlib.sha256(weights).hexdigest() != expected:
            raise GaplessError(
                f"{self.weights(folder)} is damaged or belongs to another {path.name}: its hash is not the one "
                f"written there. {self.again}."
            )
        return weights_from_bytes(weights, untrained, str(self.weights(folder)))
