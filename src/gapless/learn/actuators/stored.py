"""A learned actuator on disk: rung and params as JSON, a network's arrays as safetensors, and a plain description for exports."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from gapless.core import GaplessError, Params
from gapless.core.reading import LARGEST_JSON, plain_object, read_limited
from gapless.nets.weights import load_weights, save_weights, write_whole
from gapless.simulators.parts.actuator_network import (
    ACTIVATION,
    INPUTS,
    NetworkActuator,
    NetworkForm,
    new_network,
)

from .ladder import Rung, ladder

FORMAT = 1
DESCRIPTION, WEIGHTS = "actuator.json", "actuator.safetensors"


def save_actuator(folder: Path, rung: Rung, params: Params, law: str, network: NetworkActuator | None = None) -> None:
    """Write actuator.json and, for a network, actuator.safetensors: the rung, its params, and what stands on it."""
    described: dict[str, Any] = {
        "format": FORMAT,
        "rung": rung.name,
        "law": law,
        "params": {k: np.asarray(v, float).tolist() for k, v in sorted(params.items())},
    }
    folder.mkdir(parents=True, exist_ok=True)
    if network is not None:
        described["network"] = {"form": asdict(form_of(network)), "joints": list(network.torque.shape)}
        save_weights(folder / WEIGHTS, network)
    write_whole(folder / DESCRIPTION, (json.dumps(described, indent=1) + "\n").encode())


def load_actuator(folder: Path) -> tuple[Rung, Params, NetworkActuator | None]:
    """What `save_actuator` wrote."""
    path = folder / DESCRIPTION
    try:
        described = plain_object(read_limited(path, LARGEST_JSON))
        if described["format"] != FORMAT:
            raise ValueError(f"format {described['format']!r}, and {FORMAT} is what is read")
        rung = next(r for r in ladder(str(described["law"])) if r.name == described["rung"])
        params = {str(k): jnp.asarray(v, jnp.float32) for k, v in described["params"].items()}
        form, joints = _form(described["network"]) if "network" in described else (None, ())
    except (ValueError, TypeError, KeyError, AttributeError, StopIteration) as error:
        raise GaplessError(
            f"{path} is not the description of an actuator ({type(error).__name__}: {str(error)[:200]}). Save it again."
        ) from None
    if form is None:
        return rung, params, None
    like = {k: jnp.zeros((1, 1, *joints)) for k in ("target", "position", "velocity")}
    untrained = new_network(form, rung.actuator, like, jnp.ones(joints), form.spacing_s, jax.random.key(0))
    return rung, params, load_weights(folder / WEIGHTS, untrained)


def form_of(network: NetworkActuator) -> NetworkForm:
    """The shape of a network actuator."""
    layers = network.layers.weights
    return NetworkForm(
        network.history.lags_s,
        network.history.spacing_s,
        (layers[0].shape[-2], len(layers) - 1),
        0 if network.gru is None else network.gru.width,
        network.adds,
    )


def description(network: NetworkActuator) -> dict[str, Any]:
    """Everything needed to run the network elsewhere, as plain numbers; arrays lead with joints where it has several.

    features = (clip(x, low, high) − shift) · scale, errors at history_s first, then velocities; with a recurrence the layers
    see its memory in their place. torque = torque_scale · (linear · features + layers(features)), rectifiers between
    layers. `adds` says whether that is added to the rung below. `rectified_layers` folds the linear path into the layers.
    """
    gru = network.gru
    return {
        "inputs": list(INPUTS),
        "history_s": list(network.history.lags_s),
        "step_s": network.history.spacing_s,
        "activation": ACTIVATION,
        "layers": [
            {"weight": np.asarray(w), "bias": np.asarray(b)}
            for w, b in zip(network.layers.weights, network.layers.biases, strict=True)
        ],
        "linear": np.asarray(network.layers.linear),
        "recurrence": None
        if gru is None
        else {k: np.asarray(getattr(gru, k)) for k in ("weight_in", "weight_hidden", "bias", "bias_new")},
        "shift": np.asarray(network.shift),
        "scale": np.asarray(network.scale),
        "torque_scale": np.asarray(network.torque),
        "low": np.asarray(network.range.low),
        "high": np.asarray(network.range.high),
        "adds": network.adds,
    }


def rectified_layers(network: NetworkActuator) -> list[tuple[np.ndarray, np.ndarray]]:
    """Weights and biases of plain layers that answer the same: x = relu(x) − relu(−x) carries the linear path along."""
    weights, biases = [np.asarray(w) for w in network.layers.weights], [np.asarray(b) for b in network.layers.biases]
    linear = np.asarray(network.layers.linear)
    if linear.ndim != 1 or len(weights) < 2:
        raise GaplessError(
            "layers are written out for one joint at a time, with at least one hidden layer; pick a joint."
        )
    pair = np.stack([linear, -linear])
    found = [(np.concatenate([weights[0], pair]), np.concatenate([biases[0], np.zeros(2)]))]
    for weight, bias in zip(weights[1:-1], biases[1:-1], strict=True):
        through = np.block([[weight, np.zeros((len(weight), 2))], [np.zeros((2, weight.shape[1])), np.eye(2)]])
        found.append((through, np.concatenate([bias, np.zeros(2)])))
    return [*found, (np.concatenate([weights[-1], [[1.0, -1.0]]], axis=1), biases[-1])]


def _form(described: dict[str, Any]) -> tuple[NetworkForm, tuple[int, ...]]:
    form = described["form"]
    width, depth = (int(n) for n in form["hidden"])
    lags = tuple(float(x) for x in form["lags_s"])
    recurrent, joints = int(form["recurrent"]), tuple(int(n) for n in described["joints"])
    if max(width, depth, recurrent, len(lags), *joints, 0) > 4096 or len(joints) > 1:
        raise ValueError("sizes that are not those of an actuator")
    return NetworkForm(lags, float(form["spacing_s"]), (width, depth), recurrent, bool(form["adds"])), joints
