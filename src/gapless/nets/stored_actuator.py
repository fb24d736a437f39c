"""An actuator network as one safetensors file: its arrays, and the rest of its description in the header."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.numpy

from gapless.core import GaplessError
from gapless.core.reading import plain_object, read_limited

from .actuator_network import ActuatorNetwork, Layer, Recurrence, Scales
from .weights import write_whole

FORMAT = 1
KEY = "gapless.actuator"
LARGEST_FILE = 2**26
"""Bytes of a stored network at most."""


def save_actuator(path: Path, network: ActuatorNetwork) -> None:
    """Write the network whole or not at all."""
    arrays = {f"layers.{k}.{n}": a for k, layer in enumerate(network.layers) for n, a in asdict(layer).items()}
    arrays |= {"scales.shift": network.scales.shift, "scales.scale": network.scales.scale}
    if network.recurrence is not None:
        arrays |= {f"recurrence.{n}": a for n, a in asdict(network.recurrence).items()}
    described = {
        "format": FORMAT,
        "activation": network.activation,
        "history": list(network.history),
        "step_s": network.step_s,
        "torque": network.scales.torque,
        "torque_shift": network.scales.torque_shift,
        "layers": len(network.layers),
        "recurrent": network.recurrence is not None,
    }
    whole = {name: np.ascontiguousarray(a, np.float64) for name, a in arrays.items()}
    write_whole(path, safetensors.numpy.save(whole, {KEY: json.dumps(described)}))


def load_actuator(path: Path) -> ActuatorNetwork:
    """The network that `save_actuator` wrote, exact to the last bit."""
    content = read_limited(path, LARGEST_FILE)
    try:
        arrays = safetensors.numpy.load(content)
        return _network(_description(content), arrays)
    except Exception as error:  # a damaged file raises anything, from deep inside the parser
        raise GaplessError(
            f"{path} cannot be read as an actuator network ({type(error).__name__}: {str(error)[:200]}). Save it again."
        ) from None


def _description(content: bytes) -> dict[str, Any]:
    """The header begins with its own length in eight bytes."""
    length = int.from_bytes(content[:8], "little")
    found = plain_object(plain_object(content[8 : 8 + length])["__metadata__"][KEY])
    if found["format"] != FORMAT:
        raise ValueError(f"format {found['format']!r}, and {FORMAT} is what is read")
    return found


def _network(described: dict[str, Any], arrays: dict[str, np.ndarray]) -> ActuatorNetwork:
    layers = tuple(
        Layer(arrays[f"layers.{k}.weight"], arrays[f"layers.{k}.bias"]) for k in range(int(described["layers"]))
    )
    torque = float(described["torque"]), float(described["torque_shift"])
    cell = None
    if described["recurrent"]:
        cell = Recurrence(**{n: arrays[f"recurrence.{n}"] for n in Recurrence.__dataclass_fields__})
    return ActuatorNetwork(
        layers,
        str(described["activation"]),
        tuple(int(k) for k in described["history"]),
        Scales(arrays["scales.shift"], arrays["scales.scale"], *torque),
        float(described["step_s"]),
        cell,
    )
