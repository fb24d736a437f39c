"""What an outer loop asks of policies after their inner steps: more of what paid there, or what one does who is told the world.

The first is the way of Finn et al. 2017, the second that of guided meta-policy search (Mendonca et al. 2019): a policy that is
told the params of each world says what should have been done in the episodes after the step. Its answer does not hang on chance,
and what suits most worlds is wrong in the others however it is varied, so that nothing settles there.
"""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from gapless.core import Params
from gapless.nets.policy import NetworkPolicy
from gapless.nets.teachable import ByGradient

from ..judged import answers
from ..ppo import clipped
from .gains import gains
from .inner import Lived, likelihood, taught
from .trials import Rows

Trained = tuple[eqx.nn.MLP, ByGradient, Float[Array, " command"]]
"""Network, manner, and the logarithm of the exploration after the inner step."""
Lesson = Callable[[Trained], Float[Array, ""]]
"""A loss of what is trained, on one batch."""


def by_rewards(trained: Trained, pasts: Lived, futures: Rows, discount: float, clip: float) -> Lesson:
    """Make likelier what paid after the step, within clipped ratios to the policy that did it."""
    gain = jax.vmap(lambda rows: gains(rows, discount))(futures)
    before = _likelihoods(trained, pasts, futures, discount)
    return lambda now: clipped(_likelihoods(now, pasts, futures, discount), before, gain, clip)[0]


def by_guide(labels: Float[Array, "task episode step command"], pasts: Lived, futures: Rows, discount: float) -> Lesson:
    """Come near to the guide's commands wherever the step has led; all worlds count alike, however short their episodes."""

    def missed(network: eqx.nn.MLP, manner: ByGradient, past: Lived, rows: Rows, label: Array) -> Float[Array, ""]:
        answer = jnp.tanh(answers(taught(network, manner, past, discount), rows.seen))
        off = ((answer - label) ** 2).mean(-1) * rows.alive
        return off.sum() / jnp.maximum(rows.alive.sum(), 1)

    def lesson(now: Trained) -> Float[Array, ""]:
        network, manner = now[0], eqx.tree_at(lambda m: m.log_noise, now[1], jax.lax.stop_gradient(now[1].log_noise))
        return jax.vmap(lambda past, rows, label: missed(network, manner, past, rows, label))(
            pasts, futures, labels
        ).mean()

    return lesson


def guided(guide: NetworkPolicy, params: Params, seen: Float[Array, "task episode step seen"]) -> Array:
    """What the guide would do, told each task's params: commands with each limit at ±1, as (task, episode, step, command)."""

    def one(told: Params, observation: Float[Array, " seen"]) -> Float[Array, " command"]:
        return guide.think({}, guide.with_told(observation, told))[1]

    steps = jax.vmap(one, in_axes=(None, 0))
    return jax.vmap(jax.vmap(steps, in_axes=(None, 0)))(params, seen)


def _likelihoods(trained: Trained, pasts: Lived, futures: Rows, discount: float) -> Float[Array, "task episode step"]:
    """How likely the later commands are after inner steps on the earlier episodes."""
    network, manner, log_noise = trained
    return jax.vmap(lambda past, rows: likelihood(taught(network, manner, past, discount), log_noise, rows))(
        pasts, futures
    )
