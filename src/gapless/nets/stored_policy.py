"""A policy on disk: its weights, and beside them what it measures, commands and sees."""

from pathlib import Path
from typing import Any, get_args

import equinox as eqx
import jax

from gapless.core import GaplessError, Interface, Observation

from .described import Described
from .flow_policy import FlowPolicy, FlowShape, flow_shape_of, new_flow
from .latent import LATENT
from .policy import NetworkPolicy, Shape, new_policy, shape_of
from .recall import Kind
from .seeing import SeeingPolicy

FILES = Described("policy", 1, "Save the policy again")
LARGEST_WEIGHTS = 2**30
"""Bytes of all layers' weights, with eight matrices to a layer, beyond which a description is taken to be damaged."""
LARGEST_NETWORK = 2**14
"""Width and depth beyond which a description is taken to be damaged; steps of a flow likewise."""


def save_policy(folder: Path, policy: SeeingPolicy) -> None:
    """Write policy.safetensors and policy.json; the same policy gives the same bytes."""
    shape = storable_shape(policy)
    described = {"interface": policy.interface.to_dict(), "observation": policy.observe.to_dict()}
    described["hidden"] = {"width": shape.hidden[0], "depth": shape.hidden[1]}
    # What is usual goes without saying, so that policies from before anything else was possible are read as they were.
    if isinstance(shape, FlowShape):
        described |= {"kind": "flow", "steps": shape.steps, "noise": shape.noise, "sampled": shape.sampled}
    elif shape.kind != "mlp":
        described |= {"network": shape.kind} | ({"latent": shape.latent} if shape.latent != LATENT else {})
    FILES.save(folder, policy, described | ({"told": list(shape.told)} if shape.told else {}))


def load_policy(folder: Path) -> SeeingPolicy:
    """The policy that `save_policy` wrote, exact to the last bit."""
    return FILES.load(folder, _untrained)


def storable_shape(policy: SeeingPolicy) -> Shape | FlowShape:
    """The shape of its network; raises unless that is one that `new_policy` or `new_flow` makes."""
    shape = None
    if isinstance(policy, NetworkPolicy):
        shape = shape_of(policy)
    elif isinstance(policy, FlowPolicy):
        shape = flow_shape_of(policy)
    if shape is None or _form(policy) != _form(_shapes(policy.interface, policy.observe, shape)):
        raise GaplessError(
            f"the network of this policy for {policy.interface.robot!r} is not stored: only those are that new_policy "
            "or new_flow makes, such as tanh layers with biases. Build it with one of them."
        )
    return shape


def _untrained(description: dict[str, Any]) -> SeeingPolicy:
    interface = Interface.from_dict(description["interface"])
    observe = Observation.from_dict(description["observation"])
    hidden = int(description["hidden"]["width"]), int(description["hidden"]["depth"])
    told, latent = tuple(map(str, description.get("told", ()))), int(description.get("latent", LATENT))
    sizes = (*hidden, observe.width(interface), interface.command_width, len(told), latent)
    if not all(0 <= s <= LARGEST_NETWORK for s in sizes) or 8 * hidden[0] ** 2 * hidden[1] * 4 > LARGEST_WEIGHTS:
        raise ValueError(f"sizes {sizes} are not those of a policy")
    match description.get("kind", "network"):
        case "network":
            return _shapes(interface, observe, Shape(hidden, _network(description), told, latent))
        case "flow":
            return _shapes(interface, observe, FlowShape(hidden, *_flow(description), told))
        case kind:
            raise ValueError(f"its kind is {kind!r:.60}; known are network and flow")


def _network(description: dict[str, Any]) -> Kind:
    kind = description.get("network", "mlp")
    if kind not in get_args(Kind):
        raise ValueError(f"its network is {kind!r:.60}; known are {', '.join(get_args(Kind))}")
    return kind


def _flow(description: dict[str, Any]) -> tuple[int, float, bool]:
    steps, noise, sampled = (description[name] for name in ("steps", "noise", "sampled"))
    if type(steps) is not int or type(noise) not in (int, float) or type(sampled) is not bool:
        raise ValueError("its steps, noise and sampled are not a count, a number and a truth")
    if not (1 <= steps <= LARGEST_NETWORK and 0 <= noise <= 1e6):
        raise ValueError(f"a flow of {steps} steps from noise of {noise} is not a policy's")
    return steps, float(noise), sampled


def _shapes(interface: Interface, observe: Observation, shape: Shape | FlowShape) -> Any:
    def make(key: Any) -> SeeingPolicy:
        if isinstance(shape, FlowShape):
            return new_flow(interface, observe, shape, key)
        return new_policy(interface, observe, shape, key)

    return eqx.filter_eval_shape(make, jax.random.key(0))


def _form(policy: SeeingPolicy) -> Any:
    """Everything about a policy but the values of its arrays."""
    leaves, structure = jax.tree.flatten(policy)
    return structure, [(x.shape, x.dtype) if hasattr(x, "dtype") else x for x in leaves]
