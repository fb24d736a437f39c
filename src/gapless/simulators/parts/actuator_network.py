"""The last rungs: networks on a short history of error and velocity, at the physics rate, with a rung to fall back on."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from gapless.core import Block, Params, Signals

from .history import History, spread

ACTIVATION = "relu"
FADE = 0.25
"""Trust falls to zero over this share of the training range beyond its edge."""


class Range(NamedTuple):
    """Where the training data lay, feature by feature."""

    low: Float[Array, "*joint feature"]
    high: Float[Array, "*joint feature"]

    def trust(self, features: Float[Array, "*many feature"]) -> Float[Array, "*many"]:
        """One inside the range, zero well outside."""
        width = jnp.maximum(self.high - self.low, 1e-6)
        beyond = jnp.maximum(self.low - features, features - self.high) / width
        return jnp.clip(1 - jnp.max(beyond, axis=-1) / FADE, 0, 1)


class Layers(eqx.Module):
    """Affine layers with rectifiers between them, and a linear path beside; arrays may lead with joints."""

    weights: tuple[Float[Array, "*joint out in"], ...]
    biases: tuple[Float[Array, "*joint out"], ...]
    linear: Float[Array, "*joint in"]

    def __call__(self, x: Float[Array, "*many in"]) -> Float[Array, "*many"]:
        straight, last = jnp.sum(self.linear * x, axis=-1), len(self.weights) - 1
        for i, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            x = jnp.matmul(weight, x[..., None])[..., 0] + bias
            x = x if i == last else jax.nn.relu(x)
        return straight + x[..., 0]


class Gru(eqx.Module):
    """A gated recurrent unit whose memory fades per `step_s`, whatever the time step; gates are reset, update, new."""

    weight_in: Float[Array, "*joint gates in"]
    weight_hidden: Float[Array, "*joint gates hidden"]
    bias: Float[Array, "*joint gates"]
    bias_new: Float[Array, "*joint hidden"]
    step_s: float = eqx.field(static=True)

    @property
    def width(self) -> int:
        return self.weight_hidden.shape[-1]

    def __call__(self, x: Float[Array, "*many in"], hidden: Float[Array, "*many hidden"], dt_s: float) -> Array:
        seen = jnp.split(jnp.matmul(self.weight_in, x[..., None])[..., 0] + self.bias, 3, axis=-1)
        kept = jnp.split(jnp.matmul(self.weight_hidden, hidden[..., None])[..., 0], 3, axis=-1)
        reset, update = (jax.nn.sigmoid(s + k) for s, k in zip(seen[:2], kept[:2], strict=True))
        new = jnp.tanh(seen[2] + reset * (kept[2] + self.bias_new))
        # What is kept over one step_s, over a part of it.
        return new + update ** (dt_s / self.step_s) * (hidden - new)


class Weights(eqx.Module):
    """What training changes in a network actuator."""

    layers: Layers
    gru: Gru | None


class NetworkActuator(Block):
    """Target, position and velocity → torque by a network where it was trained, by the rung below where it was not.

    "trusted" among the outputs says how much of the answer is the network's, from 0 to 1.
    """

    below: Block
    layers: Layers
    gru: Gru | None
    shift: Float[Array, "*joint feature"]
    scale: Float[Array, "*joint feature"]
    torque: Float[Array, "*joint"]
    """Newton metres per unit of the network's answer."""
    range: Range
    history: History
    adds: bool = eqx.field(static=True, default=False)
    """Whether the network's torque is added to the rung below or stands in its place."""
    relative: bool = eqx.field(static=True, default=True)
    """Whether it sees how far the position is from the target, or the command itself: a force has no position to reach."""

    @property
    def weights(self) -> "Weights":
        """What training changes."""
        return Weights(self.layers, self.gru)

    def with_weights(self, weights: "Weights") -> "NetworkActuator":
        return eqx.tree_at(
            lambda n: (n.layers, n.gru), self, (weights.layers, weights.gru), is_leaf=lambda x: x is None
        )

    def init(self, key: PRNGKeyArray) -> dict[str, Any]:
        hidden = jnp.zeros(0 if self.gru is None else self.gru.width)
        return {"below": self.below.init(key), "past": self.history.init(), "hidden": hidden}

    def step(
        self, params: Params, memory: dict[str, Any], inputs: Signals, dt_s: float, key: PRNGKeyArray
    ) -> tuple[dict[str, Any], Signals]:
        below_memory, outputs = self.below.step(params, memory["below"], inputs, dt_s, key)
        past, features = look(self.history, memory["past"], inputs, dt_s, self.relative)
        hidden, answer = self.answer(features, memory["hidden"], dt_s)
        trusted = self.range.trust(features)
        # Switched off, a servo exerts nothing, learned or not.
        answer = jnp.where(inputs.get("enabled", 1.0) > 0.5, answer, 0.0)
        base = outputs["torque"]
        torque = base + trusted * (answer if self.adds else answer - base)
        memory = {"below": below_memory, "past": past, "hidden": hidden}
        return memory, outputs | {"torque": torque, "trusted": trusted}

    def answer(
        self, features: Float[Array, "*many feature"], hidden: Float[Array, "*many hidden"], dt_s: float
    ) -> tuple[Float[Array, "*many hidden"], Float[Array, "*many"]]:
        """What the network remembers next, and its torque in N m."""
        # Beyond the range a rectifier grows without end: it is not asked there.
        x = (jnp.clip(features, self.range.low, self.range.high) - self.shift) * self.scale
        if self.gru is None:
            return hidden, self.torque * self.layers(x)
        hidden = self.gru(x, hidden, dt_s)
        return hidden, self.torque * self.layers(hidden)


def spoken(trusted: Float[Array, "..."], below: str) -> str:
    """One sentence where a network was asked outside its training range; empty where it never was."""
    share = float(jnp.mean(trusted < 1))
    if share == 0:
        return ""
    return f"The network was outside its training range in {share:.1%} of the steps; there {below!r} answered, or helped to."


def look(
    history: History, memory: Any, inputs: Signals, dt_s: float, relative: bool = True
) -> tuple[Any, Float[Array, "*many feature"]]:
    """Errors (or commands) at the history's lags, then velocities, and the memory with this moment in it."""
    first = inputs["target"] - inputs["position"] if relative else inputs["target"]
    now = jnp.stack([first, inputs["velocity"]], axis=-1)
    memory, past = history.step(memory, now, dt_s)
    return memory, jnp.concatenate([past[..., 0], past[..., 1]], axis=-1)


@dataclass(frozen=True)
class NetworkForm:
    """The shape of an actuator network."""

    lags_s: tuple[float, ...] = (0.0, 0.02, 0.04, 0.06)
    """How far back it sees errors and velocities."""
    spacing_s: float = 0.02
    """How densely the past is kept; also the step for which a recurrent memory is trained."""
    hidden: tuple[int, int] = (24, 2)
    """Width and number of hidden layers."""
    recurrent: int = 0
    """Width of the recurrent memory; 0 for none."""
    adds: bool = False
    """Whether it corrects the rung below or replaces it."""
    relative: bool = True
    """Whether it sees target minus position, or the command itself."""

    @property
    def history(self) -> History:
        return History(self.lags_s, 2, self.spacing_s)


def new_network(
    form: NetworkForm,
    below: Block,
    inputs: Signals,
    torque: Float[Array, "*joint"],
    dt_s: float,
    key: PRNGKeyArray,
) -> NetworkActuator:
    """An untrained network that answers zero, scaled to what it will see.

    `inputs` has "target", "position" and "velocity", each (window, time, *joint); `torque` is the size of its answers in N m.
    """
    history, joints = form.history, inputs["target"].shape[2:]
    in_turn = {k: jnp.moveaxis(inputs[k], 1, 0) for k in ("target", "position", "velocity")}
    begun = spread(history.init(), in_turn["target"].shape[1:])
    _, seen = jax.lax.scan(lambda memory, row: look(history, memory, row, dt_s, form.relative), begun, in_turn)
    flat = seen.reshape(-1, *seen.shape[2:])
    layers_key, gru_key = jax.random.split(key)
    features = seen.shape[-1]
    layers = new_layers(form.recurrent or features, form.hidden, layers_key, joints)
    gru = new_gru(features, form.recurrent, form.spacing_s, gru_key, joints) if form.recurrent else None
    scale = 1 / jnp.maximum(flat.std(0), 1e-6)
    known = Range(flat.min(0), flat.max(0))
    return NetworkActuator(below, layers, gru, flat.mean(0), scale, torque, known, history, form.adds, form.relative)


def new_layers(inputs: int, hidden: tuple[int, int], key: PRNGKeyArray, joints: tuple[int, ...] = ()) -> Layers:
    """Layers that answer zero: `hidden` is the width and the number of hidden layers."""
    width, depth = hidden
    sizes = [inputs, *[width] * depth, 1]
    keys = jax.random.split(key, depth + 1)
    weights = [
        jax.random.normal(k, (*joints, o, i)) * jnp.sqrt(2 / i) for k, i, o in zip(keys, sizes, sizes[1:], strict=False)
    ]
    weights[-1] = 0 * weights[-1]
    biases = tuple(jnp.zeros((*joints, o)) for o in sizes[1:])
    return Layers(tuple(weights), biases, jnp.zeros((*joints, inputs)))


def new_gru(inputs: int, width: int, step_s: float, key: PRNGKeyArray, joints: tuple[int, ...] = ()) -> Gru:
    """A recurrent unit with small random weights."""
    a, b = jax.random.split(key)
    weight_in = jax.random.normal(a, (*joints, 3 * width, inputs)) / jnp.sqrt(inputs)
    weight_hidden = jax.random.normal(b, (*joints, 3 * width, width)) / jnp.sqrt(width)
    return Gru(weight_in, weight_hidden, jnp.zeros((*joints, 3 * width)), jnp.zeros((*joints, width)), step_s)
