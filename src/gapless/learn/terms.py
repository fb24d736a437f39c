"""The ways in which a correction may depend on what it sees, each small enough for few logs to tell whether it is there."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from gapless.simulators.parts import Sight


class Layer(NamedTuple):
    """Hidden units: what each looks at, its phase, whether it is a wave, and how loud it is beforehand."""

    weights: Float[np.ndarray, "unit number"]
    phases: Float[np.ndarray, " unit"]
    waves: Bool[np.ndarray, " unit"]
    loudness: Float[np.ndarray, " unit"]
    """Deviation of each unit's weight, so that a term whose weights are drawn so has the deviation one."""


@dataclass(frozen=True)
class Term:
    """A sum of what is seen, or, where there are waves, a smooth function of it: a Gaussian process, nearly."""

    name: str
    over: tuple[tuple[str, float], ...]
    """Kinds of numbers, and how far each must go, in deviations of the data, for the function to become another."""
    waves: int = 0
    """How many; without any, the numbers themselves are added up, and lengths do not matter."""
    apart: bool = False
    """Whether it is a sum of functions of one number each."""

    def speaks_of(self, sight: Sight) -> bool:
        """Whether there is anything of what it is about."""
        return sight.widths[self.over[0][0]] > 0

    def layer(self, sight: Sight, rng: np.random.Generator) -> Layer:
        """Its units over what is seen; waves are drawn at random."""
        columns = np.array([c for kind, _ in self.over for c in sight.columns(kind)], int)
        lengths = np.array([length for kind, length in self.over for _ in sight.columns(kind)])
        # Numbers are seen as departures from their means: a sum of them needs one that stands for these.
        units = self.waves or len(columns) + 1
        weights = np.zeros((units, sight.width))
        if not self.waves:
            weights[np.arange(units - 1), columns] = 1.0
            phases = np.append(np.zeros(units - 1), 1.0)
            return Layer(weights, phases, np.zeros(units, bool), np.full(units, np.sqrt(1 / units)))
        drawn = rng.standard_normal((units, len(columns))) / lengths
        if self.apart:
            drawn *= np.arange(units)[:, None] % len(columns) == np.arange(len(columns))
        weights[:, columns] = drawn
        phases = rng.uniform(0, 2 * np.pi, units)
        return Layer(weights, phases, np.ones(units, bool), np.full(units, np.sqrt(2 / units)))


TERMS = (
    Term("speed", (("pace", 1.0), ("velocity", 1.0))),
    Term("place", (("place", 0.25),), waves=32),
    Term("friction along the way", (("place", 0.5), ("direction", 1.0)), waves=32),
    Term("size of the command", (("command", 0.7),), waves=16),
    Term("earlier commands", (("lags", 1.0), ("command", 1.0))),
    Term("sizes of earlier commands", (("lags", 0.7),), waves=33, apart=True),
    Term("what is dragged along", (("wound", 1.0),)),
    Term("what lasts of commands", (("lasting", 1.0), ("command", 1.0))),
    Term(
        "all together", (("place", 5.0), ("velocity", 5.0), ("command", 5.0), ("lately", 5.0), ("lags", 5.0)), waves=64
    ),
)
"""What is tried; which of them there are, windows that a fit has not seen decide."""
