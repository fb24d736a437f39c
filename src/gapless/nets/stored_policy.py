"""A network policy on disk: its weights, and beside them what it measures, commands and sees."""

from pathlib import Path
from typing import Any

import equinox as eqx
import jax

from gapless.core import GaplessError, Interface, Observation

from .described import Described
from .policy import NetworkPolicy, new_policy

FILES = Described("policy", 1, "Save the policy again")
LARGEST_WEIGHTS = 2**30
"""Bytes of a layer's weights, times the layers, beyond which a description is taken to be damaged."""
LARGEST_NETWORK = 2**14
"""Width and depth beyond which a description is taken to be damaged."""


def save_policy(folder: Path, policy: NetworkPolicy) -> None:
    """Write policy.safetensors and policy.json; the same policy gives the same bytes."""
    width, depth = hidden_of(policy)
    described = {"interface": policy.interface.to_dict(), "observation": policy.observe.to_dict()}
    FILES.save(folder, policy, described | {"hidden": {"width": width, "depth": depth}})


def load_policy(folder: Path) -> NetworkPolicy:
    """The policy that `save_policy` wrote, exact to the last bit."""
    return FILES.load(folder, _untrained)


def hidden_of(policy: NetworkPolicy) -> tuple[int, int]:
    """Width and number of the hidden layers; raises unless the network is one that `new_policy` makes."""
    hidden = policy.network.width_size, policy.network.depth
    if _form(policy) != _form(_shapes(policy.interface, policy.observe, hidden)):
        raise GaplessError(
            f"the network of this policy for {policy.interface.robot!r} is not stored: only tanh layers with biases, "
            "as new_policy makes them, are. Build it with new_policy."
        )
    return hidden


def _untrained(description: dict[str, Any]) -> NetworkPolicy:
    interface = Interface.from_dict(description["interface"])
    observe = Observation.from_dict(description["observation"])
    hidden = int(description["hidden"]["width"]), int(description["hidden"]["depth"])
    sizes = (*hidden, observe.width(interface), interface.command_width)
    if not all(0 <= s <= LARGEST_NETWORK for s in sizes) or hidden[0] ** 2 * hidden[1] * 4 > LARGEST_WEIGHTS:
        raise ValueError(f"sizes {sizes} are not those of a policy")
    return _shapes(interface, observe, hidden)


def _shapes(interface: Interface, observe: Observation, hidden: tuple[int, int]) -> NetworkPolicy:
    return eqx.filter_eval_shape(lambda key: new_policy(interface, observe, hidden, key), jax.random.key(0))


def _form(policy: NetworkPolicy) -> Any:
    """Everything about a policy but the values of its arrays."""
    leaves, structure = jax.tree.flatten(policy)
    return structure, [(x.shape, x.dtype) if hasattr(x, "dtype") else x for x in leaves]
