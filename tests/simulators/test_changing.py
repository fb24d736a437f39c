"""Parameters that change within an episode: when, to what, whom it is told, and the same in every kind of simulator."""

from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

from gapless import robots
from gapless.core import Change, Disturbance, GaplessError, Simulator, prior_belief
from gapless.nets.policy import Shape, new_policy
from gapless.robots.arm import INTERFACE as ARM
from gapless.robots.cartpole import INTERFACE as CART
from gapless.simulators import (
    Changing,
    Disturbed,
    JaxCartpole,
    MujocoSimulator,
    Rollout,
    changing,
    load_model,
    read_parameters,
)
from gapless.tasks import HoldLoad, SwingUp
from gapless.train import Ppo, Train, train
from gapless.train.experience import drawn_params, known_width
from gapless.train.learning import Place

MODELS = Path(robots.__file__).parent / "models"
LOADED = Change("payload.mass", 0.3, 0.3, 0.1, 0.1)


def arm(worlds: int = 1) -> MujocoSimulator:
    return MujocoSimulator(load_model(MODELS / "arm.xml"), ARM, read_parameters(MODELS / "arm.toml"), worlds)


def cart(worlds: int = 1) -> JaxCartpole:
    return JaxCartpole(CART, read_parameters(MODELS / "cartpole.toml"), 5, worlds)


def key_of(simulator: Simulator, seed: int) -> Any:
    return jax.random.key(seed) if simulator.traceable else np.array([0, seed], np.uint32)


def run(simulator: Simulator, periods: int, seed: int = 0, at: dict[int, dict[str, float]] | None = None) -> Any:
    """Measurements and privileged signals of every period under steady commands; `at` changes parameters by hand."""
    n = simulator.worlds
    everywhere, key = np.ones(n, bool), key_of(simulator, seed)
    state, seen, known = simulator.reset(simulator.init(), everywhere, {}, {}, key)
    rows, told = [seen], [known]
    for k in range(periods):
        if at and k in at:
            state = simulator.change(state, {name: np.full(n, v) for name, v in at[k].items()})
        sent = {name: np.full((n, 1), 4.0) for name in simulator.interface.command_names}
        state, seen, known = simulator.step(state, sent, key)
        rows.append({name: np.array(v) for name, v in seen.items()})
        told.append({name: np.array(v) for name, v in known.items()})
    return rows, told


@pytest.mark.parametrize(
    ("plain", "change"),
    [(arm, LOADED), (cart, Change("motor.gain", 0.7, 0.7, 0.1, 0.1))],
    ids=["stepped from Python", "traceable"],
)
def test_a_change_at_a_set_time_is_what_a_hand_would_have_done_then(plain: Any, change: Change) -> None:
    rows, told = run(Changing(plain(), (change,)), 12)
    by_hand, _ = run(plain(), 12, at={5: {change.param: change.low}})
    untouched, _ = run(plain(), 12)
    for name in rows[0]:
        assert all(np.allclose(a[name], b[name], atol=1e-6) for a, b in zip(rows, by_hand, strict=True))
    assert any(np.abs(rows[-1][name] - untouched[-1][name]).max() > 1e-4 for name in rows[0])
    nominal = next(p.nominal for p in plain().parameters if p.name == change.param)
    values = [float(t[change.param][0, 0]) for t in told]
    assert np.allclose(values[:6], nominal)
    assert np.allclose(values[6:], change.low)


def test_every_world_has_its_own_time_and_load_and_begins_anew_without_it() -> None:
    simulator = Changing(arm(64), HoldLoad.changes)
    _, told = run(simulator, 200)
    loads = np.array([t["payload.mass"][:, 0] for t in told])
    hung = np.argmax(loads > 0.1, axis=0) - 1
    assert (hung >= 1.2 / 0.02 - 1).all()
    assert (hung <= 2.0 / 0.02 + 1).all()
    assert len(set(hung)) > 10
    assert 0.15 <= loads.max(axis=0).min() <= loads.max(axis=0).max() <= 0.45
    assert np.allclose(loads[-1], 0.05)
    state, _, _ = simulator.reset(simulator.init(), np.ones(64, bool), {}, {}, key_of(simulator, 0))
    for _ in range(110):
        state, _, known = simulator.step(state, {n: np.zeros((64, 1)) for n in ARM.command_names}, key_of(simulator, 0))
    where = np.arange(64) < 8
    _, _, known = simulator.reset(state, where, {}, {}, key_of(simulator, 1))
    assert np.allclose(known["payload.mass"][where], 0.05)
    assert (known["payload.mass"][~where] > 0.1).all()


def test_a_snapshot_keeps_what_will_change() -> None:
    simulator = Changing(arm(), (LOADED,))
    key, sent = key_of(simulator, 0), {n: np.ones((1, 1)) for n in ARM.command_names}
    state, _, _ = simulator.reset(simulator.init(), np.ones(1, bool), {}, {}, key)
    kept, ends = simulator.snapshot(state), []
    for again in (False, True):
        state = simulator.restore(kept) if again else state
        for _ in range(9):
            state, seen, _ = simulator.step(state, sent, key)
        ends.append(np.array(seen["elbow.angle"]))
    assert np.array_equal(*ends)


def test_what_changes_may_be_disturbed_too() -> None:
    weak = Disturbance("param", "payload.mass", times=2.0, from_s=0.2)
    _, told = run(Changing(Disturbed(arm(), (weak,)), (LOADED,)), 14)
    both, _ = run(Changing(Disturbed(arm(), (weak,)), (LOADED,)), 14)
    by_hand, _ = run(arm(), 14, at={5: {"payload.mass": 0.3}, 10: {"payload.mass": 0.6}})
    assert np.allclose(both[-1]["elbow.angle"], by_hand[-1]["elbow.angle"], atol=1e-6)
    assert told[-1]["payload.mass"][0, 0] == pytest.approx(0.3)


def test_a_task_without_changes_leaves_the_simulator_as_it_is_and_an_unknown_parameter_is_named() -> None:
    plain = arm()
    assert changing(plain, SwingUp()) is plain
    once = changing(plain, HoldLoad())
    assert changing(once, HoldLoad()) is once
    with pytest.raises(GaplessError, match=r"changes 'payload.mass' within an episode, and the simulator has no such"):
        changing(cart(), HoldLoad())


@pytest.mark.slow
def test_critics_and_teachers_are_told_what_has_changed_and_policies_are_not() -> None:
    simulator, task = arm(), HoldLoad()
    unloaded = tuple(p for p in simulator.parameters if p.name != "payload.mass")
    place = Place(simulator, prior_belief(unloaded), task)
    assert drawn_params(place)[-1] == "payload.mass"
    assert known_width(place) == task.observe.width(ARM) + 4 + len(drawn_params(place))
    small = Ppo(worlds=4, steps=16, minibatches=1, epochs=1, hidden=(8, 1), budget=64, told=("payload.mass",))
    assert np.isfinite(train(simulator, place.belief, task, Train(small, looks=1, worlds=2), jax.random.key(0)).value)


def test_episodes_of_the_task_are_loaded_wherever_they_are_rolled_out() -> None:
    shape = Shape((8, 1))
    policy = new_policy(ARM, HoldLoad.observe, shape, jax.random.key(0))
    rollout = Rollout(arm(4), HoldLoad())
    assert isinstance(rollout.simulator, Changing)
    episodes = rollout.run(policy, {}, jax.random.key(1))
    assert np.isfinite(episodes.returns).all()
