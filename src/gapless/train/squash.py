"""Feed-forward policies before and after their answers are squashed into ±1, for methods that learn through that."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from gapless.core import GaplessError
from gapless.nets.policy import NetworkPolicy, shape_of
from gapless.nets.recall import advance
from gapless.nets.seeing import SeeingPolicy


def is_feed_forward(policy: SeeingPolicy) -> bool:
    """Whether a policy neither remembers nor is told more than a robot measures, and answers with one command."""
    return isinstance(policy, NetworkPolicy) and shape_of(policy).kind == "mlp" and not policy.told


def require_feed_forward(policy: NetworkPolicy, word: str) -> None:
    """Raise where a policy remembers, or is told more than a robot measures."""
    if not is_feed_forward(policy):
        raise GaplessError(
            f"this policy for {policy.interface.robot!r} has a memory or is told params, and {word} goes on only from "
            "feed-forward ones that see measurements. Train it with ppo, or begin anew."
        )


def before_tanh(policy: NetworkPolicy, seen: Float[Array, "row seen"]) -> Float[Array, "row command"]:
    """What its network answers."""
    return jax.vmap(lambda x: advance(policy.network, (), x)[1])(policy.normal(seen))


def squashed(
    centre: Float[Array, "*row command"], log_width: Float[Array, "*row command"], noise: Float[Array, "*row command"]
) -> tuple[Float[Array, "*row command"], Float[Array, "*row"]]:
    """The tanh of a Gaussian's draw, and its log likelihood with tanh's own stretching counted in."""
    raw = centre + jnp.exp(log_width) * noise
    gaussian = -0.5 * noise**2 - log_width - 0.5 * jnp.log(2 * jnp.pi)
    stretched = 2 * (jnp.log(2.0) - raw - jax.nn.softplus(-2 * raw))  # log(1 − tanh²), also where tanh is nearly 1
    return jnp.tanh(raw), (gaussian - stretched).sum(-1)
