"""A sensor between the truth and what is read: gain, bias, filter, delay, noise and quantization, each a named parameter."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from gapless.core import Block, Interface, Parameter, Params, Signals

QUANTITIES = {
    "gain": (1.0, 0.5, 2.0),
    "bias": (0.0, -1.0, 1.0),
    "filter": (0.0, 0.0, 0.1),
    "delay": (0.0, 0.0, 0.1),
    "scatter": (0.0, 0.0, 1.0),
    "quantum": (0.0, 0.0, 1.0),
}
"""What a sensor may do → nominal value and plausible range.

`gain` and `bias` in the channel's unit; `filter` and `delay` in seconds; `scatter` is the deviation of white noise that is
added before `quantum`, the smallest difference that is told apart.
"""


class Sensor(Block):
    """Every measured channel as its sensor reads it, in this order: gain and bias, filter, delay, noise, quantization.

    Where a parameter is not given, the sensor does nothing of its kind.
    """

    widths: tuple[tuple[str, int], ...] = eqx.field(static=True)
    """Channels and how many numbers they have."""
    period_s: float = eqx.field(static=True)
    longest_s: float = eqx.field(static=True)
    """Longest delay that is remembered."""

    @property
    def remembered(self) -> int:
        return int(-(-self.longest_s // self.period_s)) + 2

    def init(self, key: PRNGKeyArray) -> Any:
        slow = {name: jnp.zeros(width) for name, width in self.widths}
        past = {name: jnp.zeros((self.remembered, width)) for name, width in self.widths}
        return {"slow": slow, "past": past, "begun": jnp.zeros((), bool)}

    def step(self, params: Params, memory: Any, inputs: Signals, dt_s: float, key: PRNGKeyArray) -> tuple[Any, Signals]:
        slow, past, read = {}, {}, {}
        for k, (name, _) in enumerate(self.widths):
            value = _of(params, name, "gain") * inputs[name] + _of(params, name, "bias")
            keep = _kept(_of(params, name, "filter"), dt_s)
            slow[name] = jnp.where(memory["begun"], keep * memory["slow"][name] + (1 - keep) * value, value)
            before = jnp.where(memory["begun"], memory["past"][name], slow[name])
            past[name] = jnp.concatenate([slow[name][None], before[:-1]])
            late = _delayed(past[name], _of(params, name, "delay") / dt_s)
            noise = jax.random.normal(jax.random.fold_in(key, k), late.shape)
            read[name] = _quantized(late + _of(params, name, "scatter") * noise, _of(params, name, "quantum"))
        return {"slow": slow, "past": past, "begun": jnp.ones((), bool)}, read


def new_sensor(interface: Interface, longest_s: float = QUANTITIES["delay"][2]) -> Sensor:
    """Sensors for every measured channel of a machine."""
    return Sensor(tuple(interface.measurement_widths.items()), interface.period_s, longest_s)


def sensor_parameters(
    channel: str, unit: str, quantities: tuple[str, ...] = tuple(QUANTITIES)
) -> tuple[Parameter, ...]:
    """What may be in doubt about one channel's sensor."""
    units = {"gain": "", "filter": "s", "delay": "s"}
    return tuple(
        Parameter(f"{channel}.{q}", units.get(q, unit), *QUANTITIES[q], "sensing", free=q not in ("scatter", "quantum"))
        for q in quantities
    )


def _of(params: Params, channel: str, quantity: str) -> Any:
    return params.get(f"{channel}.{quantity}", QUANTITIES[quantity][0])


def _kept(filter_s: Any, dt_s: Any) -> Float[Array, ""]:
    """The share of the old value that a first-order filter keeps over one step."""
    return jnp.where(filter_s > 0, jnp.exp(-dt_s / jnp.maximum(filter_s, 1e-9)), 0.0)


def _delayed(past: Float[Array, "past width"], steps: Any) -> Float[Array, " width"]:
    """The value so many steps ago, between samples by a straight line."""
    steps = jnp.clip(steps, 0, len(past) - 1)
    low = jnp.minimum(steps.astype(int) if hasattr(steps, "astype") else int(steps), len(past) - 2)
    share = steps - low
    return past[low] * (1 - share) + past[low + 1] * share


def _quantized(value: Float[Array, " width"], step: Any) -> Float[Array, " width"]:
    return jnp.where(step > 0, jnp.round(value / jnp.maximum(step, 1e-12)) * step, value)
