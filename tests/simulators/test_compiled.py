"""Simulators that are compiled, with blocks around their physics, in trainings and beside MuJoCo."""

import sys
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gapless.core import Block, Params, Signals, nominal_belief
from gapless.simulators import Around, CompiledSimulator, MujocoSimulator, Rollout
from gapless.tasks.swingup import SwingUp
from gapless.train import Ppo, Train, train

WORLDS = 6


class Leaning(Block):
    """A residual with all kinds of output, and a memory of the commands."""

    def init(self, key: Any) -> Any:
        return jnp.zeros((1,))

    def step(self, params: Params, memory: Any, inputs: Signals, dt_s: float, key: Any) -> Any:
        memory = 0.9 * memory + inputs["motor"]
        out = {
            "slider.force": 0.3 * memory - 0.2 * inputs["slider.velocity"],
            "motor.change": 0.1 * inputs["hinge.position"],
        }
        return memory, out | {"hinge.velocity.change": 0.01 * memory}


class Halved(Block):
    """An actuator that sends half of what it was sent a step ago."""

    def init(self, key: Any) -> Any:
        return jnp.zeros((1,))

    def step(self, params: Params, memory: Any, inputs: Signals, dt_s: float, key: Any) -> Any:
        return inputs["motor"], {"motor": 0.5 * memory}


class Filtered(Block):
    """A sensor that follows slowly."""

    def init(self, key: Any) -> Any:
        return jnp.zeros((1,))

    def step(self, params: Params, memory: Any, inputs: Signals, dt_s: float, key: Any) -> Any:
        memory = 0.5 * memory + 0.5 * inputs["pole.angle"]
        return memory, {"pole.angle": memory}


@pytest.mark.parametrize(
    "physics_rate", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["every period", "every substep"]
)
def test_blocks_act_as_around_mujoco_also_after_some_worlds_began_anew(
    cartpole: MujocoSimulator, physics_rate: bool
) -> None:
    around = Around(Halved(), Leaning(), Filtered(), physics_rate)
    simulator = cartpole.with_around(around).with_worlds(WORLDS)
    one, other = (_trail(s) for s in (simulator, CompiledSimulator(simulator)))
    for name in one:
        assert np.abs(one[name] - other[name]).max() < 1e-4 * (1 + np.abs(one[name]).max()), name


def test_a_policy_earns_in_it_what_it_earns_in_mujoco(cartpole: MujocoSimulator, make_policy: Any) -> None:
    policy, task = make_policy(3), SwingUp()
    earned = [
        Rollout(s.with_worlds(8), task).run(policy, {}, jax.random.key(1)).returns
        for s in (cartpole, CompiledSimulator(cartpole))
    ]
    assert earned[0] == pytest.approx(earned[1], abs=1e-3)


@pytest.mark.parametrize(("recipe", "asks"), [
    (Train(Ppo(budget=4_096)), 0), (Train(Ppo(budget=200_000)), 1), (Train(Ppo(budget=200_000), compiled=False), 0)
], ids=["short", "long", "not wanted"])  # fmt: skip
def test_long_trainings_are_compiled_and_short_ones_are_not(
    recipe: Train, asks: int, cartpole: MujocoSimulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    module, asked = sys.modules["gapless.train.train"], list[Any]()
    monkeypatch.setattr(module, "compiled", lambda simulator, drawn: asked.append(drawn) or simulator)
    monkeypatch.setattr(module, "Look", _stop)
    with pytest.raises(StopIteration):
        train(cartpole, nominal_belief(cartpole.parameters), SwingUp(), recipe, jax.random.key(0))
    assert len(asked) == asks


def _stop(*args: Any) -> Any:
    raise StopIteration


def _trail(simulator: Any) -> dict[str, np.ndarray]:
    """Readings and joints over some periods, in the middle of which half of the worlds begin anew."""
    rng, everywhere = np.random.default_rng(0), np.ones(WORLDS, bool)
    start = {"hinge.position": rng.normal(0, 1, (WORLDS, 1)), "slider.velocity": rng.normal(0, 1, (WORLDS, 1))}
    state, seen, true = simulator.reset(simulator.init(), everywhere, {}, start, jax.random.key(0))
    rows = []
    for k in range(12):
        command = {"motor": rng.uniform(-8, 8, (WORLDS, 1))}
        state, seen, true = simulator.step(state, command, jax.random.key(k))
        if k == 6:
            state, seen, true = simulator.reset(
                state, everywhere & (np.arange(WORLDS) < 3), {}, start, jax.random.key(9)
            )
        rows.append({name: np.array(v) for name, v in (seen | true).items()})
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}
