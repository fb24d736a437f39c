"""Blocks around the physics: actuator, residual force and sensor, compared with the same done by hand."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

from gapless.core import Block, Log, Parameter, Params, Signals
from gapless.simulators import Around, MujocoSimulator
from gapless.simulators.around import PIECE, BlockWorlds

Simulate = Callable[..., Log]


class Map(Block):
    """A block without memory: channel → a factor and an offset under the same or another name."""

    channel: str
    target: str
    factor: float = 1.0
    offset: float = 0.0

    def init(self, key: Any) -> Any:
        return jnp.zeros(())

    def step(self, params: Params, memory: Any, inputs: Signals, dt_s: float, key: Any) -> Any:
        return memory, {self.target: self.factor * inputs[self.channel] + self.offset}


class ByGain(Block):
    """Divides the command by the gain that the physics multiplies with."""

    def init(self, key: Any) -> Any:
        return jnp.zeros(())

    def step(self, params: Params, memory: Any, inputs: Signals, dt_s: float, key: Any) -> Any:
        return memory, {"motor": inputs["motor"] / params["motor.gain"]}


class Integral(Block):
    """The command times the time that has passed: a memory, and a look at dt."""

    reset_to: float = eqx.field(default=0.0, static=True)

    def init(self, key: Any) -> Any:
        return jnp.full((1,), self.reset_to)

    def step(self, params: Params, memory: Any, inputs: Signals, dt_s: float, key: Any) -> Any:
        memory = memory + dt_s * inputs["motor"]
        return memory, {"motor": memory}


def around(pendulum: MujocoSimulator, blocks: Around, parameters: tuple[Parameter, ...] = ()) -> MujocoSimulator:
    return MujocoSimulator(pendulum.model, pendulum.interface, parameters, around=blocks)


def angles(log: Log) -> np.ndarray:
    return log.measurements["hinge.position"][:, 0]


@pytest.mark.parametrize("physics_rate", [False, True])
def test_an_actuator_block_that_halves_equals_half_the_command(
    physics_rate: bool, pendulum: MujocoSimulator, simulate: Simulate, lively_commands: Callable[..., Signals]
) -> None:
    commands = lively_commands(pendulum.interface, 30)
    halving = around(pendulum, Around(actuator=Map("motor", "motor", 0.5), physics_rate=physics_rate))
    by_hand = simulate(around(pendulum, Around()), {}, {"motor": commands["motor"] / 2})
    assert angles(simulate(halving, {}, commands)) == pytest.approx(angles(by_hand), abs=1e-6)


def test_a_halving_block_at_physics_rate_sees_the_delayed_command(
    pendulum: MujocoSimulator, simulate: Simulate, lively_commands: Callable[..., Signals]
) -> None:
    late = tuple(p for p in pendulum.parameters if p.name == "command.latency")
    commands, params = lively_commands(pendulum.interface, 30), {"command.latency": np.array([0.0137])}
    halving = around(pendulum, Around(actuator=Map("motor", "motor", 0.5), physics_rate=True), late)
    by_hand = simulate(around(pendulum, Around(), late), params, {"motor": commands["motor"] / 2})
    assert angles(simulate(halving, params, commands)) == pytest.approx(angles(by_hand), abs=1e-6)


@pytest.mark.parametrize("physics_rate", [False, True])
def test_a_constant_residual_force_equals_mujocos_applied_force(
    physics_rate: bool, pendulum: MujocoSimulator, simulate: Simulate
) -> None:
    force = Map("motor", "hinge.force", 0.0, 0.7)
    simulator = around(pendulum, Around(residual=force, physics_rate=physics_rate))
    found = angles(simulate(simulator, {}, {"motor": np.zeros((20, 1))}))
    data = mujoco.MjData(pendulum.model)
    expected = [0.0]
    for _ in range(19):
        data.qfrc_applied[0] = 0.7
        mujoco.mj_step(pendulum.model, data, simulator.substeps)
        expected.append(float(data.qpos[0]))
    assert found == pytest.approx(expected, abs=1e-6)
    assert abs(found[-1]) > 0.05


def test_a_sensor_block_with_a_bias_adds_it(
    pendulum: MujocoSimulator, simulate: Simulate, lively_commands: Callable[..., Signals]
) -> None:
    commands = lively_commands(pendulum.interface, 20)
    biased = around(pendulum, Around(sensor=Map("hinge.position", "hinge.position", 1.0, 0.25)))
    plain = simulate(around(pendulum, Around()), {}, commands)
    assert angles(simulate(biased, {}, commands)) == pytest.approx(angles(plain) + 0.25, abs=1e-6)


@pytest.mark.parametrize("physics_rate", [False, True])
def test_a_block_at_either_rate_is_told_how_much_time_passes(
    physics_rate: bool, pendulum: MujocoSimulator, simulate: Simulate
) -> None:
    simulator = around(pendulum, Around(actuator=Integral(), physics_rate=physics_rate)).with_worlds(1)
    state, _, _ = simulator.reset(simulator.init(), np.ones(1, bool), {}, {}, jax.random.key(0))
    for _ in range(5):
        state, _, _ = simulator.step(state, {"motor": np.ones((1, 1))}, jax.random.key(0))
    assert float(state.memories["actuator"][0][0, 0]) == pytest.approx(5 * simulator.interface.period_s)


def test_a_block_begins_anew_in_reset_worlds_only(pendulum: MujocoSimulator) -> None:
    simulator = around(pendulum, Around(actuator=Integral(reset_to=3.0))).with_worlds(2)
    state, _, _ = simulator.reset(simulator.init(), np.ones(2, bool), {}, {}, jax.random.key(0))
    state, _, _ = simulator.step(state, {"motor": np.ones((2, 1))}, jax.random.key(0))
    state, _, _ = simulator.reset(state, np.array([True, False]), {}, {}, jax.random.key(0))
    assert np.asarray(state.memories["actuator"][0])[:, 0] == pytest.approx([3.0, 3.02])


@pytest.mark.parametrize("worlds", [5, PIECE + 3])
def test_worlds_that_run_in_pieces_remember_apart(worlds: int) -> None:
    each, half = np.arange(worlds, dtype=float)[:, None], np.arange(worlds) % 2 == 0
    block, key = BlockWorlds(Integral(reset_to=3.0), worlds), jax.random.key(0)
    memory, out = block.step({}, block.init(key), {"motor": each}, 0.5, key)
    assert out["motor"] == pytest.approx(3.0 + 0.5 * each)
    memory, heard = block.hear({}, memory, {"motor": np.repeat(each[:, None], 2, axis=1)}, 0.5, key)
    assert heard["motor"] == pytest.approx(3.0 + np.stack([each, 1.5 * each], axis=1))
    found = block.gathered(block.chosen(half, block.init(key), memory))
    assert found == pytest.approx(np.where(half[:, None], 3.0, 3.0 + 1.5 * each))


def test_a_snapshot_keeps_the_memory_of_a_block(pendulum: MujocoSimulator) -> None:
    simulator = around(pendulum, Around(actuator=Integral()))
    state, _, _ = simulator.reset(simulator.init(), np.ones(1, bool), {}, {}, jax.random.key(0))
    kept, ends = simulator.snapshot(state), []
    for _ in range(2):
        state = simulator.restore(kept)
        for _ in range(4):
            state, seen, _ = simulator.step(state, {"motor": np.ones((1, 1))}, jax.random.key(0))
        ends.append(float(seen["hinge.position"][0, 0]))
    assert ends[0] == ends[1] != 0.0


def test_parameters_reach_blocks_as_they_reach_physics(pendulum: MujocoSimulator) -> None:
    gain = tuple(p for p in pendulum.parameters if p.name == "motor.gain")
    simulator = around(pendulum, Around(actuator=ByGain()), gain).with_worlds(2)
    params = {"motor.gain": np.array([0.5, 2.0])}
    state, _, _ = simulator.reset(simulator.init(), np.ones(2, bool), params, {}, jax.random.key(0))
    _, seen, _ = simulator.step(state, {"motor": np.ones((2, 1))}, jax.random.key(0))
    assert seen["hinge.position"][0, 0] == pytest.approx(seen["hinge.position"][1, 0], rel=1e-6)
