"""A residual under examination: it notes what it saw and said, and adds knots by which a fit can pull at it."""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from gapless.core import Block, Parameter, Params, Signals

from .residual import Residual


class Probe(Block):
    """Its memory ends with what each correction saw and said in every period of a window, which begins after a run-up."""

    inner: Residual
    periods: int = eqx.field(static=True)
    """Periods of a window; later ones are not noted."""
    stretch: int = eqx.field(static=True)
    """Periods that share a knot."""

    @property
    def per_correction(self) -> int:
        return -(-self.periods // self.stretch)

    @property
    def recalls(self) -> int:
        return self.inner.recalls

    @property
    def knots(self) -> tuple[str, ...]:
        """Names of what is added to a correction in each stretch of a window, correction after correction."""
        return tuple(f"{c.name}.knot{k}" for c in self.inner.corrections for k in range(self.per_correction))

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        pulls = tuple(Parameter(name, "", 0.0, -1e9, 1e9, "actuation", free=False) for name in self.knots)
        return self.inner.parameters + pulls

    def init(self, key: PRNGKeyArray) -> Any:
        saw = {c.name: jnp.zeros((self.periods, c.sight.width)) for c in self.inner.corrections}
        said = {name: jnp.zeros(self.periods) for name in saw}
        return {"inner": self.inner.init(key), "period": jnp.array(-self.recalls), "saw": saw, "said": said}

    def step(self, params: Params, memory: Any, inputs: Signals, dt_s: float, key: PRNGKeyArray) -> tuple[Any, Signals]:
        k = jnp.where(memory["period"] < 0, self.periods, memory["period"])  # what came before the window is not noted
        inner, seen = self.inner.see(memory["inner"], inputs, dt_s)
        out = self.inner.say(params, seen)
        saw = {name: memory["saw"][name].at[k].set(seen[name], mode="drop") for name in out}
        said = {name: memory["said"][name].at[k].set(out[name][0], mode="drop") for name in out}
        pulls = jnp.stack([params[name] for name in self.knots]).reshape(-1, self.per_correction)
        at = jnp.minimum(k // self.stretch, self.per_correction - 1)
        out = {name: value + pulls[i, at] for i, (name, value) in enumerate(out.items())}
        return {"inner": inner, "period": memory["period"] + 1, "saw": saw, "said": said}, out
