"""The rungs from motion alone, through a simulation of the joint in the surroundings that the model gives it."""

import math
from collections.abc import Callable
from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from gapless.core import Block, Params, key_for
from gapless.nets.fitting import FitNetwork
from gapless.simulators.driven import Driven
from gapless.simulators.joints import PLANT, Joints
from gapless.simulators.parts.actuator_network import NetworkActuator

from .climb_torque import network_on_torque
from .fits import Climb, Fit, Tell, data_sheet, looked_at, rung_by_rung
from .guess import begin, guess
from .ladder import Rung
from .motion import MatchMotion, fit_joints, fit_network_to_motion
from .recorded import Windows

LATENCY = PLANT[0]
STEP_S = 0.005
"""Longest step of the simulated joint."""


def fit_from_motion(
    driven: Driven, learn: Windows, judge: Windows, recipe: Climb, seed: int, tell: Tell
) -> dict[str, Fit]:
    """Every rung, from the lowest on."""
    first, pieces = guess(learn, driven.told), learn.pieces
    moved = float(np.std(learn.position - learn.position[:, :1]))
    match = MatchMotion(max(0.1 * moved, 1e-6), recipe.iterations)

    def one(rung: Rung, law: str, told: Callable[[float], None]) -> Fit:
        free, start = begin(rung.parameters, first)
        joints = _joints(rung, learn.period_s)
        params, _ = fit_joints(
            joints, free, _on_time(start), pieces, match, lambda step, cost: told(step / recipe.iterations)
        )
        return Fit(rung, law, params, _errors(joints, params, judge))

    def network(name: str, base: str, below: Fit) -> Fit:
        return _network(name, base, below, (learn, judge), recipe, seed)

    return rung_by_rung(driven, recipe, _as_modelled(driven, judge), one, network, tell)


def _network(name: str, base: str, below: Fit, windows: tuple[Windows, Windows], recipe: Climb, seed: int) -> Fit:
    """A network that learns what the best rung below it leaves: of the implied torque first, then through the simulation."""
    (learn, judge), looks = windows, looked_at(windows[0])
    rung, params, key = below.rung, {k: jnp.ravel(v)[0] for k, v in below.params.items()}, key_for(seed, "motion", name)
    first = network_on_torque(name, replace(below, params=params), _turning(learn, params), recipe, seed)
    first = eqx.tree_at(lambda n: n.below, first, rung.actuator, is_leaf=lambda x: x is first.below)
    joints = eqx.tree_at(
        lambda j: j.actuator, _joints(rung, learn.period_s), first, is_leaf=lambda x: isinstance(x, Block)
    )
    training = FitNetwork(rate=1e-3, batch=16, steps=recipe.steps, looks=8, decay=1e-4)
    fitted, _ = fit_network_to_motion(
        joints, params, learn.some(~looks).pieces, learn.some(looks).pieces, training, key
    )
    network = fitted.actuator
    assert isinstance(network, NetworkActuator)
    return Fit(rung, below.law, below.params, _errors(fitted, params, judge), network, base)


def _turning(windows: Windows, params: Params) -> Windows:
    """The windows with the torque that their motion implies once the joint's own inertia is known."""
    turned = (windows.torque + windows.load) / windows.inertia
    return replace(windows, torque=windows.torque + float(params["joint.inertia"]) * turned)


def _as_modelled(driven: Driven, judge: Windows) -> Fit:
    rung = data_sheet(driven)
    params = {k: jnp.full(1, v) for k, v in {**driven.nominal, "joint.inertia": 0.0, LATENCY.name: 0.0}.items()}
    return Fit(rung, "m1", params, _errors(_joints(rung, judge.period_s), params, judge))


def _joints(rung: Rung, period_s: float) -> Joints:
    substeps, remembered = max(1, math.ceil(period_s / STEP_S - 1e-9)), math.ceil(LATENCY.high / period_s) + 2
    lead_s = period_s / substeps / 2
    return Joints(rung.actuator, rung.friction, _no_load, _own_inertia, period_s, substeps, remembered, lead_s)


def _no_load(params: Params, position: jnp.ndarray) -> jnp.ndarray:
    return jnp.zeros_like(position)


def _own_inertia(params: Params, position: jnp.ndarray) -> jnp.ndarray:
    """What the joint turns beyond what the model knows of: its rotor, mostly."""
    return params["joint.inertia"] + 0 * position


def _on_time(start: Params) -> Params:
    """A rung that does not know of latency has none."""
    return {LATENCY.name: jnp.zeros(1)} | start


def _errors(joints: Joints, params: Params, judge: Windows) -> np.ndarray:
    pieces = judge.pieces
    played = jax.jit(lambda: joints.play(params, pieces, jax.random.key(0)))()
    return np.sqrt(np.mean((np.asarray(played)[..., 0] - judge.position) ** 2, axis=1))
