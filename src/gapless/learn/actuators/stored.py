"""A learned actuator on disk: its rung and params, and a network for each joint as exports and other tools read it."""

from collections.abc import Sequence
from functools import reduce
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np

from gapless.core import GaplessError, Params
from gapless.nets.actuator_network import ActuatorNetwork, Layer, Recurrence, Scales
from gapless.nets.stored_actuator import FILES, load_networks, save_networks
from gapless.simulators.parts.actuator_network import ACTIVATION, Gru, Layers, NetworkActuator, Range
from gapless.simulators.parts.history import History

from .ladder import Command, Rung, geared, ladder

CELL = tuple(Recurrence.__dataclass_fields__)


def save_actuator(folder: Path, rung: Rung, params: Params, law: str, network: NetworkActuator | None = None) -> None:
    """Write actuator.json and actuator.safetensors: the rung, its params, and what stands on it."""
    beside: dict[str, Any] = {
        "rung": rung.name,
        "law": law,
        "command": rung.command,
        "params": {k: np.asarray(v, float).tolist() for k, v in sorted(params.items())},
        "one_joint": network is not None and network.torque.ndim == 0,
    }
    save_networks(folder, () if network is None else plain_networks(network), beside)


def load_actuator(folder: Path) -> tuple[Rung, Params, NetworkActuator | None]:
    """What `save_actuator` wrote."""
    networks, said = load_networks(folder)
    try:
        command: Command = "effort" if said.get("command") == "effort" else "position"
        law = str(said["law"])
        rung = next(r for r in (*ladder(law, command), *geared(law, command)) if r.name == said["rung"])
        params = {str(k): jnp.asarray(v, jnp.float32) for k, v in said["params"].items()}
        one_joint = bool(said["one_joint"])
    except (ValueError, TypeError, KeyError, AttributeError, StopIteration) as error:
        raise GaplessError(
            f"{FILES.description(folder)} names no rung of the ladder ({type(error).__name__}: {str(error)[:200]}). "
            f"{FILES.again}."
        ) from None
    return rung, params, network_actuator(networks, rung, one_joint) if networks else None


def plain_networks(network: NetworkActuator) -> tuple[ActuatorNetwork, ...]:
    """What the network answers where it was trained, joint by joint, as plain arrays that run anywhere.

    In the actuator, the rung below takes over beyond the training range; here the inputs are clipped to it.
    """
    step_s = network.history.spacing_s
    steps = np.array(network.history.lags_s) / step_s
    if np.abs(steps - steps.round()).max() > 1e-6:
        raise GaplessError(
            f"the network sees the past at {', '.join(f'{lag:g}' for lag in network.history.lags_s)} s, which are no whole "
            f"steps of {step_s:g} s. Choose lags_s that are."
        )
    history = tuple(int(k) for k in steps.round())
    joints = [...] if network.torque.ndim == 0 else range(len(network.torque))
    return tuple(_plain(network, history, joint) for joint in joints)


def _plain(network: NetworkActuator, history: tuple[int, ...], joint: Any) -> ActuatorNetwork:
    def of(array: Any) -> np.ndarray:
        return np.asarray(array, np.float64)[joint]

    layers, gru = network.layers, network.gru
    return ActuatorNetwork(
        tuple(Layer(of(w), of(b)) for w, b in zip(layers.weights, layers.biases, strict=True)),
        ACTIVATION,
        history,
        Scales(
            of(network.shift), of(network.scale), float(of(network.torque)), 0.0,
            of(network.range.low), of(network.range.high),
        ),
        network.history.spacing_s,
        None if gru is None else Recurrence(*(of(getattr(gru, name)) for name in CELL)),
        of(layers.linear),
        network.adds,
    )  # fmt: skip


def network_actuator(networks: Sequence[ActuatorNetwork], below: Rung, one_joint: bool) -> NetworkActuator:
    """The block of which `plain_networks` made plain ones, on the rung that it stands on."""

    def stacked(arrays: Sequence[Any]) -> Any:
        return jnp.asarray(arrays[0] if one_joint else np.stack(arrays), jnp.float32)

    def part(*places: str) -> Any:
        """The arrays at a place in every network, e.g. ("scales", "shift")."""
        return stacked([reduce(getattr, places, n) for n in networks])

    first = networks[0]
    weights, biases = (
        tuple(stacked([getattr(n.layers[k], side) for n in networks]) for k in range(len(first.layers)))
        for side in ("weight", "bias")
    )
    cell = {name: part("recurrence", name) for name in CELL} if first.recurrence is not None else None
    return NetworkActuator(
        below.actuator,
        Layers(weights, biases, part("linear")),
        None if cell is None else Gru(**cell, step_s=first.step_s),
        part("scales", "shift"),
        part("scales", "scale"),
        part("scales", "torque"),
        Range(part("scales", "low"), part("scales", "high")),
        History(tuple(round(k * first.step_s, 9) for k in first.history), 2, first.step_s),
        first.adds,
        below.command == "position",
    )
