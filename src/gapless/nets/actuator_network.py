"""An actuator as a network, described by plain arrays: position errors and velocities of one joint in, its torque out."""

from dataclasses import dataclass
from typing import Any

import equinox as eqx
import numpy as np
from jaxtyping import Float

from gapless.core import GaplessError

ACTIVATIONS = {
    "tanh": np.tanh,
    "relu": lambda x: np.maximum(x, 0.0),
    "elu": lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0.0))),
    "softsign": lambda x: x / (1 + np.abs(x)),
    "softplus": lambda x: np.logaddexp(x, 0.0),
    "silu": lambda x: x * _sigmoid(x),
}


@dataclass(frozen=True)
class Layer:
    """weight · x + bias."""

    weight: Float[np.ndarray, "out in"]
    bias: Float[np.ndarray, " out"]


@dataclass(frozen=True)
class Recurrence:
    """A gated recurrent unit with its gates stacked as reset, update, new: the arrays of `equinox.nn.GRUCell`."""

    weight_in: Float[np.ndarray, "gates in"]
    weight_hidden: Float[np.ndarray, "gates hidden"]
    bias: Float[np.ndarray, " gates"]
    bias_new: Float[np.ndarray, " hidden"]

    @property
    def width(self) -> int:
        return self.weight_hidden.shape[1]


@dataclass(frozen=True)
class Scales:
    """How inputs become features, (x − shift) · scale, and the network's answer a torque, answer · torque + torque_shift."""

    shift: Float[np.ndarray, " feature"]
    scale: Float[np.ndarray, " feature"]
    torque: float = 1.0
    torque_shift: float = 0.0
    low: Float[np.ndarray, " feature"] | None = None
    """Inputs below are taken to be this: beyond what it was trained on, a network is not asked."""
    high: Float[np.ndarray, " feature"] | None = None


@dataclass(frozen=True)
class ActuatorNetwork:
    """What is needed to run the network anywhere. The position error is target minus position."""

    layers: tuple[Layer, ...]
    """The last one gives one number and has no activation after it."""
    activation: str
    """Between layers, one of ACTIVATIONS."""
    history: tuple[int, ...]
    """Which past steps it sees, 0 the newest; features are their errors, then their velocities, in this order."""
    scales: Scales
    step_s: float
    """The rate that it was fitted for."""
    recurrence: Recurrence | None = None
    """Between the features and the first layer."""
    linear: Float[np.ndarray, " in"] | None = None
    """A linear path from what the first layer sees to the answer."""
    adds: bool = False
    """Whether its torque corrects that of a simpler actuator, to which it must be added."""

    def __post_init__(self) -> None:
        fault = _fault(self)
        if fault:
            raise GaplessError(f"this is no actuator network: {fault}.")

    @property
    def features(self) -> int:
        return 2 * len(self.history)

    def torque(
        self, features: Float[np.ndarray, "n feature"], hidden: Float[np.ndarray, "n hidden"] | None = None
    ) -> tuple[Float[np.ndarray, " n"], Float[np.ndarray, "n hidden"]]:
        """Torques in N m, and what the network remembers for the next step."""
        inside = np.clip(np.asarray(features, np.float64), self.scales.low, self.scales.high)
        x = (inside - self.scales.shift) * self.scales.scale
        after = np.zeros((len(x), 0))
        if self.recurrence is not None:
            before = np.zeros((len(x), self.recurrence.width)) if hidden is None else hidden
            x = after = _recur(self.recurrence, x, before)
        straight = 0.0 if self.linear is None else x @ self.linear
        for layer in self.layers[:-1]:
            x = ACTIVATIONS[self.activation](x @ layer.weight.T + layer.bias)
        answer = (x @ self.layers[-1].weight.T + self.layers[-1].bias)[:, 0] + straight
        return answer * self.scales.torque + self.scales.torque_shift, after


def described(
    network: eqx.nn.MLP,
    activation: str,
    history: tuple[int, ...],
    scales: Scales,
    step_s: float,
    cell: eqx.nn.GRUCell | None = None,
) -> ActuatorNetwork:
    """The description of Equinox modules; `activation` names the one that the network was built with."""
    layers = tuple(Layer(_plain(layer.weight), _plain(layer.bias)) for layer in network.layers)
    recurrence = None
    if cell is not None:
        recurrence = Recurrence(*map(_plain, (cell.weight_ih, cell.weight_hh, cell.bias, cell.bias_n)))
    return ActuatorNetwork(layers, activation, history, scales, step_s, recurrence)


def _plain(array: Any) -> np.ndarray:
    if array is None:
        raise GaplessError("this is no actuator network: a layer has no bias. Build it with biases.")
    return np.asarray(array, np.float64)


def _recur(cell: Recurrence, x: np.ndarray, hidden: np.ndarray) -> np.ndarray:
    seen = np.split(x @ cell.weight_in.T + cell.bias, 3, axis=1)
    kept = np.split(hidden @ cell.weight_hidden.T, 3, axis=1)
    reset, update = (_sigmoid(s + k) for s, k in zip(seen[:2], kept[:2], strict=True))
    new = np.tanh(seen[2] + reset * (kept[2] + cell.bias_new))
    return new + update * (hidden - new)


def _sigmoid(x: np.ndarray) -> np.ndarray:
    return 0.5 * (1 + np.tanh(0.5 * x))


def _fault(network: ActuatorNetwork) -> str:
    """What is wrong with a description; empty if nothing is."""
    if network.activation not in ACTIVATIONS:
        return f"its activation {network.activation!r} is none of {', '.join(ACTIVATIONS)}"
    if not network.layers or not network.history or min(network.history) < 0:
        return "it needs at least one layer, and a history of steps from 0 on"
    if not network.step_s > 0:
        return f"its step of {network.step_s} s is not positive"
    width, cell = network.features, network.recurrence
    scales = network.scales
    expected = [(a, (width,)) for a in (scales.shift, scales.scale, scales.low, scales.high) if a is not None]
    if cell is not None:
        h = cell.width
        expected += [(cell.weight_in, (3 * h, width)), (cell.weight_hidden, (3 * h, h)), (cell.bias, (3 * h,))]
        expected.append((cell.bias_new, (h,)))
        width = h
    if network.linear is not None:
        expected.append((network.linear, (width,)))
    for layer in network.layers:
        expected += [(layer.weight, (layer.weight.shape[0], width)), (layer.bias, (layer.weight.shape[0],))]
        width = layer.weight.shape[0]
    wrong = [f"an array of shape {a.shape} stands where {shape} belongs" for a, shape in expected if a.shape != shape]
    if width != 1:
        wrong.append(f"its last layer gives {width} numbers and one torque is wanted")
    if not all(np.all(np.isfinite(a)) for a, _ in expected):
        wrong.append("its arrays hold numbers that are not finite")
    return wrong[0] if wrong else ""
