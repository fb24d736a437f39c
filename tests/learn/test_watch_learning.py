"""A watch learned from a belief: healthy episodes do not alarm it, a motor that weakens in the middle of one does."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gapless import robots
from gapless.core import Block, Disturbance, GaplessError, Interface, Log, Params, Point, Signals
from gapless.learn.watch import Healthy, LearntWatch, LearnWatch, learn_watch
from gapless.learn.watch_robot import by_own_episodes
from gapless.learn.watch_rows import columns_of
from gapless.nets.fitting import FitNetwork
from gapless.nets.watch_apart import Apart, one_reading
from gapless.nets.watch_together import Together
from gapless.nets.watched import Watched
from gapless.robots.cartpole import INTERFACE
from gapless.simulators import Disturbed, JaxCartpole, Rollout, logs_of, read_parameters
from gapless.tasks import SwingUp

NOISE = {"cart.position.noise": 2e-4, "pole.angle.noise": 1.5e-3, "motor.gain": 1.2}
RECIPE = LearnWatch(
    worlds=32, enough=8, frames=6, horizons=(1, 8), hidden=(24, 1), fit=FitNetwork(steps=400, batch=128)
)


class Sways(Block):
    """A command that swings, whatever is seen."""

    interface: Interface = eqx.field(static=True)

    def init(self, key: Any) -> Any:
        return jnp.zeros(())

    def step(self, params: Params, memory: Any, inputs: Signals, dt_s: float, key: Any) -> tuple[Any, Signals]:
        return memory + dt_s, {"motor": jnp.reshape(3 * jnp.sin(6 * memory), (1,))}


class Short(SwingUp):
    seconds = 3.0


@pytest.fixture(scope="module")
def healthy() -> Healthy:
    listed = read_parameters(Path(robots.__file__).parent / "models" / "cartpole.toml")
    belief = Point(tuple(NOISE), np.array(list(NOISE.values())))
    return Healthy(JaxCartpole(INTERFACE, listed, 5), belief, Short(), Sways(INTERFACE))


@pytest.fixture(scope="module")
def learnt(healthy: Healthy) -> LearntWatch:
    return learn_watch(healthy, [], RECIPE, jax.random.key(0))


def motor_at_the_end(healthy: Healthy, learnt: LearntWatch, wrong: list[Disturbance]) -> np.ndarray:
    """The command of the last half second of 24 watched episodes, the largest of each."""
    simulator: JaxCartpole = healthy.simulator.with_worlds(24)  # pyright: ignore[reportAssignmentType]
    rollout = Rollout(Disturbed(simulator, wrong), healthy.task)
    watched = Watched(healthy.policy, learnt.watch)
    logs = logs_of(rollout.run(watched, {k: np.full(24, v) for k, v in NOISE.items()}, jax.random.key(5)), simulator)
    return np.array([np.abs(log.commands["motor"][-25:]).max() for log in logs])


def test_healthy_episodes_go_on_to_their_end(healthy: Healthy, learnt: LearntWatch) -> None:
    assert np.all(motor_at_the_end(healthy, learnt, []) > 1.0)


@pytest.mark.parametrize(
    "wrong",
    [
        Disturbance("param", "motor.gain", times=0.5, from_s=1.5),
        Disturbance("sensor", "cart.position", add=0.02, from_s=1.5),
    ],
)
def test_what_breaks_in_the_middle_is_handed_over(healthy: Healthy, learnt: LearntWatch, wrong: Disturbance) -> None:
    assert np.all(motor_at_the_end(healthy, learnt, [wrong]) == 0.0)


def test_no_healthy_episode_comes_near_the_threshold_while_the_robot_has_not_shown_itself(learnt: LearntWatch) -> None:
    assert np.mean(learnt.simulated > 1) == 0.0 and len(learnt.real) == 0
    assert learnt.widened == 1.0


def test_a_robot_unlike_its_simulations_widens_what_is_still_well(
    healthy: Healthy, learnt: LearntWatch, simulate: Callable
) -> None:
    robot = {k: np.full(1, v) for k, v in NOISE.items()} | {"motor.gain": np.full(1, 1.0)}
    commands = {"motor": 3 * np.sin(0.12 * np.arange(150))[:, None]}
    logs = [simulate(healthy.simulator, robot, commands, seed=k) for k in range(3)]
    wider = learn_watch(healthy, logs, RECIPE, jax.random.key(0))
    assert wider.widened > 1.2 and type(wider.watch) is Together
    assert np.all(wider.real <= 1 / RECIPE.margin + 1e-6)  # what the robot did is well by a margin


ROBOT = {k: np.full(9, v) for k, v in NOISE.items()} | {"motor.gain": np.full(9, 1.1)}
"""One whose motor is weaker than simulated."""


@pytest.fixture(scope="module")
def its_logs(healthy: Healthy) -> list[Log]:
    rollout = Rollout(healthy.simulator.with_worlds(9), healthy.task)
    return logs_of(rollout.run(healthy.policy, ROBOT, jax.random.key(3)), rollout.simulator)


@pytest.fixture(scope="module")
def own(healthy: Healthy, learnt: LearntWatch, its_logs: list[Log]) -> LearntWatch:
    """A watch that has seen nine healthy episodes of that robot."""
    simulated = healthy.episodes(9, jax.random.key(4))
    return by_own_episodes(learnt.watch, simulated, [columns_of(log) for log in its_logs], RECIPE)


def test_episodes_of_the_robot_say_what_is_well(own: LearntWatch) -> None:
    assert len(own.real) == 9 and all(look.lean is not None for look in own.watch.looks)
    assert np.all(own.real <= 1 / RECIPE.own_margin(9) + 1e-6)
    assert RECIPE.own_margin(20) == pytest.approx(1.5)
    assert np.all(np.asarray(own.watch.threshold) >= one_reading() - 1e-4)


@pytest.mark.slow
def test_looks_that_would_gain_little_stay_as_they_are(
    healthy: Healthy, learnt: LearntWatch, its_logs: list[Log]
) -> None:
    simulated, rows = healthy.episodes(16, jax.random.key(4)), [columns_of(log) for log in its_logs]
    found = by_own_episodes(learnt.watch, simulated, rows, replace(RECIPE, pays=0.0))
    assert all(look.lean is None for look in found.watch.looks) and found.widened > 1.0
    assert np.all(found.real <= 1 / RECIPE.margin + 1e-6) and np.mean(found.simulated > 1) < 0.1


@pytest.mark.slow
def test_once_there_are_enough_of_them_sums_are_apart(healthy: Healthy, its_logs: list[Log]) -> None:
    assert type(learn_watch(healthy, its_logs, RECIPE, jax.random.key(0)).watch) is Apart


def test_a_fault_of_a_robot_that_was_seen_is_handed_over(healthy: Healthy, own: LearntWatch) -> None:
    simulator: JaxCartpole = healthy.simulator.with_worlds(9)  # pyright: ignore[reportAssignmentType]
    watched, last = Watched(healthy.policy, own.watch), []
    for wrong in ([], [Disturbance("param", "motor.gain", times=0.7, from_s=1.5)]):
        logs = logs_of(
            Rollout(Disturbed(simulator, wrong), healthy.task).run(watched, ROBOT, jax.random.key(6)), simulator
        )
        last.append(np.array([np.abs(log.commands["motor"][-25:]).max() for log in logs]))
    assert np.all(last[0] > 1.0) and np.all(last[1] == 0.0)


def test_an_episode_that_is_over_at_once_cannot_be_watched(healthy: Healthy) -> None:
    class Blink(SwingUp):
        seconds = 0.1

    brief = Healthy(healthy.simulator, healthy.belief, Blink(), healthy.policy)
    with pytest.raises(GaplessError, match="too early to watch it"):
        learn_watch(brief, [], RECIPE, jax.random.key(0))
