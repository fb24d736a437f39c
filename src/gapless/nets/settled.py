"""A policy that is told params, made into one that has been told them once and for all, or that guesses them."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from gapless.core import GaplessError, Params

from .latent import Adapting, Encoded
from .policy import NetworkPolicy, Shape, new_policy


def settled(policy: NetworkPolicy, params: Params) -> NetworkPolicy:
    """The same policy told these params for good: an ordinary one, which sees measurements alone."""
    seen = len(policy.shift) - len(policy.told)
    told = policy.normal(policy.with_told(jnp.zeros(seen), params))[seen:]
    match policy.network:
        case Encoded():
            trunk, given = policy.network.trunk, policy.network.latent(told)
        case eqx.nn.MLP():
            trunk, given = policy.network, told
        case _:
            raise GaplessError("a policy with memory finds out for itself what others are told. Take one without.")
    shape = Shape((trunk.width_size, trunk.depth))
    plain = new_policy(policy.interface, policy.observe, shape, jax.random.key(0))
    weight, bias = _places(trunk)[:2]
    arrays = _arrays(trunk, weight[:, :seen], bias + weight[:, seen:] @ given)
    plain = eqx.tree_at(lambda p: _places(p.network), plain, arrays)
    return plain.with_eyes(policy.shift[:seen], policy.scale[:seen])


def guessing(
    untaught: NetworkPolicy, policy: NetworkPolicy, middle: Float[Array, " told"], half: Float[Array, " told"]
) -> NetworkPolicy:
    """An adapting policy that does what `policy` would if it were told `middle` + `half` × the guessed latent."""
    if not isinstance(policy.network, eqx.nn.MLP) or not isinstance(untaught.network, Adapting):
        raise GaplessError("only a feed-forward policy can be told what another one guesses. Train it with 'mlp'.")
    seen = len(untaught.shift)
    shift, scale, (weight, bias) = policy.shift[seen:], policy.scale[seen:], _places(policy.network)[:2]
    first = jnp.concatenate([weight[:, :seen], weight[:, seen:] * (half * scale)], axis=1)
    bias = bias + weight[:, seen:] @ ((middle - shift) * scale)
    taught = eqx.tree_at(lambda p: _places(p.network.trunk), untaught, _arrays(policy.network, first, bias))
    return taught.with_eyes(policy.shift[:seen], policy.scale[:seen])


def _places(network: eqx.nn.MLP) -> list[Any]:
    """Weight and bias of every layer, in turn."""
    return [array for layer in network.layers for array in (layer.weight, layer.bias)]


def _arrays(network: eqx.nn.MLP, weight: Float[Array, "out in"], bias: Float[Array, " out"]) -> list[Array]:
    """The network's arrays with another first layer."""
    return [weight, bias, *_places(network)[2:]]
