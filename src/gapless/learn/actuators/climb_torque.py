"""The rungs from measured torque, on the recorded motion itself."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

from gapless.core import Block, Chain, Params, key_for
from gapless.nets.fitting import FitNetwork
from gapless.simulators.driven import Driven
from gapless.simulators.joints import PLANT
from gapless.simulators.parts.actuator_network import NetworkActuator, new_network
from gapless.simulators.parts.friction import Drag
from gapless.simulators.parts.transmission import Latency

from .fits import Climb, Fit, Tell, data_sheet, form_of, looked_at, rung_by_rung
from .guess import begin, guess
from .ladder import Rung
from .recorded import Windows
from .torque import Measured, fit_network_to_torque, fit_torque, torques

LATENCY, INERTIA = PLANT


def fit_from_torque(
    driven: Driven, learn: Windows, judge: Windows, recipe: Climb, seed: int, tell: Tell
) -> dict[str, Fit]:
    """Every rung, from the lowest on."""
    first, warm_up = guess(learn, driven.told), _warm_up(learn)

    def one(rung: Rung, law: str, told: Callable[[float], None]) -> Fit:
        # What the joint turns does not show in its torque.
        free, start = begin([p for p in rung.parameters if p != INERTIA], first)
        block = _block(rung, learn.period_s)
        params = fit_torque(block, free, _one(start), learn.measured, warm_up, recipe.iterations)
        params = _later(params, -learn.period_s / 2) | {INERTIA.name: jnp.asarray(0.0)}
        return Fit(rung, law, params, _errors(block, params, judge, warm_up))

    def network(name: str, base: str, below: Fit) -> Fit:
        return _network(name, base, below, (learn, judge), recipe, seed)

    return rung_by_rung(driven, recipe, _as_modelled(driven, judge), one, network, tell)


def _network(name: str, base: str, below: Fit, windows: tuple[Windows, Windows], recipe: Climb, seed: int) -> Fit:
    """A network that learns what the best rung below it leaves."""
    (learn, judge), params = windows, below.params
    fitted = network_on_torque(name, below, learn, recipe, seed)
    late = Latency(LATENCY.high, learn.period_s)
    block = Chain((late, fitted)) if LATENCY.name in params else fitted
    return Fit(below.rung, below.law, params, _errors(block, params, judge, _warm_up(judge)), fitted, base)


def network_on_torque(name: str, below: Fit, learn: Windows, recipe: Climb, seed: int) -> NetworkActuator:
    """A network fitted to what a rung leaves of the windows' torque."""
    rung, params, warm_up, looks = below.rung, below.params, _warm_up(learn), looked_at(learn)
    under, seen = _after_latency(rung), _as_heard(learn, params)
    left = np.std(np.asarray(torques(under, params, seen) - seen.torque)[:, warm_up:])
    key, form = key_for(seed, "actuator", name), form_of(name, rung.command, learn.period_s)
    made = new_network(form, under, _inputs(seen), jnp.asarray(left), seen.period_s, key)
    training = FitNetwork(rate=3e-3, batch=24, steps=5 * recipe.steps, looks=10, decay=1e-3)
    return fit_network_to_torque(made, params, seen.windows(~looks), seen.windows(looks), training, warm_up, key)[0]


def _as_modelled(driven: Driven, judge: Windows) -> Fit:
    rung, params = data_sheet(driven), {k: jnp.asarray(v) for k, v in driven.nominal.items()}
    # What is measured is what the model's actuator exerts, before the joint's friction.
    return Fit(rung, "m1", params, _errors(rung.actuator, params, judge, _warm_up(judge)))


def _block(rung: Rung, period_s: float) -> Block:
    if rung.law is None:
        return rung.actuator
    return Chain((Latency(LATENCY.high, period_s), rung.actuator, Drag(rung.law)))


def _after_latency(rung: Rung) -> Block:
    return rung.actuator if rung.law is None else Chain((rung.actuator, Drag(rung.law)))


def _as_heard(windows: Windows, params: Params) -> Measured:
    """The windows with their commands as late as the actuator hears them."""
    measured = windows.measured
    if LATENCY.name not in params:
        return measured
    clock = np.arange(windows.target.shape[1]) * windows.period_s
    lag_s = float(params[LATENCY.name]) + windows.period_s / 2
    late = np.stack([np.interp(clock - lag_s, clock, row) for row in windows.target])
    return Measured(
        jnp.asarray(late, jnp.float32), measured.position, measured.velocity, measured.torque, windows.period_s
    )


def _errors(block: Block, params: Params, judge: Windows, warm_up: int) -> np.ndarray:
    shown = _later(params, judge.period_s / 2)
    played = jax.jit(lambda: torques(block, shown, judge.measured))()
    return np.sqrt(np.mean((np.asarray(played) - judge.torque)[:, warm_up:] ** 2, axis=1))


def _later(params: Params, by_s: float) -> Params:
    """With another latency: commands are held, and straight lines between their samples run half a period ahead of that."""
    if LATENCY.name not in params:
        return params
    return params | {LATENCY.name: jnp.maximum(params[LATENCY.name] + by_s, 0.0)}


def _inputs(of: Measured) -> dict:
    return {"target": of.target, "position": of.position, "velocity": of.velocity}


def _warm_up(windows: Windows) -> int:
    """Samples before which the past that delays and networks need is unknown."""
    return min(round(LATENCY.high / windows.period_s) + 1, windows.target.shape[1] // 3)


def _one(params: Params) -> Params:
    return {k: v[0] for k, v in params.items()}
