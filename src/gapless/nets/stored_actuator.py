"""Actuator networks on disk, one for each joint: their arrays as safetensors, and beside them the rest of the description."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .actuator_network import ActuatorNetwork, Layer, Recurrence, Scales
from .described import Described

FILES = Described("actuator", 2, "Save the actuator again")
LARGEST = 2**24
"""Numbers beyond which a description is taken to be damaged."""


def save_networks(folder: Path, networks: Sequence[ActuatorNetwork], beside: dict[str, Any] | None = None) -> None:
    """Write actuator.safetensors and actuator.json, which holds what is said `beside` the networks, too."""
    described = {**(beside or {}), "networks": [_described(n) for n in networks]}
    FILES.save(folder, {"networks": [_arrays(n) for n in networks]}, described)


def load_networks(folder: Path) -> tuple[tuple[ActuatorNetwork, ...], dict[str, Any]]:
    """The networks that `save_networks` wrote, exact to the last bit, and everything else that was said."""
    found = FILES.load(folder, _like)
    said = found["said"]
    networks = zip(said["networks"], found["networks"], strict=True)
    return tuple(_network(described, arrays) for described, arrays in networks), said


def _described(network: ActuatorNetwork) -> dict[str, Any]:
    return {
        "activation": network.activation,
        "history": list(network.history),
        "step_s": network.step_s,
        "torque": network.scales.torque,
        "torque_shift": network.scales.torque_shift,
        "adds": network.adds,
        "shapes": {name: list(a.shape) for name, a in _arrays(network).items()},
    }


def _arrays(network: ActuatorNetwork) -> dict[str, np.ndarray]:
    """Every array under its place in the description, e.g. "layers.0.weight"; what it does not have is left out."""
    places: dict[str, Any] = {
        f"layers.{k}.{n}": a for k, layer in enumerate(network.layers) for n, a in vars(layer).items()
    }
    places |= {f"scales.{n}": getattr(network.scales, n) for n in ("shift", "scale", "low", "high")}
    places |= {f"recurrence.{n}": a for n, a in vars(network.recurrence).items()} if network.recurrence else {}
    places["linear"] = network.linear
    return {name: np.ascontiguousarray(a, np.float64) for name, a in places.items() if a is not None}


def _like(said: dict[str, Any]) -> dict[str, Any]:
    shapes = [{str(n): tuple(map(int, s)) for n, s in plain["shapes"].items()} for plain in said["networks"]]
    if sum(abs(math.prod(s)) for named in shapes for s in named.values()) > LARGEST:
        raise ValueError("sizes that are not those of an actuator")
    empty = [{name: np.zeros(shape) for name, shape in named.items()} for named in shapes]
    for described, arrays in zip(said["networks"], empty, strict=True):
        if _arrays(_network(described, arrays)).keys() != arrays.keys():
            raise ValueError("arrays that are not those of an actuator")
    return {"networks": empty, "said": said}


def _network(described: dict[str, Any], arrays: dict[str, np.ndarray]) -> ActuatorNetwork:
    depth = sum(name.startswith("layers.") for name in arrays) // 2
    torque = float(described["torque"]), float(described["torque_shift"])
    cell = None
    if any(name.startswith("recurrence.") for name in arrays):
        cell = Recurrence(**{n: arrays[f"recurrence.{n}"] for n in Recurrence.__dataclass_fields__})
    return ActuatorNetwork(
        tuple(Layer(arrays[f"layers.{k}.weight"], arrays[f"layers.{k}.bias"]) for k in range(depth)),
        str(described["activation"]),
        tuple(int(k) for k in described["history"]),
        Scales(
            arrays["scales.shift"], arrays["scales.scale"], *torque, arrays.get("scales.low"), arrays.get("scales.high")
        ),
        float(described["step_s"]),
        cell,
        arrays.get("linear"),
        bool(described["adds"]),
    )
