"""How readings differ from the truth: each channel may be late, scaled and biased, in every world by another amount."""

import numpy as np
from jaxtyping import Float, PRNGKeyArray

from gapless.core import Interface, Parameter, generator_from

QUANTITIES = ("bias", "scale", "latency")
NEUTRAL = {"bias": 0.0, "scale": 1.0, "latency": 0.0}
EVERY = "measurement.latency"
"""The delay that all channels share."""


class Sensing:
    """The parameters `<channel>.bias`, `<channel>.scale` and `<channel>.latency`, column by column of the sensors."""

    def __init__(self, interface: Interface, parameters: tuple[Parameter, ...]) -> None:
        known = {p.name: p for p in parameters}
        self._columns = [c.name for c in interface.measurements for _ in range(c.width)]
        self._named = {
            quantity: [(k, name) for k, c in enumerate(self._columns) if (name := f"{c}.{quantity}") in known]
            for quantity in QUANTITIES
        }
        self._every = EVERY in known
        own = [known[name].high for _, name in self._named["latency"]]
        self.longest_s = max(own, default=0.0) + (known[EVERY].high if EVERY in known else 0.0)

    def delays(self) -> set[str]:
        """The parameters that make readings late."""
        return {name for _, name in self._named["latency"]} | ({EVERY} if self._every else set())

    def names(self) -> set[str]:
        """The parameters that act on readings and not on the physics."""
        return {name for columns in self._named.values() for _, name in columns}

    def late_s(self, params: dict[str, np.ndarray], worlds: int) -> Float[np.ndarray, "world column"]:
        """How old each reading is."""
        late = self._values("latency", params, worlds)
        return late + params[EVERY][:, None] if EVERY in params else late

    def read(self, params: dict[str, np.ndarray], true: Float[np.ndarray, "..."]) -> np.ndarray:
        """What the sensors make of true values, by world first and column last."""
        if not self._named["scale"] and not self._named["bias"]:
            return true
        shape = (len(true), *[1] * (true.ndim - 2), len(self._columns))
        scale, bias = (self._values(q, params, len(true)).reshape(shape) for q in ("scale", "bias"))
        return scale * true + bias

    def _values(self, quantity: str, params: dict[str, np.ndarray], worlds: int) -> Float[np.ndarray, "world column"]:
        found = np.full((worlds, len(self._columns)), NEUTRAL[quantity])
        for column, name in self._named[quantity]:
            found[:, column] = params[name]
        return found


class Noise:
    """The parameters `<channel>.noise`: white, and drawn anew for every reading."""

    def __init__(self, interface: Interface, parameters: tuple[Parameter, ...]) -> None:
        known = {p.name for p in parameters}
        columns = [c.name for c in interface.measurements for _ in range(c.width)]
        self._named = [(k, name) for k, c in enumerate(columns) if (name := f"{c}.noise") in known]

    def add(self, params: dict[str, np.ndarray], values: Float[np.ndarray, "world column"], key: PRNGKeyArray) -> None:
        """Makes readings noisy, in place."""
        if not any(params[name].any() for _, name in self._named):
            return
        draws = generator_from(key).standard_normal((len(values), len(self._named)))
        for k, (column, name) in enumerate(self._named):
            values[:, column] += draws[:, k] * params[name]


def sensing_parameters(interface: Interface) -> tuple[Parameter, ...]:
    """What each sensor may do to the truth, held at nothing unless somebody frees it."""
    found = []
    for c in interface.measurements:
        size = 0.1 if c.unit in ("rad", "m") else 1.0
        found += [
            Parameter(f"{c.name}.bias", c.unit, 0.0, -size, size, "sensing", free=False),
            Parameter(f"{c.name}.scale", "", 1.0, 0.8, 1.25, "sensing", free=False),
            Parameter(f"{c.name}.latency", "s", 0.0, 0.0, 0.04, "sensing", free=False),
        ]
    return tuple(found)
