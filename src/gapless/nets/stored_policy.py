"""A network policy on disk: its weights, and beside them what it measures, commands and sees."""

from pathlib import Path
from typing import Any, get_args

import equinox as eqx
import jax

from gapless.core import GaplessError, Interface, Observation

from .described import Described
from .policy import NetworkPolicy, Shape, new_policy, shape_of
from .recall import Kind

FILES = Described("policy", 1, "Save the policy again")
LARGEST_WEIGHTS = 2**30
"""Bytes of all layers' weights, with eight matrices to a layer, beyond which a description is taken to be damaged."""
LARGEST_NETWORK = 2**14
"""Width and depth beyond which a description is taken to be damaged."""


def save_policy(folder: Path, policy: NetworkPolicy) -> None:
    """Write policy.safetensors and policy.json; the same policy gives the same bytes."""
    shape = storable_shape(policy)
    described = {"interface": policy.interface.to_dict(), "observation": policy.observe.to_dict()}
    described["hidden"] = {"width": shape.hidden[0], "depth": shape.hidden[1]}
    # What is usual goes without saying, so that policies from before anything else was possible are read as they were.
    described |= {} if shape.kind == "mlp" else {"network": shape.kind}
    FILES.save(folder, policy, described | ({"told": list(shape.told)} if shape.told else {}))


def load_policy(folder: Path) -> NetworkPolicy:
    """The policy that `save_policy` wrote, exact to the last bit."""
    return FILES.load(folder, _untrained)


def storable_shape(policy: NetworkPolicy) -> Shape:
    """The shape of its network; raises unless that is one that `new_policy` makes."""
    shape = shape_of(policy)
    if _form(policy) != _form(_shapes(policy.interface, policy.observe, shape)):
        raise GaplessError(
            f"the network of this policy for {policy.interface.robot!r} is not stored: only those are that new_policy "
            "makes, such as tanh layers with biases. Build it with new_policy."
        )
    return shape


def _untrained(description: dict[str, Any]) -> NetworkPolicy:
    interface = Interface.from_dict(description["interface"])
    observe = Observation.from_dict(description["observation"])
    hidden = int(description["hidden"]["width"]), int(description["hidden"]["depth"])
    kind, told = description.get("network", "mlp"), tuple(map(str, description.get("told", ())))
    if kind not in get_args(Kind) or len(told) > LARGEST_NETWORK:
        raise ValueError(f"its network is {kind!r:.60}, told {len(told)} params; known are {', '.join(get_args(Kind))}")
    sizes = (*hidden, observe.width(interface), interface.command_width)
    if not all(0 <= s <= LARGEST_NETWORK for s in sizes) or 8 * hidden[0] ** 2 * hidden[1] * 4 > LARGEST_WEIGHTS:
        raise ValueError(f"sizes {sizes} are not those of a policy")
    return _shapes(interface, observe, Shape(hidden, kind, told))


def _shapes(interface: Interface, observe: Observation, shape: Shape) -> NetworkPolicy:
    return eqx.filter_eval_shape(lambda key: new_policy(interface, observe, shape, key), jax.random.key(0))


def _form(policy: NetworkPolicy) -> Any:
    """Everything about a policy but the values of its arrays."""
    leaves, structure = jax.tree.flatten(policy)
    return structure, [(x.shape, x.dtype) if hasattr(x, "dtype") else x for x in leaves]
