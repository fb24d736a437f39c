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
    Units,
    load_residual,
    new_sensor,
    save_residual,
    sensor_parameters,
    silent_correction,
)

BOUND = 0.4


def sight(turns: bool = True, history: int = 3, recall: int = 1, span: float = 1.0) -> Sight:
    return Sight("hinge", ("motor",), turns, history, recall, jnp.asarray(span), jnp.asarray(1.0))


def silent(name: str = "hinge.force", recall: int = 1, heard: int = 0) -> Residual:
    return Residual((silent_correction(name, sight(recall=recall), 4, units=8),), heard)


def loud(name: str = "hinge.force", weight: float = 50.0) -> Residual:
    """A residual whose members differ and hit their bound."""
    residual, keys = silent(name), jax.random.split(jax.random.key(2), 3)
    looks = jax.random.normal(keys[0], (8, sight().width))
    phases, last = jax.random.normal(keys[1], (8,)), weight * jax.random.normal(keys[2], (4, 8))
    units = Units(looks, phases, jnp.ones(8, bool), last)
    places = lambda r: (r.corrections[0].units, r.corrections[0].bound)  # noqa: E731
    return eqx.tree_at(places, residual, (units, jnp.asarray(BOUND)))


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
    # The one centre is the origin of sine, cosine, velocity and command, and the reach is one.
    residual = silent()
    places = lambda r: (r.corrections[0].units.phases, r.corrections[0].units.last)  # noqa: E731
    always = eqx.tree_at(places, residual, (jnp.ones(8), 9 * jnp.ones((4, 8))))
    near, between, far = (abs(said(always, 1.0, velocity=v, command=0.0)) for v in (0.0, 1.0, 2.5))
    assert near == pytest.approx(1.0)
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


def looked(seen: Sight, rows: list[tuple[float, float, float]], dt_s: float = 0.02) -> dict[str, Any]:
    """The memory after these positions, velocities and commands."""
    memory = seen.fresh()
    for row in rows:
        inputs = zip(("hinge.position", "hinge.velocity", "motor"), row, strict=True)
        memory = seen.look(memory, {name: jnp.array([value]) for name, value in inputs}, dt_s)
    return memory


def of_kind(seen: Sight, memory: dict[str, Any], kind: str) -> list[float]:
    return np.asarray(seen.numbers(memory))[list(seen.columns(kind))].tolist()


def test_a_sight_says_where_each_kind_of_number_stands() -> None:
    seen = sight(turns=False, history=3, recall=4)
    memory = looked(seen, [(0.0, 1.0, 5.0), (0.1, 2.0, 7.0), (0.3, 4.0, 1.0)])
    assert seen.width == len(seen.numbers(memory)) == sum(seen.widths.values())
    assert of_kind(seen, memory, "place") == pytest.approx([0.3])
    assert of_kind(seen, memory, "velocity") == [4.0]
    assert of_kind(seen, memory, "command") == [1.0]
    assert of_kind(seen, memory, "lately") == [2.0, 3.0]
    assert of_kind(seen, memory, "lags") == [-6.0, -4.0, 1.0]  # nothing was sent before the first


def test_what_is_dragged_along_stretches_with_the_joint_and_slips() -> None:
    """With a span of 1 the elements slip at 0.01, 0.03, 0.1 and 0.3: forth by 0.2, back by 0.05."""
    went = [(0.0, 0.0, 0.0), (0.2, 0.0, 0.0), (0.15, 0.0, 0.0)]
    forth, back = (of_kind(sight(), looked(sight(), went[:n]), "wound") for n in (2, 3))
    assert forth == pytest.approx([0.01, 0.03, 0.1, 0.2])
    assert back == pytest.approx([-0.01, -0.02, 0.05, 0.15])


def test_what_lasts_of_commands_is_their_size_fading_by_its_time() -> None:
    """One period of 2 volts, then one of -1: what is left of the first, times the present command."""
    memory = looked(sight(), [(0, 0, 2.0), (0, 0, -1.0)])
    left = [-1.0 * 2.0 * (1 - np.exp(-0.02 / tau)) for tau in (0.3, 1.0, 3.0)]
    assert of_kind(sight(), memory, "lasting") == pytest.approx(left, rel=1e-4)


def test_before_anything_was_seen_the_joints_stood_still_and_no_command_was_sent() -> None:
    memory = looked(sight(recall=3), [(0.1, 0.2, 0.3)])
    assert np.allclose(memory["frames"], [[0.1, 0.2, 0.3], [0.1, 0.2, 0.0], [0.1, 0.2, 0.0]])
    assert not np.asarray(memory["wound"]).any()


def test_a_residual_hears_what_was_sent_and_how_joints_moved_before_a_window(
    pendulum: MujocoSimulator, simulate: Callable[..., Log], lively_commands: Callable[..., Signals]
) -> None:
    simulator = beside(pendulum, silent(recall=9, heard=8))
    log = simulate(pendulum, {}, lively_commands(pendulum.interface, 40))
    period_s, begin = pendulum.interface.period_s, 20
    holds = holds_of([log], np.zeros(1, int), np.array([begin * period_s]))
    params = {p.name: np.array([p.nominal]) for p in simulator.parameters if p.name != "command.latency"}
    start = {"hinge.position": np.array([[angles(log)[begin]]])}
    memory = simulator.play_and_recall(params, start, holds, np.array([[period_s]]))[1]["residual"]
    frames = np.asarray(memory["hinge.force"]["frames"])[0]
    sent = log.commands["motor"][begin - 8 : begin + 1, 0][::-1]
    assert np.allclose(frames[:, 2], sent, atol=0.03)  # half a time step of lead
    assert np.allclose(frames[:, 0], angles(log)[begin - 8 : begin + 1][::-1], atol=1e-5)
    rates = np.diff(angles(log))[begin - 8 : begin] / period_s
    assert np.allclose(frames[1:, 1], rates[::-1], atol=1e-4)


def test_a_damaged_residual_is_refused(tmp_path: Path) -> None:
    save_residual(tmp_path, loud())
    (tmp_path / "residual.safetensors").write_bytes(b"\0" * 64)
    with pytest.raises(GaplessError, match="damaged"):
        load_residual(tmp_path)
    (tmp_path / "residual.json").write_text('{"format": 2, "corrections": [{}]}')
    with pytest.raises(GaplessError, match="not the description of a residual"):
        load_residual(tmp_path)


def test_a_residual_of_another_format_is_refused(tmp_path: Path) -> None:
    save_residual(tmp_path, loud())
    path = tmp_path / "residual.json"
    path.write_text(path.read_text().replace('"format": 2', '"format": 1'))
    with pytest.raises(GaplessError, match=r"format 1, and 2 is what is read.*Learn the residual again"):
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
