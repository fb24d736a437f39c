"""Generated tasks: made from an interface alone, conforming on every built-in model, kept in a workspace by their text."""

import json
from pathlib import Path

import jax
import numpy as np
import pytest

from gapless.core import GaplessError, Log, on_one_clock
from gapless.core.conformance import check_task
from gapless.engine import Workspace, find_task, new_workspace
from gapless.engine.workspace import built_in_models
from gapless.simulators import MujocoSimulator, load_model, propose_interface, read_parameters, stretches
from gapless.tasks import VERBS, generate
from gapless.tasks.verbs import Goal

CHANNELS = {
    "cartpole": "cart.position",
    "furuta": "arm.angle",
    "puck": "elbow.angle",
    "arm": "elbow.angle",
    "hopper": "hip.angle",
}
LIMITED = """
<mujoco>
  <worldbody><body><joint name="elbow" range="-90 45" limited="true"/><geom size="0.1"/></body></worldbody>
  <actuator><motor name="motor" joint="elbow" ctrlrange="-1 1"/></actuator>
  <sensor><jointpos name="elbow.angle" joint="elbow"/></sensor>
</mujoco>
"""


def built_in(name: str) -> MujocoSimulator:
    path = built_in_models()[name]
    model = load_model(path)
    return MujocoSimulator(model, propose_interface(model, name), read_parameters(path.with_suffix(".toml")))


def made(spec: str, simulator: MujocoSimulator) -> Goal:
    task = generate(spec, simulator.interface, stretches(simulator))
    assert isinstance(task, Goal)
    return task


def log_of(task: Goal, places: np.ndarray) -> Log:
    """A log in which the task's channel goes through these places and nothing else happens."""
    rows, interface = len(places), task.interface
    measured = {c.name: np.zeros((rows, c.width)) for c in interface.measurements} | {task.channel: places[:, None]}
    commands = {c.name: np.zeros((rows, c.width)) for c in interface.commands}
    return on_one_clock(interface, commands, measured, np.arange(rows) * interface.period_s)


@pytest.mark.parametrize("model", CHANNELS)
def test_every_verb_conforms_on_every_built_in_model(model: str) -> None:
    simulator = built_in(model)
    for verb in VERBS:
        assert check_task(made(f"{verb}:{CHANNELS[model]}", simulator), simulator) == []


def test_a_joint_with_limits_keeps_clear_of_them(make_simulator: type[MujocoSimulator]) -> None:
    simulator = make_simulator(LIMITED)
    # From −π/2 to π/4, a tenth of which is kept clear at each end; home is 0, and halfway to the farther end the target.
    low, high = -np.pi / 2 + 0.075 * np.pi, np.pi / 4 - 0.075 * np.pi
    task = made("reach:elbow.angle", simulator)
    assert (task.low, task.high) == (pytest.approx(low), pytest.approx(high))
    assert task.value == pytest.approx(low / 2)
    assert not task.turns


def test_reaching_is_paid_most_at_the_target_and_at_rest() -> None:
    task = made("reach:arm.angle=0.5", built_in("furuta"))
    places = {"there": 0.5, "near": 0.6, "home": 0.0, "round": 0.5 + 2 * np.pi}
    seen = {k: {"arm.angle": np.array([v]), "pendulum.angle": np.zeros(1)} for k, v in places.items()}
    rest = {"motor": np.zeros(1)}
    paid = {k: float(task.reward(s, rest, s)) for k, s in seen.items()}
    assert paid["there"] == pytest.approx(1.0)
    # A tenth of half the stretch away: 0.5 exp(−1/9) + 0.5 (1 − 0.05).
    assert paid["near"] == pytest.approx(0.5 * np.exp(-1 / 9) + 0.475, abs=1e-5)
    assert paid["home"] < paid["near"] and paid["round"] == pytest.approx(1.0, abs=1e-5)
    assert float(task.reward(seen["near"], rest, seen["there"])) < 0.8
    assert float(task.reward(seen["there"], {"motor": np.array([10.0])}, seen["there"])) == pytest.approx(0.98)


def test_the_verdict_is_about_the_end_of_the_log() -> None:
    task = made("reach:arm.angle=0.5", built_in("furuta"))
    way = np.concatenate([np.linspace(0, 0.5, 100), np.full(101, 0.55)])
    assert task.judge(log_of(task, way)).margin == pytest.approx(0.5)
    assert task.judge(log_of(task, way[::-1].copy())).passed is False
    assert task.judge(log_of(task, way[:50])).margin == -1.0
    hold = made("hold:arm.angle=0.5", built_in("furuta"))
    assert hold.judge(log_of(hold, np.full(201, 0.55))).passed
    assert not hold.judge(log_of(hold, way)).passed


def test_recovering_begins_anywhere_and_holding_at_the_target() -> None:
    simulator = built_in("furuta")
    began = {
        v: np.asarray(made(f"{v}:arm.angle=0.5", simulator).start(jax.random.key(0), 500)["arm.position"])
        for v in VERBS
    }
    assert began["hold"].mean() == pytest.approx(0.5, abs=0.02)
    assert began["reach"].mean() == pytest.approx(0.0, abs=0.02)
    assert began["recover"].std() > 5 * began["hold"].std()


def test_a_sine_is_followed_and_neither_rest_nor_another_sine_is() -> None:
    task = made("follow:arm.angle=0.4", built_in("furuta"))
    times = np.arange(201) * 0.02
    right, slow = (0.4 * np.sin(2 * np.pi * hz * times) for hz in (0.5, 0.25))
    assert task.judge(log_of(task, right)).margin > 0.8
    assert not task.judge(log_of(task, slow)).passed
    assert not task.judge(log_of(task, np.full(201, 0.4))).passed
    paid = {
        k: task.score(log_of(task, p)) for k, p in {"right": right, "slow": slow, "rest": np.full(201, 0.4)}.items()
    }
    assert paid["right"] > 1.3 * max(paid["slow"], paid["rest"])


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("reach:knee.angle", "cannot reach with 'knee.angle'.*There are arm.angle, pendulum.angle"),
        ("reach:arm.angle=far", "cannot make a task of 'reach:arm.angle=far'"),
        ("hold:", "cannot make a task of 'hold:'"),
        ("hold:arm.angle=nan", "cannot make a task of"),
    ],
)
def test_a_text_that_is_none_costs_one_sentence(spec: str, said: str) -> None:
    with pytest.raises(GaplessError, match=said):
        made(spec, built_in("furuta"))


def test_a_target_out_of_reach_is_refused(make_simulator: type[MujocoSimulator]) -> None:
    with pytest.raises(GaplessError, match="asks for 2; the joint 'elbow' goes from"):
        made("reach:elbow.angle=2", make_simulator(LIMITED))


def test_a_workspace_keeps_a_generated_task_by_its_text(tmp_path: Path) -> None:
    new_workspace(tmp_path / "arm", "puck", "reach:shoulder.angle=0.4")
    assert json.loads((tmp_path / "arm" / "workspace.json").read_text())["task"] == "reach:shoulder.angle=0.4"
    again = Workspace(tmp_path / "arm")
    task = again.task
    assert isinstance(task, Goal) and task.value == 0.4 and again.claims["task"] == []
    assert check_task(task, again.simulator) == []


def test_without_a_model_there_is_nothing_to_generate_from() -> None:
    with pytest.raises(GaplessError, match="is made for a robot's model"):
        find_task("reach:arm.angle")
    with pytest.raises(GaplessError, match=r"made for any robot are reach:CHANNEL"):
        find_task("juggle")
