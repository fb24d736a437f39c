"""The cart-pole that compiles, against MuJoCo."""

from collections.abc import Callable

import jax
import numpy as np

from gapless.core import Signals, Simulator
from gapless.simulators import JaxCartpole

WORLDS, PERIODS = 16, 15


def test_it_agrees_with_mujoco_over_random_commands_params_and_starts(
    cartpole: Simulator, traced_cartpole: JaxCartpole
) -> None:
    rng = np.random.default_rng(3)
    params = {p.name: rng.uniform(p.low, p.high, WORLDS) for p in cartpole.parameters if not p.name.endswith(".noise")}
    params["slider.friction"][:4] = 0.0
    start = {
        f"{j}.{side}": rng.normal(0, 0.3, (WORLDS, 1)) for j in cartpole.joints for side in ("position", "velocity")
    }
    commands = rng.uniform(-10, 10, (PERIODS, WORLDS, 1))
    trails = [_trail(s.with_worlds(WORLDS), params, start, commands) for s in (cartpole, traced_cartpole)]
    for name in trails[0][0]:
        one, other = (np.array([row[name] for row in trail]) for trail in trails)
        assert np.abs(one - other).max() < 1e-5


def test_its_privileged_signals_are_the_joints_as_in_mujoco(cartpole: Simulator, traced_cartpole: JaxCartpole) -> None:
    start = {"slider.position": np.array([[0.1]]), "hinge.velocity": np.array([[2.0]])}
    seen = [s.reset(s.init(), np.ones(1, bool), {}, start, jax.random.key(0))[2] for s in (cartpole, traced_cartpole)]
    assert seen[0].keys() == seen[1].keys()
    assert all(np.allclose(seen[0][k], seen[1][k], atol=1e-6) for k in seen[0])


def test_its_noise_has_the_deviation_that_its_parameter_says(traced_cartpole: JaxCartpole) -> None:
    many = traced_cartpole.with_worlds(4000)
    params = {"cart.position.noise": np.full(4000, 0.02)}
    _, seen, true = many.reset(many.init(), np.ones(4000, bool), params, {}, jax.random.key(0))
    off = np.asarray(seen["cart.position"]) - np.asarray(true["slider.position"])
    assert abs(off.std() - 0.02) < 0.001
    assert np.abs(np.asarray(seen["pole.angle"]) - np.asarray(true["hinge.position"])).max() == 0.0


def test_stepping_is_traced_once_whatever_the_parameters(
    traced_cartpole: JaxCartpole, lively_commands: Callable[..., Signals]
) -> None:
    traces = []

    def step(state: object, command: Signals, key: object) -> object:
        traces.append(1)
        return traced_cartpole.step(state, command, key)  # type: ignore[arg-type]

    jitted, commands = jax.jit(step), lively_commands(traced_cartpole.interface, 3)
    for mass in (0.1, 0.2):
        everywhere, params = np.ones(1, bool), {"pole.mass": np.array([mass])}
        state, _, _ = traced_cartpole.reset(traced_cartpole.init(), everywhere, params, {}, jax.random.key(0))
        for k in range(3):
            state, _, _ = jitted(state, {"motor": commands["motor"][k][None]}, jax.random.key(k))
    assert len(traces) == 1


def _trail(simulator: Simulator, params: dict, start: Signals, commands: np.ndarray) -> list[Signals]:
    everywhere = np.ones(WORLDS, bool)
    state, seen, _ = simulator.reset(simulator.init(), everywhere, params, start, jax.random.key(0))
    step = jax.jit(simulator.step) if simulator.traceable else simulator.step
    trail = [{k: np.array(v) for k, v in seen.items()}]
    for command in commands:
        state, seen, _ = step(state, {"motor": command}, jax.random.key(0))
        trail.append({k: np.array(v) for k, v in seen.items()})
    return trail
