"""MAML, NoRML and ES-MAML from end to end: prepared in simulation, they make a policy for a machine that they know by logs."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gapless.core import GaplessError, Log
from gapless.nets.policy import NetworkPolicy, Shape, new_policy
from gapless.nets.seeing import SeeingPolicy
from gapless.nets.stored_policy import load_policy, save_policy
from gapless.nets.teachable import by_gradient, by_steps
from gapless.simulators import MujocoSimulator, Rollout, logs_of
from gapless.train import Place, Ppo, Train
from gapless.train.adapting import Adapter, EsMaml, Evolution, Gradients, Maml, Means, Norml
from gapless.train.meta.from_log import rows_of
from gapless.train.meta.gradients import LearnsByGradient
from gapless.train.meta.trials import Actors, Trials, everywhere, quiet

KEY = jax.random.key(0)
RECIPE = Train(Ppo(worlds=8, steps=8, budget=8 * 8 * 2, hidden=(8, 1)), looks=1, worlds=2)
CLIMBS = EsMaml(3, Evolution(pairs=16, tasks=2, after=1, iterations=24, rate=0.1), (8, 1), looks=2)
GOES_DOWN_SLOPES = Gradients(tasks=16, after=2, iterations=40, rate=1e-2, inner_rate=10.0)


def means(folder: Path | None = None) -> Means:
    return Means(RECIPE, RECIPE, KEY, folder=folder)


class Machine:
    """A motor with a hidden gain, of which there are logs and returns."""

    def __init__(self, place: Place, gain: float) -> None:
        self.params, self.rollout = (
            {"motor.gain": np.array([gain])},
            Rollout(place.simulator.with_worlds(1), place.task),
        )

    def log(self, policy: SeeingPolicy, seed: int) -> Log:
        return logs_of(self.rollout.run(policy, self.params, jax.random.key(seed)), self.rollout.simulator)[0]

    def worth(self, policy: SeeingPolicy) -> float:
        return float(self.rollout.run(policy, self.params, KEY).returns[0])


def adapted(adapter: Adapter, prepared: SeeingPolicy, place: Place, machine: Machine) -> tuple[NetworkPolicy, int]:
    """What it keeps for this machine, and the episodes that it asked for."""
    tries, count = adapter.tries(prepared, place, means()), 0
    policy = next(tries)
    while True:
        try:
            policy = tries.send(machine.log(policy, count))
            count += 1
        except StopIteration as kept:
            return kept.value, count + 1


def bits(tree: Any) -> list[bytes]:
    return [np.asarray(x).tobytes() for x in jax.tree.leaves(eqx.filter(tree, eqx.is_array))]


def fits_both_wirings(adapter: Adapter, place: Place) -> None:
    prepared = adapter.prepared(place, means())
    for gain in (1.5, -0.9):
        machine = Machine(place, gain)
        policy, episodes = adapted(adapter, prepared, place, machine)
        assert type(policy) is NetworkPolicy
        assert episodes == adapter.episodes
        assert machine.worth(policy) > 0.35  # of at most 0.8; who goes the wrong way has less than nothing


@pytest.mark.slow
def test_climbing_fits_motors_wired_either_way(run_right: Place) -> None:
    fits_both_wirings(CLIMBS, run_right)


@pytest.mark.slow
def test_steps_without_reward_fit_motors_wired_either_way(run_right: Place) -> None:
    fits_both_wirings(Norml(1, GOES_DOWN_SLOPES, (8, 1), looks=2), run_right)


@pytest.mark.slow
def test_a_guide_shows_which_step_fits_which_wiring(run_right: Place, told_gain: NetworkPolicy) -> None:
    policy = new_policy(run_right.simulator.interface, run_right.task.observe, Shape((8, 1)), KEY)
    recipe = replace(GOES_DOWN_SLOPES, iterations=20, guided=1.0)
    outer = LearnsByGradient(run_right, recipe, 1, by_gradient(policy, 8, KEY), False, told_gain)
    for k in range(20):
        outer.iterate(jax.random.fold_in(KEY, k))
    assert outer.value(KEY) > 0.35  # of at most 0.8, in both wirings together


@pytest.mark.slow
def test_a_guide_is_trained_where_one_is_asked_for(run_right: Place) -> None:
    told: list[int] = []
    asked = replace(GOES_DOWN_SLOPES, iterations=2, guided=0.5)
    prepared = Norml(1, asked, (8, 1), looks=1).prepared(
        run_right, replace(means(), tell=lambda steps, _: told.append(steps))
    )
    assert told == [RECIPE.method.budget, 2]
    assert prepared.told == ()


@pytest.mark.slow
def test_steps_by_reward_fit_motors_wired_either_way(run_right: Place) -> None:
    fits_both_wirings(Maml(3, GOES_DOWN_SLOPES, (8, 1), looks=2), run_right)


@pytest.mark.slow
def test_no_reward_reaches_the_step_that_needs_none(run_right: Place) -> None:
    adapter = Norml(1, replace(GOES_DOWN_SLOPES, iterations=2), (8, 1), looks=1)
    prepared, machine = adapter.prepared(run_right, means()), Machine(run_right, 1.0)
    paid = type(run_right.task)()
    paid.reward = lambda before, command, after: command["motor"][..., 0] * 1e6  # type: ignore[method-assign]
    kept = [adapted(adapter, prepared, place, machine)[0] for place in (run_right, run_right._replace(task=paid))]
    assert bits(kept[0]) == bits(kept[1])


@pytest.mark.slow
def test_a_preparation_that_was_interrupted_goes_on_as_one_that_was_not(run_right: Place, tmp_path: Path) -> None:
    small = replace(CLIMBS, outer=replace(CLIMBS.outer, iterations=2))
    whole = small.prepared(run_right, means())
    looks = []

    def stop(steps: int, figures: dict[str, float]) -> None:
        looks.append(steps)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        small.prepared(run_right, replace(means(tmp_path), tell=stop))
    assert looks == [1]
    assert bits(small.prepared(run_right, means(tmp_path))) == bits(whole)


def test_what_is_prepared_is_stored_and_tries_the_same_again(run_right: Place, tmp_path: Path) -> None:
    policy = new_policy(run_right.simulator.interface, run_right.task.observe, Shape((8, 1)), KEY)
    prepared, machine = by_steps(policy, 2, KEY), Machine(run_right, 1.0)
    save_policy(tmp_path, prepared)
    both = [adapted(CLIMBS, p, run_right, machine)[0] for p in (prepared, load_policy(tmp_path))]
    assert bits(both[0]) == bits(both[1])


def test_logs_say_the_same_as_trials(run_right: Place) -> None:
    policy = new_policy(run_right.simulator.interface, run_right.task.observe, Shape((8, 1)), KEY)
    log = Machine(run_right, 1.0).log(policy, 3)
    rows = rows_of(policy, log, 60, run_right.task)
    assert rows.alive.sum() == len(log) - 1 == 40
    assert float(rows.returns) == pytest.approx(run_right.task.score(log), rel=1e-4)
    position = log.measurements["cart.position"][:, 0]
    np.testing.assert_allclose(rows.seen[1:40, 0], np.diff(position)[:39] / 0.02, atol=1e-3)
    np.testing.assert_allclose(rows.seen_next[:39], rows.seen[1:40])
    np.testing.assert_allclose(rows.unit[:40, 0], log.commands["motor"][:40, 0] / 10, atol=1e-6)
    centre = jnp.tanh(jax.vmap(policy.network)(policy.normal(rows.seen)))  # type: ignore[arg-type]
    np.testing.assert_allclose(centre[:40], rows.unit[:40], atol=1e-3)


def test_rows_whose_readings_are_missing_are_not_alive(run_right: Place) -> None:
    policy = new_policy(run_right.simulator.interface, run_right.task.observe, Shape((8, 1)), KEY)
    log = Machine(run_right, 1.0).log(policy, 3)
    log.measurements["cart.position"][7] = np.nan
    rows = rows_of(policy, log, 50, run_right.task)
    assert np.flatnonzero(~np.asarray(rows.alive)).tolist() == [6, 7, *range(40, 50)]
    assert np.isfinite(rows.seen).all()
    assert np.isfinite(rows.returns)


def test_trials_run_in_mujoco_as_well(cartpole: MujocoSimulator, run_right: Place) -> None:
    place = run_right._replace(simulator=cartpole)
    policy = new_policy(cartpole.interface, place.task.observe, Shape((8, 1)), KEY)
    trials = Trials(place, 4, policy, alike=2)
    networks = everywhere(eqx.filter(policy.network, eqx.is_array), 4)
    gains = {"motor.gain": np.array([1.0, 1.0, -1.0, -1.0])}
    rows = trials.run(Actors(networks, policy.shift, policy.scale, quiet(policy)), gains, KEY)
    assert rows.seen.shape == (4, 40, 1)
    assert bool(rows.alive.all())
    expected = [float(Machine(place, 1.0).rollout.task.seconds)] * 4
    assert (np.abs(rows.returns) <= expected).all()


def test_only_policies_that_it_prepared_are_changed(run_right: Place) -> None:
    policy = new_policy(run_right.simulator.interface, run_right.task.observe, Shape((8, 1)), KEY)
    for adapter in (CLIMBS, Maml(), Norml()):
        with pytest.raises(GaplessError, match="Prepare anew"):
            next(adapter.tries(policy, run_right, means()))


def test_settings_that_leave_nothing_to_try_are_refused() -> None:
    with pytest.raises(GaplessError, match="two episodes"):
        EsMaml(1)
    with pytest.raises(GaplessError, match="one episode"):
        Norml(0)
