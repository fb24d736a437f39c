"""Adapting by delta actions: the robot is asked for its episodes, and the policy is trained where commands are corrected."""

from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gapless.core import Block, GaplessError, nominal_belief
from gapless.engine.delta import Delta, corrected_place, way_of
from gapless.learn.delta_action import DELTA_ACTION
from gapless.simulators import Around, JaxCartpole, MujocoSimulator, rollout
from gapless.simulators.parts import MEMBER
from gapless.tasks import SwingUp
from gapless.train import Place, Ppo, Train
from gapless.train.adapting import Means

KEY = jax.random.key(0)
SMALL = replace(DELTA_ACTION, members=2, rounds=1, windows=48)
SHORT = Train(Ppo(worlds=8, steps=8, budget=8 * 8 * 2, hidden=(8, 1)), looks=1, worlds=2)

NOISE = {"cart.position.noise": np.array([2e-4]), "pole.angle.noise": np.array([1e-3])}


class Offset(Block):
    """A drive that adds a volt and a half to every command."""

    def init(self, key: Any) -> Any:
        return ()

    def step(self, params: Any, memory: Any, inputs: Any, dt_s: float, key: Any) -> Any:
        return (), {"motor.change": jnp.full((1,), 1.5)}


@pytest.fixture
def place(cartpole: MujocoSimulator) -> Place:
    return Place(cartpole, nominal_belief(cartpole.parameters), SwingUp())


@pytest.mark.slow
def test_a_policy_is_trained_further_where_commands_are_corrected(place: Place, cartpole: MujocoSimulator) -> None:
    robot, adapter = cartpole.with_around(Around(residual=Offset())), Delta(4, SMALL)
    means = Means(SHORT, SHORT, KEY)
    prepared = adapter.prepared(place, means)
    tries, logs = adapter.tries(prepared, place, means), []
    policy = next(tries)
    with pytest.raises(StopIteration) as kept:
        while True:
            assert policy is prepared
            logs += rollout(robot.with_worlds(1), NOISE, policy, place.task, jax.random.fold_in(KEY, len(logs)))
            policy = tries.send(logs[-1])
    assert len(logs) == adapter.episodes
    assert kept.value.value.told == ()
    corrected = corrected_place(place, cartpole, logs, SMALL)
    assert corrected is not None
    assert MEMBER in corrected.belief.names
    seen = {"motor": np.zeros((1, 1)), "slider.position": np.zeros((1, 1)), "slider.velocity": np.zeros((1, 1))}
    residual = corrected.simulator.around.residual  # type: ignore[attr-defined]
    one = {k: jnp.asarray(v[0], jnp.float32) for k, v in seen.items()}
    said = residual.step({MEMBER: jnp.asarray(0.5)}, residual.init(KEY), one, 0.02, KEY)[1]
    assert float(said["motor.change"][0]) == pytest.approx(1.5, abs=0.4)


def test_delta_actions_need_mujoco(place: Place, traced_cartpole: JaxCartpole) -> None:
    tries = Delta().tries(None, place._replace(simulator=traced_cartpole), Means(SHORT, SHORT, KEY))  # type: ignore[arg-type]
    with pytest.raises(GaplessError, match="beside MuJoCo"):
        next(tries)


def test_every_way_of_adapting_is_asked_for_by_its_word() -> None:
    for word in ("maml", "norml", "es-maml", "delta", "simopt"):
        assert way_of(word).word == word
    with pytest.raises(GaplessError, match=r"no way of adapting 'magic' \(there are: .*es-maml, delta\)"):
        way_of("magic")
