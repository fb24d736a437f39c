"""An actuator from measured torque: parameters by least squares, networks by regression, on the recorded motion itself."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from gapless.core import Block, Parameter, Params, Signals
from gapless.nets.fitting import FitNetwork, Fitted, fit_network
from gapless.simulators.parts.actuator_network import NetworkActuator, look
from gapless.simulators.parts.history import spread

from .bounded import to_free, to_params
from .marquardt import minimise


@dataclass(frozen=True)
class Measured:
    """Windows in which a joint's torque was measured, at one rate."""

    target: Float[Array, "window time"]
    position: Float[Array, "window time"]
    velocity: Float[Array, "window time"]
    torque: Float[Array, "window time"]
    period_s: float

    @property
    def in_turn(self) -> Signals:
        """The inputs of a block, time first."""
        return {"target": self.target.T, "position": self.position.T, "velocity": self.velocity.T}

    def windows(self, chosen: Any) -> "Measured":
        """Some of the windows."""
        names = ("target", "position", "velocity", "torque")
        return replace(self, **{k: getattr(self, k)[chosen] for k in names})


def torques(block: Block, params: Params, measured: Measured) -> Float[Array, "window time"]:
    """What the block would exert at each sample, shown the recorded targets and motion in turn."""

    def step(memory: Any, inputs: Signals) -> Any:
        memory, outputs = block.step(params, memory, inputs, measured.period_s, jax.random.key(0))
        return memory, outputs["torque"]

    begun = spread(block.init(jax.random.key(0)), measured.target.shape[:1])
    return jax.lax.scan(step, begun, measured.in_turn)[1].T


def fit_torque(
    block: Block, free: Sequence[Parameter], begin: Params, measured: Measured, warm_up: int, iterations: int = 30
) -> Params:
    """The params under which the block's torques are nearest to the measured ones, after `warm_up` samples a window."""
    tolerable = jnp.std(measured.torque[:, warm_up:]) / 4

    def residuals(free_now: Array) -> Array:
        missed = torques(block, begin | to_params(free_now[0], free), measured) - measured.torque
        return (missed[:, warm_up:] / tolerable).reshape(1, -1)

    found = minimise(residuals, to_free(begin, free)[None], iterations, 1e-6)
    return begin | to_params(found.free[0], free)


def fit_network_to_torque(
    network: NetworkActuator, params: Params, measured: Measured, held_out: Measured, recipe: FitNetwork,
    warm_up: int, key: PRNGKeyArray,
) -> tuple[NetworkActuator, Fitted]:  # fmt: skip
    """The network with the least robust error on the held-out windows; rows are whole windows, as memory needs them."""
    tolerable = jnp.std(measured.torque[:, warm_up:]) / 4

    def rows(of: Measured) -> tuple[Array, Array]:
        # What the network must answer: all of the torque, or what the rung below leaves.
        below = torques(network.below, params, of) if network.adds else 0.0
        return seen_by(network, of), of.torque - below

    def loss(weights: Any, some: tuple[Array, Array], key: PRNGKeyArray) -> Float[Array, ""]:
        features, wanted = some
        missed = (_answers(network.with_weights(weights), features, measured.period_s) - wanted)[:, warm_up:]
        return jnp.mean(2 * (jnp.sqrt(1 + (missed / tolerable) ** 2) - 1))

    fitted = fit_network(network.weights, loss, rows(measured), rows(held_out), recipe, key)
    return network.with_weights(fitted.module), fitted


def seen_by(network: NetworkActuator, of: Measured) -> Float[Array, "window time feature"]:
    """What the network sees at each sample."""
    history, relative = network.history, network.relative
    begun = spread(history.init(), of.target.shape[:1])
    _, seen = jax.lax.scan(lambda memory, row: look(history, memory, row, of.period_s, relative), begun, of.in_turn)
    return jnp.moveaxis(seen, 0, 1)


def _answers(network: NetworkActuator, features: Array, period_s: float) -> Float[Array, "window time"]:
    hidden = jnp.zeros((len(features), 0 if network.gru is None else network.gru.width))
    if network.gru is None:
        return network.answer(features, jnp.zeros(0), period_s)[1]
    in_turn = jnp.moveaxis(features, 1, 0)
    return jax.lax.scan(lambda h, x: network.answer(x, h, period_s), hidden, in_turn)[1].T
