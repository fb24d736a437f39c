"""FastTD3 and FastSAC: they learn what pays, and their parts are what the papers say."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gapless.core import GaplessError, Task, Uniform
from gapless.nets.flow_policy import FlowShape, new_flow
from gapless.nets.policy import Shape, new_policy
from gapless.nets.stored_policy import load_policy, save_policy
from gapless.simulators import JaxCartpole, MujocoSimulator
from gapless.train import Along, Checkpoint, FastSac, FastTd3, Method, Place, ShortHorizon, Train, train
from gapless.train.fast_sac import tempered
from gapless.train.fast_td3 import FastTd3Rule
from gapless.train.off_policy import OffPolicy
from gapless.train.squash import squashed

TINY = {
    "worlds": 8, "steps": 8, "updates": 8, "rows": 32, "remembered": 2048, "warm_up": 128, "hidden": (8, 1),
    "critic_hidden": (16, 1), "atoms": 11, "discount": 0.9, "rate": 1e-2, "budget": 8 * 8 * 30,
}  # fmt: skip
METHODS: dict[str, Callable[[], OffPolicy]] = {
    "td3": lambda: FastTd3(**TINY),  # type: ignore[arg-type]
    "sac": lambda: FastSac(**TINY),  # type: ignore[arg-type]
}
DOUBT = Uniform(("pole.mass", "motor.gain"), np.array([0.1, 1.0]), np.array([0.2, 2.0]))


@pytest.fixture
def coarse(traced_cartpole: JaxCartpole) -> JaxCartpole:
    return JaxCartpole(traced_cartpole.interface, traced_cartpole.parameters, 1)


@pytest.mark.parametrize("name", ["td3", pytest.param("sac", marks=pytest.mark.slow)])
def test_they_learn_what_pays_within_seconds(coarse: JaxCartpole, push: Task, name: str, tmp_path: Path) -> None:
    run = METHODS[name]().learning(Place(coarse, DOUBT, push), jax.random.key(0))
    keys = jax.random.split(jax.random.key(1), 30)
    rewards = [run.iterate(key)["reward"] / 0.02 for key in keys]
    assert abs(rewards[0]) < 0.3
    assert np.mean(rewards[-5:]) > 0.6
    assert int(run.learner.taken) == run.steps_done == 30 * 64
    assert np.asarray(run.learner.paid) == pytest.approx([-0.02, 0.02], abs=2e-3)
    save_policy(tmp_path, run.policy)
    seen = jnp.ones(len(run.policy.shift))
    unit = run.policy.think({}, seen)[1]
    assert (load_policy(tmp_path).think({}, seen)[1] == unit).all()
    assert float(unit[0]) > 0.6


def test_nothing_is_learnt_while_commands_are_random(coarse: JaxCartpole, push: Task) -> None:
    run = METHODS["td3"]().learning(Place(coarse, DOUBT, push), jax.random.key(0))
    before = run.policy.network
    moved = []
    for key in jax.random.split(jax.random.key(1), 3):
        notes = run.iterate(key)
        moved.append(any((a != b).any() for a, b in zip(_arrays(before), _arrays(run.policy.network), strict=True)))
    assert moved == [False, False, True]
    assert np.isfinite(notes["surprise"])


@pytest.mark.slow
@pytest.mark.parametrize("name", METHODS)
def test_simulators_stepped_from_outside_teach_the_same(cartpole: MujocoSimulator, push: Task, name: str) -> None:
    run = METHODS[name]().learning(Place(cartpole, DOUBT, push), jax.random.key(0))
    rewards = [run.iterate(key)["reward"] / 0.02 for key in jax.random.split(jax.random.key(1), 30)]
    assert np.mean(rewards[-5:]) > 0.6


@pytest.mark.slow
def test_an_interrupted_training_remembers_what_it_saw(coarse: JaxCartpole, push: Task, tmp_path: Path) -> None:
    recipe = Train(replace(METHODS["sac"](), budget=8 * 8 * 6), looks=3, worlds=4, patience=9)
    whole = train(coarse, DOUBT, push, recipe, jax.random.key(0))
    kept = Checkpoint(tmp_path / "kept")
    with pytest.raises(KeyboardInterrupt):
        train(coarse, DOUBT, push, recipe, jax.random.key(0), Along(checkpoint=kept, tell=_interrupt))
    again = train(coarse, DOUBT, push, recipe, jax.random.key(0), Along(checkpoint=kept))
    assert again.curve == whole.curve


def test_the_boldest_world_explores_most(coarse: JaxCartpole, push: Task) -> None:
    rule = FastTd3Rule(FastTd3(noise=(0.0, 0.5)), Place(coarse, DOUBT, push), None)
    policy = new_policy(coarse.interface, push.observe, Shape((8, 1)), jax.random.key(0))
    seen = jnp.zeros((3, len(policy.shift)))
    centre = rule.intended(policy, (), seen, jax.random.key(0)).unit
    keys = jax.random.split(jax.random.key(1), 4000)
    off = jax.vmap(lambda k: rule.explored(policy, (), seen, k) - centre)(keys)
    assert np.asarray(off.std(0))[:, 0] == pytest.approx([0.0, 0.25, 0.5], rel=0.05)


def test_the_squashed_likelihood_counts_how_tanh_stretches() -> None:
    unit, found = squashed(jnp.array([0.3]), jnp.log(jnp.array([0.5])), jnp.array([1.2]))
    raw = 0.3 + 0.5 * 1.2
    gaussian = -0.5 * 1.2**2 - np.log(0.5) - 0.5 * np.log(2 * np.pi)
    assert float(unit[0]) == pytest.approx(np.tanh(raw))
    assert float(found) == pytest.approx(gaussian - np.log(1 - np.tanh(raw) ** 2), rel=1e-5)
    # Far out, where 1 − tanh² is zero in single precision, the logarithm stays finite: log 4 − 2 · 30.
    _, far = squashed(jnp.array([30.0]), jnp.zeros(1), jnp.zeros(1))
    assert float(far) == pytest.approx(-0.5 * np.log(2 * np.pi) - (np.log(4) - 60), rel=1e-5)


def test_squashed_densities_sum_to_one() -> None:
    units = np.linspace(-0.99999, 0.99999, 200_001)
    noise = (np.arctanh(units) - 0.3) / 0.5
    _, found = squashed(
        jnp.full((len(units), 1), 0.3), jnp.full((len(units), 1), np.log(0.5)), jnp.asarray(noise)[:, None]
    )
    assert np.trapezoid(np.exp(np.asarray(found)), units) == pytest.approx(1.0, abs=1e-3)


def test_the_temperature_rises_where_commands_are_less_random_than_wanted() -> None:
    now = jnp.log(jnp.array(0.1))
    assert float(tempered(now, jnp.array(-1.5), -1.0, 0.01)) == pytest.approx(float(now) + 0.005)
    assert float(tempered(now, jnp.array(-0.5), -1.0, 0.01)) == pytest.approx(float(now) - 0.005)
    assert float(tempered(now, jnp.array(-1.0), -1.0, 0.01)) == pytest.approx(float(now))


def test_policies_with_memory_or_told_params_are_refused(coarse: JaxCartpole, push: Task) -> None:
    for shape in (Shape((8, 1), "gru"), Shape((8, 1), told=("pole.mass",))):
        policy = new_policy(coarse.interface, push.observe, shape, jax.random.key(0))
        with pytest.raises(GaplessError, match="feed-forward"):
            METHODS["td3"]().learning(Place(coarse, DOUBT, push), jax.random.key(0), policy)


def test_a_replay_that_holds_no_batch_is_refused() -> None:
    with pytest.raises(GaplessError, match="does not hold one batch"):
        FastSac(worlds=8, steps=8, remembered=63)


def _arrays(network: object) -> list[jax.Array]:
    return [x for x in jax.tree.leaves(network) if isinstance(x, jax.Array)]


def _interrupt(steps: int, figures: dict[str, float]) -> None:
    if steps >= 8 * 8 * 4:
        raise KeyboardInterrupt


@pytest.mark.parametrize("method", [FastTd3(), FastSac(), ShortHorizon()])
def test_what_another_kind_of_policy_learnt_is_not_gone_on_from(
    coarse: JaxCartpole, push: Task, method: Method
) -> None:
    flow = new_flow(coarse.interface, push.observe, FlowShape(), jax.random.key(0))
    with pytest.raises(GaplessError, match="goes on from a NetworkPolicy and was given a FlowPolicy"):
        method.learning(Place(coarse, DOUBT, push), jax.random.key(0), flow)
