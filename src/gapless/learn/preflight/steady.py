"""Whether a number that is beyond its threshold is there in all parts of the logs: a wrong convention is the same throughout.

What a model lacks can look like one, a motor that sticks like a weak one, but another motion then asks for another number.
"""

import numpy as np

from gapless.core import Simulator

from .doubts import Family, beyond
from .trial import Bench, Fitted

PARTS = 3
"""Parts of the windows, fitted one by one."""


def steady(simulator: Simulator, bench: Bench, family: Family, number: str, iterations: int) -> bool:
    """Whether the number is beyond its threshold by more than the standard error among parts of the windows; of fewer
    windows than parts nothing is asked."""
    if bench.fitted is None or len(bench.fitted) < PARTS:
        return True
    parts = [bench.part(k, PARTS) for k in range(PARTS)]
    fits = [part.fit(family.simulator, family.doubt, family.starts[0], iterations) for part in parts]
    return any(h.number == number for h in beyond(simulator, cautious(fits, family)))


def cautious(fits: list[Fitted], family: Family) -> Fitted:
    """The mean of several fits, taken back by its standard error towards what is right."""
    values = np.stack([f.params for f in fits])
    middle, error = values.mean(axis=0), values.std(axis=0, ddof=1) / np.sqrt(len(fits))
    return Fitted(fits[0].names, middle + np.clip(family.doubt.bounds.centre - middle, -error, error), {})
