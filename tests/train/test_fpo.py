"""Flow matching policy gradients: the loss, the ratio and the trust region are the papers', and what pays is learnt."""

from dataclasses import replace
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gapless.core import GaplessError, Task, Uniform
from gapless.nets.flow_policy import FlowPolicy
from gapless.nets.stored_policy import load_policy, save_policy
from gapless.simulators import JaxCartpole, MujocoSimulator
from gapless.train import Fpo, FpoPlusPlus, Look, Place, Ppo
from gapless.train.fpo import FlowMethod, FlowRule, asymmetric, matching

SIZES = {"worlds": 16, "steps": 16, "epochs": 3, "minibatches": 2, "hidden": (8, 1), "flow_steps": 3, "samples": 4}
SMALL, SMALL_PLUS = (kind(**SIZES, budget=16 * 16 * 200) for kind in (Fpo, FpoPlusPlus))
DOUBT = Uniform(("motor.gain",), np.array([1.0]), np.array([2.0]))


@pytest.fixture
def coarse(traced_cartpole: JaxCartpole) -> JaxCartpole:
    """One substep per period: it compiles in half the time."""
    return JaxCartpole(traced_cartpole.interface, traced_cartpole.parameters, 1)


def shifting(value: float) -> eqx.nn.MLP:
    """A field with one velocity everywhere: one seen number, one command, the time."""
    network = eqx.nn.MLP(3, 1, 1, 0, key=jax.random.key(0))
    plain = jnp.zeros((1, 3)), jnp.array([value])
    return eqx.tree_at(lambda n: (n.layers[0].weight, n.layers[0].bias), network, plain)


def test_the_flow_matching_loss_of_a_known_field_is_worked_out_by_hand() -> None:
    seen, unit, noise = jnp.array([0.3]), jnp.array([0.8]), jnp.array([-0.2])
    # The way from −0.2 to 0.8 has velocity 1, at all times: a field of 0.4 is off by 0.6.
    for time in (0.0, 0.7):
        assert float(matching(shifting(0.4), seen, unit, noise, jnp.asarray(time))) == pytest.approx(0.36)
    # A field that is the place itself: after a quarter of the way the command is at 0.05, which is off by 0.95.
    place = eqx.tree_at(lambda n: n.layers[0].weight, shifting(0.0), jnp.array([[0.0, 1.0, 0.0]]))
    assert float(matching(place, seen, unit, noise, jnp.asarray(0.25))) == pytest.approx(0.95**2)


def test_fields_that_only_shift_the_noise_have_the_ratio_of_gaussians(coarse: JaxCartpole, push: Task) -> None:
    """Noise of deviation 0.5 moved by 0.1 and then by 0.3, seen from a command at 0.6, with noises that cancel."""
    recipe = replace(SMALL, noise=0.5)
    rule, noise = FlowRule(recipe, Place(coarse, DOUBT, push), None), jnp.array([[[0.7], [-0.7]]])
    rows = {"seen": jnp.zeros((1, 1)), "unit": jnp.array([[0.6]]), "noise": noise, "time": jnp.array([[0.2, 0.9]])}
    change = rule._matching(shifting(0.1), rows) - rule._matching(shifting(0.3), rows)
    gaussians = (-((0.6 - 0.3) ** 2) + (0.6 - 0.1) ** 2) / (2 * 0.5**2)
    assert float(change.mean()) == pytest.approx(gaussians, rel=1e-5)
    loss, kl = replace(recipe, clip=10.0).objective(change, jnp.array([2.0]))
    assert float(loss) == pytest.approx(-2.0 * np.exp(gaussians), rel=1e-5)
    assert float(kl) == pytest.approx(np.exp(gaussians) - 1 - gaussians, rel=1e-4)


def test_one_ratio_for_each_command_is_clipped_as_in_ppo() -> None:
    # Changes that average to log 1.5 and log 0.5: a gain of 2 pays for 1.2 at most, a loss of 2 is not softened below 0.8.
    change = jnp.log(jnp.array([[1.5, 1.5], [0.25, 1.0]]))
    loss, _ = replace(SMALL, clip=0.2).objective(change, jnp.array([2.0, -2.0]))
    assert float(loss) == pytest.approx(-(1.2 * 2.0 - 0.8 * 2.0) / 2)


def test_what_gained_is_clipped_and_what_lost_is_held_by_a_parabola() -> None:
    change, gain = jnp.log(jnp.array([[1.5, 1.0], [0.5, 1.0]])), jnp.array([2.0, -2.0])
    loss, _ = replace(SMALL_PLUS, clip=0.2).objective(change, gain)
    held = 0.5 * -2.0 - 2.0 * 0.5**2 / (2 * 0.2)
    assert float(loss) == pytest.approx(-(1.2 * 2.0 + 2.0 + held - 2.0) / 4)


def test_a_command_that_lost_is_pushed_away_as_far_as_the_trust_region_and_pulled_back_from_beyond() -> None:
    slope = jax.grad(lambda ratio: asymmetric(jnp.log(ratio), jnp.asarray(-1.0), 0.2)[0])
    assert float(slope(0.9)) > 0 > float(slope(0.7))
    assert float(slope(0.8)) == pytest.approx(0.0, abs=1e-5)
    gained = jax.grad(lambda ratio: asymmetric(jnp.log(ratio), jnp.asarray(1.0), 0.2)[0])
    assert float(gained(1.1)) == pytest.approx(-1.0) and float(gained(1.3)) == 0.0


@pytest.mark.parametrize("recipe", [pytest.param(SMALL, marks=pytest.mark.slow), SMALL_PLUS], ids=["fpo", "fpo++"])
def test_flows_learn_what_pays_and_leave_as_they_are(
    coarse: JaxCartpole, push: Task, recipe: FlowMethod, tmp_path: Path
) -> None:
    run = recipe.learning(Place(coarse, DOUBT, push), jax.random.key(0))
    rewards = [run.iterate(key)["reward"] / 0.02 for key in jax.random.split(jax.random.key(1), 30)]
    assert abs(rewards[0]) < 0.2
    assert np.mean(rewards[-5:]) > 0.5
    save_policy(tmp_path, run.policy)
    look = Look(coarse, DOUBT, push, 4, jax.random.key(2))
    assert look.at(load_policy(tmp_path)) == look.at(run.policy)


@pytest.mark.slow
def test_flows_learn_in_worlds_that_are_stepped(cartpole: MujocoSimulator, push: Task) -> None:
    run = SMALL_PLUS.learning(Place(cartpole, DOUBT, push), jax.random.key(0))
    rewards = [run.iterate(key)["reward"] / 0.02 for key in jax.random.split(jax.random.key(1), 30)]
    assert np.mean(rewards[-5:]) > rewards[0] + 0.3


def test_recipes_go_on_from_policies_of_their_own_kind_only(coarse: JaxCartpole, push: Task) -> None:
    place = Place(coarse, DOUBT, push)
    flow = FlowRule(SMALL, place, None).new(jax.random.key(0)).policy
    again = FlowRule(SMALL_PLUS, place, flow).new(jax.random.key(1))
    assert isinstance(again.policy, FlowPolicy) and eqx.tree_equal(again.policy, flow) and float(again.hold) > 0
    with pytest.raises(GaplessError, match="'ppo' goes on from a NetworkPolicy and was given a FlowPolicy"):
        Ppo(worlds=4, steps=4).learning(place, jax.random.key(0), flow)


def test_batches_that_do_not_divide_into_pieces_are_refused() -> None:
    with pytest.raises(GaplessError, match="3 worlds × 5 steps do not divide into 4 minibatches"):
        Fpo(worlds=3, steps=5)
