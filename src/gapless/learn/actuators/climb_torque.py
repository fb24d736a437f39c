"""The rungs from measured torque, on the recorded motion itself."""

import jax
import jax.numpy as jnp
import numpy as np

from gapless.core import Block, Chain, Params, key_for
from gapless.nets.fitting import FitNetwork
from gapless.simulators.joints import PLANT
from gapless.simulators.parts.actuator_network import new_network
from gapless.simulators.parts.friction import Drag
from gapless.simulators.parts.transmission import Latency

from .choose import choose
from .fits import NETWORKS, Climb, Fit, Tell, form_of, looked_at, rungs_of
from .guess import begin, guess
from .ladder import Command, Rung
from .recorded import Windows
from .torque import Measured, fit_network_to_torque, fit_torque, torques

LATENCY, INERTIA = PLANT


def fit_from_torque(
    command: Command, learn: Windows, judge: Windows, recipe: Climb, seed: int, tell: Tell
) -> dict[str, Fit]:
    """Every rung, from the lowest on."""
    first, warm_up = guess(learn, command), _warm_up(learn)
    rungs, fits = rungs_of(recipe, command), {}
    count = len(rungs) + len(NETWORKS) * recipe.networks
    for name, (rung, law) in rungs.items():
        tell(name, len(fits) / count)
        # What the joint turns does not show in its torque.
        free, start = begin([p for p in rung.parameters if p != INERTIA], first)
        params = fit_torque(_block(rung, learn.period_s), free, _one(start), learn.measured, warm_up, recipe.iterations)
        params |= {INERTIA.name: jnp.asarray(0.0)}
        fits[name] = Fit(rung, law, params, _errors(_block(rung, learn.period_s), params, judge, warm_up))
    below = fits[choose({name: f.errors for name, f in fits.items()}).rung]
    for name in NETWORKS if recipe.networks else ():
        tell(name, len(fits) / count)
        fits[name] = _network(name, below, learn, judge, recipe, seed)
    return fits


def _network(name: str, below: Fit, learn: Windows, judge: Windows, recipe: Climb, seed: int) -> Fit:
    """A network that learns what the best rung below it leaves."""
    rung, params, warm_up = below.rung, below.params, _warm_up(learn)
    under, late = _after_latency(rung), Latency(LATENCY.high, learn.period_s)
    seen = _as_heard(learn, params)
    left = np.std(np.asarray(torques(under, params, seen) - seen.torque)[:, warm_up:])
    key = key_for(seed, "actuator", name)
    made = new_network(
        form_of(name, rung.command, learn.period_s), under, _inputs(seen), jnp.asarray(left), seen.period_s, key
    )
    looks = looked_at(learn)
    training = FitNetwork(rate=3e-3, batch=24, steps=recipe.steps, looks=10, decay=1e-3)
    fitted, _ = fit_network_to_torque(made, params, seen.windows(~looks), seen.windows(looks), training, warm_up, key)
    block = Chain((late, fitted)) if LATENCY.name in params else fitted
    return Fit(rung, below.law, params, _errors(block, params, judge, warm_up), fitted)


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
    lag_s = float(params[LATENCY.name])
    late = np.stack([np.interp(clock - lag_s, clock, row) for row in windows.target])
    return Measured(
        jnp.asarray(late, jnp.float32), measured.position, measured.velocity, measured.torque, windows.period_s
    )


def _errors(block: Block, params: Params, judge: Windows, warm_up: int) -> np.ndarray:
    played = jax.jit(lambda: torques(block, params, judge.measured))()
    return np.sqrt(np.mean((np.asarray(played) - judge.torque)[:, warm_up:] ** 2, axis=1))


def _inputs(of: Measured) -> dict:
    return {"target": of.target, "position": of.position, "velocity": of.velocity}


def _warm_up(windows: Windows) -> int:
    """Samples before which the past that delays and networks need is unknown."""
    return min(round(LATENCY.high / windows.period_s) + 1, windows.target.shape[1] // 3)


def _one(params: Params) -> Params:
    return {k: v[0] for k, v in params.items()}
