"""Torques of the H1-2's arm joints: least squares on what an engineer would write down, and the ladder from measured torque."""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from gapless.core import Block, Chain, Params, key_for
from gapless.learn.actuators.choose import choose
from gapless.learn.actuators.torque import Measured, fit_network_to_torque, fit_torque, torques
from gapless.nets.fitting import FitNetwork
from gapless.simulators.joints import PLANT
from gapless.simulators.parts.actuator_network import NetworkForm, new_network
from gapless.simulators.parts.friction import LAWS, Drag
from gapless.simulators.parts.servo import PD, IdealPD
from gapless.simulators.parts.transmission import Latency
from recordings_servos import JointWindows

PERIOD_S = 0.02
WARM_UP = 6
"""Samples of each window that are not scored: before them the history that delays and networks need is unknown."""
LATENCIES_S = np.arange(0, 0.0601, 0.002)
Predict = Callable[[Measured], np.ndarray]
FORMS = {"mlp": NetworkForm(adds=True), "gru": NetworkForm(lags_s=(0.0, 0.02), recurrent=12, hidden=(16, 1), adds=True)}


def joint_of(name: str) -> str:
    """Files of one joint with different payloads share a model: left_elbow_joint_0kg → left_elbow_joint."""
    return name.split("_joint")[0] + "_joint"


def measured(files: Sequence[JointWindows]) -> Measured:
    """The windows of several files in one."""
    rows = [
        jnp.asarray(np.concatenate([getattr(f, k) for f in files]), jnp.float32)
        for k in ("command", "position", "velocity", "torque")
    ]
    return Measured(*rows, PERIOD_S)


def error(predict: Predict, of: Measured) -> np.ndarray:
    """Mean |torque error| of each window in N m."""
    return np.abs(predict(of) - np.asarray(of.torque))[:, WARM_UP:].mean(axis=1)


def analytic(train: Measured, whole: bool) -> Predict:
    """Least squares on error, velocity, Coulomb, gravity sin and cos, acceleration and a constant, at the best latency.

    `whole`: everything is late by it; else only the command is, as in a servo that reads its own encoder.
    """
    best: tuple[float, float, np.ndarray] | None = None
    torque = np.asarray(train.torque)[:, WARM_UP:].ravel()
    for latency_s in LATENCIES_S:
        rows = _regressors(train, latency_s, whole)[:, WARM_UP:].reshape(len(torque), -1)
        weights = np.linalg.lstsq(rows, torque, rcond=None)[0]
        cost = float(np.mean((rows @ weights - torque) ** 2))
        if best is None or cost < best[0]:
            best = cost, latency_s, weights
    assert best is not None
    return lambda of: _regressors(of, best[1], whole) @ best[2]


def _regressors(of: Measured, latency_s: float, whole: bool) -> np.ndarray:
    target, position, velocity = (np.asarray(x, float) for x in (of.target, of.position, of.velocity))
    acceleration = np.gradient(velocity, PERIOD_S, axis=1)
    target = _late(target, latency_s)
    if whole:
        position, velocity, acceleration = (_late(x, latency_s) for x in (position, velocity, acceleration))
    return np.stack(
        [
            target - position,
            velocity,
            np.sign(velocity),
            np.sin(position),
            np.cos(position),
            acceleration,
            np.ones_like(target),
        ],
        axis=-1,
    )


def _held(of: Measured) -> np.ndarray:
    """The last torque that is not scored, as if nothing changed after it."""
    return np.broadcast_to(np.asarray(of.torque)[:, WARM_UP - 1 : WARM_UP], of.torque.shape)


def _late(rows: np.ndarray, latency_s: float) -> np.ndarray:
    clock = np.arange(rows.shape[1]) * PERIOD_S
    return np.stack([np.interp(clock - latency_s, clock, row) for row in rows])


def rungs(train: Measured, held_out: Measured, steps: int, seed: int) -> dict[str, Predict]:
    """The ladder, rung by rung, fitted to torque."""
    stiff = 60.0
    begin: Params = {p.name: jnp.asarray(p.nominal) for p in (*PD, *LAWS["m1"].parameters, PLANT[0])}
    begin |= {"pd.stiffness": jnp.asarray(stiff), "pd.damping": jnp.asarray(stiff / 50)}
    late = begin | {"command.latency": jnp.asarray(0.02)}
    pd: Block = IdealPD()
    drag = Chain((IdealPD(), Drag(LAWS["m1"])))
    friction: Block = Chain((Latency(0.06, PERIOD_S), drag))
    plain = fit_torque(pd, PD, begin, train, WARM_UP, 12)
    params = fit_torque(friction, (*PD, *LAWS["m1"].parameters, PLANT[0]), late, train, WARM_UP, 12)
    found: dict[str, tuple[Block, Params]] = {"pd": (pd, plain), "friction": (friction, params)}
    left = np.std(np.asarray(torques(friction, params, train) - train.torque)[:, WARM_UP:])
    seen = _delayed(train, float(params["command.latency"]))
    for name, form in FORMS.items():
        key = key_for(seed, "h1", name)
        network = new_network(form, drag, seen, jnp.asarray(left), PERIOD_S, key)
        recipe = FitNetwork(rate=2e-3, batch=24, steps=steps, looks=15, decay=1e-3)
        fitted, _ = fit_network_to_torque(
            network, params, _as(train, seen), _as(held_out, _delayed(held_out, float(params["command.latency"]))),
            recipe, WARM_UP, key,
        )  # fmt: skip
        found[name] = Chain((Latency(0.06, PERIOD_S), fitted)), params
    return {name: _predict(*held) for name, held in found.items()}


def _predict(block: Block, params: Params) -> Predict:
    play = jax.jit(lambda of: torques(block, params, Measured(*of, PERIOD_S)))
    return lambda of: np.asarray(play((of.target, of.position, of.velocity, of.torque)))


def _delayed(of: Measured, latency_s: float) -> dict[str, Any]:
    late = jnp.asarray(_late(np.asarray(of.target, float), latency_s), jnp.float32)
    return {"target": late, "position": of.position, "velocity": of.velocity}


def _as(of: Measured, inputs: dict[str, Any]) -> Measured:
    return Measured(inputs["target"], of.position, of.velocity, of.torque, of.period_s)


def score(train: Sequence[JointWindows], test: Sequence[JointWindows], steps: int, seed: int) -> dict[str, Any]:
    """One joint: errors of both least squares and of the ladder's chosen rung on windows that none of them saw."""
    learn, judged = measured(train), measured(test)
    every = np.arange(len(learn.torque)) % 5 == 4
    fitted, held_out = learn.windows(~every), learn.windows(every)
    ladder = rungs(fitted, held_out, steps, seed)
    choice = choose({name: error(p, held_out) for name, p in ladder.items()})
    errors = {name: float(error(p, judged).mean()) for name, p in {"persistence": _held, **ladder}.items()}
    whole, command = (float(error(analytic(learn, w), judged).mean()) for w in (True, False))
    return {"analytic": whole, "analytic_command_late": command, **errors, "rung": choice.rung, "why": choice.why}
