"""What a training knows beside its policy: it comes back exactly, finds its place by name, and spares a good policy."""

from dataclasses import replace
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gapless.core import Task, Uniform
from gapless.nets.weights import named_arrays
from gapless.simulators import JaxCartpole
from gapless.train import Along, Checkpoint, FpoPlusPlus, Method, Place, Ppo, Train, train
from gapless.train.learnt import Learnt, learnt_of, load_learnt, put_back, save_learnt

SMALL = Ppo(worlds=16, steps=16, epochs=3, minibatches=2, hidden=(8, 1), budget=16 * 16 * 6)
FLOW = FpoPlusPlus(worlds=16, steps=16, epochs=2, minibatches=2, hidden=(8, 1), budget=16 * 16 * 6)
DOUBT = Uniform(("pole.mass", "motor.gain"), np.array([0.1, 1.0]), np.array([0.2, 2.0]))
MORE = Uniform(("motor.gain", "pole.com", "pole.mass"), np.array([1.0, 0.2, 0.1]), np.array([2.0, 0.3, 0.2]))


@pytest.fixture
def coarse(traced_cartpole: JaxCartpole) -> JaxCartpole:
    """One substep per period: it compiles in half the time."""
    return JaxCartpole(traced_cartpole.interface, traced_cartpole.parameters, 1)


def test_columns_go_where_their_names_are_now_and_new_ones_weigh_nothing() -> None:
    def beside(told: int) -> dict:
        return {"matrix": jnp.full((2, told), 9.0), "mean": jnp.full(told, 7.0), "noise": jnp.zeros(1)}

    before = {"matrix": np.array([[1.0, 2.0], [3.0, 4.0]]), "mean": np.array([5.0, 6.0]), "noise": np.array([0.5])}
    learnt = Learnt("ppo", ("a", "b"), {f"['{k}']": v.astype(np.float32) for k, v in before.items()})
    found = put_back(learnt, ("b", "c", "a"), beside)
    assert np.array_equal(found["matrix"], [[2.0, 0.0, 1.0], [4.0, 0.0, 3.0]])
    assert np.array_equal(found["mean"], [6.0, 7.0, 5.0])
    assert np.array_equal(found["noise"], [0.5])
    assert put_back(learnt._replace(known=("a", "b", "c")), ("b", "a"), beside) is None
    assert put_back(learnt, ("b", "a"), lambda told: {**beside(told), "more": jnp.zeros(1)}) is None
    assert put_back(learnt, ("b", "a"), lambda told: {**beside(told), "noise": jnp.zeros(2)}) is None


def test_it_is_read_as_it_was_written_and_damage_is_no_harm(tmp_path: Path) -> None:
    learnt = learnt_of("ppo", ("a", "b"), {"critic": jnp.arange(6.0).reshape(2, 3), "count": jnp.asarray(3)})
    save_learnt(tmp_path, learnt)
    found = load_learnt(tmp_path)
    assert found is not None
    assert (found.by, found.known, found.arrays.keys()) == ("ppo", ("a", "b"), learnt.arrays.keys())
    assert all(np.array_equal(found.arrays[k], learnt.arrays[k]) for k in learnt.arrays)
    (tmp_path / "learnt.safetensors").write_bytes(b"none")
    assert load_learnt(tmp_path) is None
    assert load_learnt(tmp_path / "nowhere") is None


@pytest.mark.parametrize(
    "method", [pytest.param(SMALL, id="ppo"), pytest.param(FLOW, id="fpo++", marks=pytest.mark.slow)]
)
def test_a_training_goes_on_with_the_critic_of_the_one_before(method: Method, coarse: JaxCartpole, push: Task) -> None:
    before = method.learning(Place(coarse, DOUBT, push), jax.random.key(0))
    before.iterate(jax.random.key(1), 2)
    learnt = before.learnt(before.learner)
    assert learnt is not None
    after = method.learning(Place(coarse, MORE, push), jax.random.key(2), before.policy)
    after.resume(learnt)
    old, new = (np.asarray(one.learner.critic.layers[0].weight) for one in (before, after))
    assert np.array_equal(new[:, :-3], old[:, :-2])
    assert np.array_equal(new[:, [-1, -3]], old[:, -2:])
    assert not new[:, -2].any()
    assert float(after.learner.hold) == 0.0
    assert float(after.learner.critic_observed.count) == float(before.learner.critic_observed.count)
    untouched = method.learning(Place(coarse, MORE, push), jax.random.key(2), before.policy)
    fresh = named_arrays(eqx.filter(untouched.learner.critic, eqx.is_array))
    untouched.resume(learnt._replace(by="another"))
    assert all(
        np.array_equal(a, b)
        for a, b in zip(
            fresh.values(), jax.tree.leaves(eqx.filter(untouched.learner.critic, eqx.is_array)), strict=True
        )
    )


def test_a_training_hands_on_what_it_knew_at_its_best_look_also_after_an_interruption(
    coarse: JaxCartpole, push: Task, tmp_path: Path
) -> None:
    recipe = Train(SMALL, looks=3, worlds=4, patience=9)
    whole = train(coarse, DOUBT, push, recipe, jax.random.key(0))
    along = Along(checkpoint=Checkpoint(tmp_path / "kept"), tell=_interrupt)
    with pytest.raises(KeyboardInterrupt):
        train(coarse, DOUBT, push, recipe, jax.random.key(0), along)
    again = train(coarse, DOUBT, push, recipe, jax.random.key(0), replace(along, tell=lambda steps, figures: None))
    assert whole.learnt is not None
    assert again.learnt is not None
    assert all(np.array_equal(again.learnt.arrays[k], v) for k, v in whole.learnt.arrays.items())
    better = train(coarse, DOUBT, push, replace(recipe, looks=1), jax.random.key(1), Along(whole.policy, whole.learnt))
    assert better.learnt is not None


def _interrupt(steps: int, figures: dict[str, float]) -> None:
    if steps >= 16 * 16 * 4:
        raise KeyboardInterrupt
