"""The inner loop by gradients: what a few episodes change in a policy, as a function that can itself be differentiated.

Follows Finn et al. 2017 (MAML) and Yang et al. 2019 (NoRML: a learned advantage of (s, a, s') in place of rewards, and a learned
offset). Departures: s' is what was seen some periods later; the objective is the likelihood ratio, whose second derivative is
right as well (Foerster et al. 2018, Rothfuss et al. 2019); and each weight has a learned rate (Li et al. 2017).
"""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from gapless.nets.teachable import ByGradient, moved

from ..judged import answers
from ..ppo import log_likelihood
from .gains import gains
from .trials import Rows

AHEAD = 5
"""Periods after an action until which a judge sees what changed: commands come late, and after one nothing may have moved yet."""
CHANGE = 4.0
"""What a judge's sight of changes is multiplied with: they are small beside what is seen."""


class Lived(NamedTuple):
    """Episodes of one world, with the observations in deviations."""

    rows: Rows
    likelihood: Float[Array, "episode step"]
    """Of the commands under the policy that chose them."""


def lived(network: eqx.nn.MLP, log_noise: Float[Array, " command"], rows: Rows) -> Lived:
    """Episodes of a policy that explores so."""
    return Lived(rows, jax.lax.stop_gradient(likelihood(network, log_noise, rows)))


def likelihood(network: eqx.nn.MLP, log_noise: Float[Array, " command"], rows: Rows) -> Float[Array, "*episode step"]:
    """The logarithm of how likely commands are, up to a constant."""
    return log_likelihood(rows.unit, jnp.tanh(answers(network, rows.seen)), log_noise)


def worth(manner: ByGradient, rows: Rows, discount: float) -> Float[Array, "episode step"]:
    """What each action was worth: by its judge, who never sees a reward, or by rewards where there is none."""
    if manner.judge is None:
        return gains(rows, discount)
    told = jnp.concatenate([rows.seen, rows.unit, CHANGE * (later(rows) - rows.seen)], axis=-1)
    return answers(manner.judge, told)[..., 0] * rows.alive


def later(rows: Rows) -> Float[Array, "episode step seen"]:
    """What was seen some periods after each action, or last before it was over."""
    steps = rows.alive.shape[-1]
    last = jnp.maximum(rows.alive.sum(-1, keepdims=True) - 1, 0)
    at = jnp.minimum(jnp.arange(steps) + AHEAD - 1, last)
    return jnp.take_along_axis(rows.seen_next, at[..., None], axis=-2)


def objective(network: eqx.nn.MLP, manner: ByGradient, past: Lived, gain: Float[Array, "episode step"]) -> Any:
    """How much more likely the network makes what was worth it."""
    ratio = jnp.exp(likelihood(network, manner.log_noise, past.rows) - past.likelihood)
    return (ratio * gain * past.rows.alive).sum() / jnp.maximum(past.rows.alive.sum(), 1)


def taught(network: eqx.nn.MLP, manner: ByGradient, past: Lived, discount: float) -> eqx.nn.MLP:
    """The network one gradient step later; with a judge, the offset is added to it."""
    gain = worth(manner, past.rows, discount)
    uphill = eqx.filter_grad(objective)(network, manner, past, gain)
    change = jax.tree.map(lambda rate, g: jnp.exp(rate) * g, manner.log_rates, uphill)
    return moved(network, change if manner.judge is None else jax.tree.map(jnp.add, change, manner.offset))
