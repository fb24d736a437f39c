"""Learned parts: a residual begins at zero, stays bounded, fades off the data and is stored exactly; sensors do what they say."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gapless.core import Block, GaplessError, Log, Params, Signals
from gapless.simulators import Around, MujocoSimulator, holds_of
from gapless.simulators.parts import (
    MEMBER,
    Residual,
    Sight,
    load_residual,
    new_sensor,
    save_residual,
    sensor_parameters,
    silent_correction,
)

SIGHT = Sight(("hinge.position", "hinge.velocity", "motor"), (True, False, False), 3)
BOUND = 0.4


def silent(name: str = "hinge.force") -> Residual:
    return Residual((silent_correction(name, SIGHT, 8, 4, jax.random.key(1)),))


def loud(name: str = "hinge.force", weight: float = 50.0) -> Residual:
    """A residual whose members differ and hit their bound."""
    residual = silent(name)
    last = weight * jax.random.normal(jax.random.key(2), (4, 1, 8))
    places = lambda r: (r.corrections[0].networks.layers[1].weight, r.corrections[0].bound)  # noqa: E731
    return eqx.tree_at(places, residual, (last, jnp.asarray(BOUND)))


def said(
    residual: Residual, member: float, position: float = 0.1, velocity: float = 0.2, command: float = 0.3
) -> float:
    inputs = {"hinge.position": jnp.array([position]), "hinge.velocity": jnp.array([velocity])}
    return float(_step(residual, jnp.asarray(member), inputs | {"motor": jnp.array([command])}))


@eqx.filter_jit
def _step(residual: Residual, member: Any, inputs: Signals) -> Any:
    memory = residual.init(jax.random.key(0))
    return residual.step({MEMBER: member}, memory, inputs, 0.02, jax.random.key(0))[1]["hinge.force"][0]


def beside(pendulum: MujocoSimulator, residual: Residual) -> MujocoSimulator:
    return pendulum.with_around(Around(residual=residual, parameters=residual.parameters))


def angles(log: Log) -> np.ndarray:
    return log.measurements["hinge.position"][:, 0]


def test_a_residual_begins_at_zero_and_changes_nothing(
    pendulum: MujocoSimulator, simulate: Callable[..., Log], lively_commands: Callable[..., Signals]
) -> None:
    commands = lively_commands(pendulum.interface, 40)
    assert said(silent(), 0.0) == 0.0
    with_it, without = (simulate(s, {}, commands) for s in (beside(pendulum, silent()), pendulum))
    assert np.array_equal(angles(with_it), angles(without))


def test_a_residual_is_bounded() -> None:
    values = [said(loud(), m, position=p) for m in range(4) for p in np.linspace(-1, 1, 9)]
    assert max(map(abs, values)) > 0.9 * BOUND
    assert max(map(abs, values)) <= BOUND + 1e-6


def test_a_residual_fades_to_zero_off_the_data() -> None:
    # The one centre is the origin of features (sin, cos, velocity, command), and the reach is one.
    near, between, far = (abs(said(loud(weight=1.0), 1.0, velocity=v)) for v in (0.0, 1.0, 2.5))
    assert near > between > 0.0
    assert far == 0.0


def test_the_member_is_a_choice_and_nobody_means_all() -> None:
    each = [said(loud(weight=1.0), float(m)) for m in range(4)]
    assert len({round(v, 6) for v in each}) == 4
    assert said(loud(weight=1.0), 1.5) == pytest.approx(np.mean(each), rel=1e-5)


def test_worlds_with_different_members_move_apart(pendulum: MujocoSimulator) -> None:
    simulator = beside(pendulum, loud()).with_worlds(4)
    params = {MEMBER: np.arange(4.0)}
    state, _, _ = simulator.reset(simulator.init(), np.ones(4, bool), params, {}, jax.random.key(0))
    for _ in range(10):
        state, seen, _ = simulator.step(state, {"motor": np.full((4, 1), 0.5)}, jax.random.key(0))
    assert len({round(float(v), 9) for v in seen["hinge.position"][:, 0]}) > 1


def test_a_stored_residual_is_read_back_exactly(tmp_path: Path) -> None:
    save_residual(tmp_path, loud())
    again = load_residual(tmp_path)
    same = jax.tree.map(
        lambda a, b: np.array_equal(a, b), eqx.filter(again, eqx.is_array), eqx.filter(loud(), eqx.is_array)
    )
    assert jax.tree.all(same)
    assert said(again, 2.0) == said(loud(), 2.0)


def test_commands_of_long_ago_are_seen_every_other_period() -> None:
    sight = Sight(("hinge.position", "hinge.velocity", "motor"), (False, False, False), 3, recall=8)
    frames = jnp.array([[0.0, 0.0, float(k)] for k in range(8)])
    features = np.asarray(sight.features(frames))
    assert sight.width == len(features) == 3 + 2 * 2 + 2
    assert features[list(sight.late)].tolist() == [-4.0, -6.0]


def test_before_anything_was_seen_the_joints_stood_still_and_no_command_was_sent() -> None:
    residual = silent()
    inputs = {"hinge.position": jnp.array([0.1]), "hinge.velocity": jnp.array([0.2]), "motor": jnp.array([0.3])}
    memory, _ = residual.step({MEMBER: 0.0}, residual.init(jax.random.key(0)), inputs, 0.02, jax.random.key(0))
    rows = [[0.1, 0.2, 0.3], [0.1, 0.2, 0.0], [0.1, 0.2, 0.0]]
    assert np.allclose(memory["frames"]["hinge.force"], rows)


def test_a_residual_hears_the_commands_from_before_a_window(
    pendulum: MujocoSimulator, simulate: Callable[..., Log], lively_commands: Callable[..., Signals]
) -> None:
    sight = Sight(SIGHT.channels, SIGHT.turns, SIGHT.history, 9)
    residual = Residual((silent_correction("hinge.force", sight, 8, 4, jax.random.key(1)),))
    simulator, log = beside(pendulum, residual), simulate(pendulum, {}, lively_commands(pendulum.interface, 40))
    period_s, begin = pendulum.interface.period_s, 20
    holds = holds_of([log], np.zeros(1, int), np.array([begin * period_s]))
    params = {p.name: np.array([p.nominal]) for p in simulator.parameters if p.name != "command.latency"}
    memory = simulator.play_and_recall(params, {}, holds, np.array([[period_s]]))[1]["residual"]
    heard = np.asarray(memory["frames"]["hinge.force"])[0, :, 2]
    assert np.allclose(
        heard, log.commands["motor"][begin - 8 : begin + 1, 0][::-1], atol=0.03
    )  # half a time step of lead


def test_a_damaged_residual_is_refused(tmp_path: Path) -> None:
    save_residual(tmp_path, loud())
    (tmp_path / "residual.safetensors").write_bytes(b"\0" * 64)
    with pytest.raises(GaplessError, match="damaged"):
        load_residual(tmp_path)
    (tmp_path / "residual.json").write_text('{"format": 1, "corrections": [{}]}')
    with pytest.raises(GaplessError, match="not the description of a residual"):
        load_residual(tmp_path)


def test_a_residual_of_another_format_is_refused(tmp_path: Path) -> None:
    save_residual(tmp_path, loud())
    path = tmp_path / "residual.json"
    path.write_text(path.read_text().replace('"format": 1', '"format": 2'))
    with pytest.raises(GaplessError, match=r"format 2, and 1 is what is read.*Learn the residual again"):
        load_residual(tmp_path)


class Always(Block):
    """The same output at every step."""

    name: str = eqx.field(static=True)
    value: float = eqx.field(static=True)

    def init(self, key: Any) -> Any:
        return jnp.zeros(())

    def step(self, params: Params, memory: Any, inputs: Signals, dt_s: float, key: Any) -> Any:
        return memory, {self.name: jnp.array([self.value])}


def test_a_residual_action_is_added_to_the_command(
    pendulum: MujocoSimulator, simulate: Callable[..., Log], lively_commands: Callable[..., Signals]
) -> None:
    commands = {"motor": 0.5 * lively_commands(pendulum.interface, 30)["motor"]}
    prompt = MujocoSimulator(pendulum.model, pendulum.interface, ())
    more = prompt.with_around(Around(residual=Always("motor.change", 0.25)))
    by_hand = simulate(prompt, {}, {"motor": commands["motor"] + 0.25})
    assert angles(simulate(more, {}, commands)) == pytest.approx(angles(by_hand), abs=1e-6)


def test_a_residual_state_is_added_as_each_period_begins(pendulum: MujocoSimulator) -> None:
    simulator = pendulum.with_around(Around(residual=Always("hinge.velocity.change", 0.1))).with_worlds(1)
    state, _, _ = simulator.reset(simulator.init(), np.ones(1, bool), {}, {}, jax.random.key(0))
    _, _, privileged = simulator.step(state, {"motor": np.zeros((1, 1))}, jax.random.key(0))
    assert privileged["hinge.velocity"][0, 0] == pytest.approx(0.1, rel=0.05)


def readings(pendulum: MujocoSimulator, rows: int = 6, ramp: float = 1.0, **params: float) -> np.ndarray:
    """What the sensor reads of an angle that grows by `ramp` per period."""
    sensor = new_sensor(pendulum.interface)
    given = {f"hinge.position.{k}": jnp.asarray(v) for k, v in params.items()}
    memory, found = sensor.init(jax.random.key(0)), []
    for k in range(rows):
        seen = {"hinge.position": jnp.array([k * ramp])}
        memory, read = sensor.step(given, memory, seen, pendulum.interface.period_s, jax.random.key(k))
        found.append(float(read["hinge.position"][0]))
    return np.array(found)


def test_a_sensor_without_parameters_reads_the_truth(pendulum: MujocoSimulator) -> None:
    assert readings(pendulum) == pytest.approx(np.arange(6.0))


def test_gain_bias_and_quantum_by_hand(pendulum: MujocoSimulator) -> None:
    assert readings(pendulum, gain=2.0, bias=0.5) == pytest.approx(2 * np.arange(6) + 0.5)
    assert readings(pendulum, ramp=0.4, quantum=0.5) == pytest.approx([0.0, 0.5, 1.0, 1.0, 1.5, 2.0])


def test_a_delay_of_a_period_and_a_half_lies_between_two_samples(pendulum: MujocoSimulator) -> None:
    assert readings(pendulum, delay=0.03)[2:] == pytest.approx(np.arange(2, 6) - 1.5, abs=1e-5)


def test_a_filter_follows_a_ramp_one_time_constant_late(pendulum: MujocoSimulator) -> None:
    kept = np.exp(-0.02 / 0.04)
    expected = [0.0]
    for k in range(1, 6):
        expected.append(kept * expected[-1] + (1 - kept) * k)
    assert readings(pendulum, filter=0.04) == pytest.approx(expected, rel=1e-5)


def test_scatter_has_the_stated_deviation(pendulum: MujocoSimulator) -> None:
    assert readings(pendulum, rows=300, ramp=0.0, scatter=0.2).std() == pytest.approx(0.2, rel=0.15)


def test_sensor_parameters_reach_the_sensor_in_a_simulator(
    pendulum: MujocoSimulator, simulate: Callable[..., Log], lively_commands: Callable[..., Signals]
) -> None:
    doubted = sensor_parameters("hinge.position", "rad", ("gain", "bias"))
    simulator = pendulum.with_around(Around(sensor=new_sensor(pendulum.interface), parameters=doubted))
    commands, params = lively_commands(pendulum.interface, 20), {"hinge.position.bias": np.array([0.25])}
    read, true = simulate(simulator, params, commands), simulate(pendulum, {}, commands)
    assert angles(read) == pytest.approx(angles(true) + 0.25, abs=1e-6)
