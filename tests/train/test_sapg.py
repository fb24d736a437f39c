"""Split and aggregate: the leader learns from its followers by their weights, and leaves as a plain policy that is itself."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gapless.core import GaplessError, Task, Uniform
from gapless.nets.policy import NetworkPolicy
from gapless.nets.recall import new_network
from gapless.nets.stored_policy import storable_shape
from gapless.simulators import JaxCartpole, MujocoSimulator
from gapless.train import Place, Sapg
from gapless.train.experience import Sight
from gapless.train.sapg import SapgLearner, SapgRule, aggregated, centres, folded, widened

SMALL = Sapg(worlds=16, steps=16, epochs=3, minibatches=2, hidden=(8, 1), blocks=4, embedding=3, budget=16 * 16 * 200)
DOUBT = Uniform(("motor.gain",), np.array([1.0]), np.array([2.0]))


@pytest.fixture
def rule(traced_cartpole: JaxCartpole, push: Task) -> SapgRule:
    """One substep per period: it compiles in half the time."""
    coarse = JaxCartpole(traced_cartpole.interface, traced_cartpole.parameters, 1)
    return SapgRule(SMALL, Place(coarse, DOUBT, push), None)


def grown(learner: SapgLearner) -> SapgLearner:
    """A learner whose policies differ, the leader's embedding being no longer zero."""
    noise = np.random.default_rng(0)
    network = jax.tree.map(
        lambda x: jnp.asarray(noise.normal(size=x.shape), x.dtype) if isinstance(x, jax.Array) else x, learner.network
    )
    embeddings = jnp.asarray(noise.normal(size=learner.embeddings.shape), jnp.float32)
    return learner._replace(network=network, embeddings=embeddings)


def test_the_leaders_objective_on_others_rows_is_worked_out_by_hand() -> None:
    # The doer was half as likely to do this as the leader was: the trust region lies about the weight 2, from 1.6 to 2.4.
    now, before, doer = (jnp.log(jnp.asarray(p)) for p in ([0.6, 0.6, 0.3, 0.3, 0.5], [0.4] * 5, [0.2] * 5))
    gain = jnp.array([1.0, -1.0, 1.0, -1.0, 0.0])
    assert np.allclose(aggregated(now, before, doer, gain, 0.2), [2.4, -3.0, 1.5, -1.6, 0.0], rtol=1e-5)


def test_on_ones_own_rows_the_objective_is_ppos() -> None:
    now, before = jnp.log(jnp.array([1.5, 0.5])), jnp.zeros(2)
    assert np.allclose(aggregated(now, before, before, jnp.array([2.0, -2.0]), 0.2), [2.4, -1.6], rtol=1e-6)


def test_others_rows_carry_one_step_advantages_and_bounded_weights(rule: SapgRule) -> None:
    learner = grown(rule.new(jax.random.key(0)))
    learner = learner._replace(log_noise=jnp.log(jnp.array([[0.05], [0.5], [0.5], [0.5]])))
    shape, draw = (2, SMALL.worlds), np.random.default_rng(1)
    batch = {name: jnp.asarray(draw.normal(size=shape), jnp.float32) for name in ("reward", "change")}
    width = learner.critic_observed.mean.shape[0]
    known = tuple(jnp.asarray(draw.normal(size=(*shape, width)), jnp.float32) for _ in range(2))
    batch |= {
        "doubt": jnp.zeros(shape),
        "finished": jnp.asarray(draw.random(shape) < 0.5),
        "cut": jnp.ones(shape, bool),
    }
    batch |= {k: jnp.asarray(draw.normal(size=(*shape, n)), jnp.float32) for k, n in (("unit", 1), ("noise", 1))}
    batch["seen"] = jnp.asarray(draw.normal(size=(*shape, len(learner.observed.mean))), jnp.float32)
    own = rule._own(learner, batch, known)
    others = rule._others(learner, batch, known, own)
    leader = jnp.zeros(shape, int)
    centre = centres(learner.network, jnp.broadcast_to(learner.embeddings[0], (*shape, 3)), own["seen"])
    likely = -0.5 * ((batch["unit"] - centre)[..., 0] / 0.05) ** 2 - np.log(0.05)
    assert np.allclose(others["before"], likely, rtol=1e-4)
    value, later = (rule._values(learner, k, leader) for k in known)
    gain = batch["reward"] + SMALL.discount * later * ~batch["finished"] - value
    assert np.allclose(others["target"], gain + value, atol=1e-5)
    assert np.allclose(others["gain"], gain, atol=1e-5)
    assert float(jnp.exp(others["before"] - others["doer"]).max()) == pytest.approx(10.0, rel=1e-4)
    assert (np.asarray(own["before"]) == np.asarray(own["doer"])).all() and (np.asarray(others["block"]) == 0).all()


def test_folding_the_last_inputs_away_leaves_the_same_answers() -> None:
    network = new_network("mlp", (5, 2), (8, 2), jax.random.key(0))
    wide, last = widened(network, 3, jax.random.key(1)), jnp.array([0.5, -2.0, 1.0])
    rows = jax.random.normal(jax.random.key(2), (50, 5))
    plain = jax.vmap(lambda x: wide(jnp.concatenate([x, jnp.zeros(3)])))(rows)
    assert np.allclose(plain, jax.vmap(network)(rows), atol=1e-6)
    told = jax.vmap(lambda x: wide(jnp.concatenate([x, last])))(rows)
    assert np.allclose(jax.vmap(folded(wide, last, network))(rows), told, atol=1e-6)
    assert np.abs(told - plain).max() > 0.05


def test_what_is_deployed_is_the_leader(rule: SapgRule) -> None:
    learner = grown(rule.new(jax.random.key(0)))
    seen = 2 + jax.random.normal(jax.random.key(1), (50, len(learner.observed.mean)))
    learner = learner._replace(observed=learner.observed._replace(mean=seen.mean(0), variance=seen.var(0)))
    policy = rule.policy(learner)
    assert isinstance(policy, NetworkPolicy) and storable_shape(policy).hidden == SMALL.hidden
    normal = (seen - learner.observed.shift) * learner.observed.scale
    for block, same in ((0, True), (1, False)):
        expected = centres(learner.network, jnp.broadcast_to(learner.embeddings[block], (50, 3)), normal)
        unit = jax.vmap(policy.think, (None, 0))({}, seen)[1]
        assert np.allclose(unit, expected, atol=2e-5) == same


def test_every_block_acts_by_its_own_embedding_and_deviation(rule: SapgRule) -> None:
    learner = grown(rule.new(jax.random.key(0)))
    learner = learner._replace(log_noise=jnp.log(jnp.array([[1e-6], [1e-6], [1.0], [1.0]])))
    seen = jnp.ones((16, len(learner.observed.mean)))
    sight = Sight(seen, seen, {"motor.gain": jnp.ones(16)})
    _, unit, noted = rule.decide(rule.weights(learner), {}, sight, jax.random.key(1))
    spreads = np.asarray(unit).reshape(4, 4).std(1)
    assert (spreads[:2] < 1e-4).all() and (spreads[2:] > 0.1).all()
    assert abs(float(unit[0, 0] - unit[4, 0])) > 1e-3
    assert noted["noise"].shape == (16, 1)


def test_leader_and_followers_learn_what_pays_and_the_leader_goes_on(rule: SapgRule) -> None:
    run = SMALL.learning(rule.place, jax.random.key(0))
    notes = [run.iterate(key) for key in jax.random.split(jax.random.key(1), 30)]
    assert abs(notes[0]["leader"] / 0.02) < 0.25
    assert np.mean([n["leader"] / 0.02 for n in notes[-5:]]) > 0.5
    again = SapgRule(SMALL, rule.place, run.policy).new(jax.random.key(2))
    assert np.allclose(rule.policy(again).shift, run.policy.shift)
    seen = jax.random.normal(jax.random.key(3), (20, len(run.policy.shift)))
    both = [jax.vmap(p.think, (None, 0))({}, seen)[1] for p in (rule.policy(again), run.policy)]
    assert np.allclose(*both, atol=1e-4)


def test_worlds_that_do_not_divide_into_blocks_are_refused() -> None:
    with pytest.raises(GaplessError, match="10 worlds do not divide into 4 blocks"):
        Sapg(worlds=10)
    with pytest.raises(GaplessError, match="20 rows, a block's worth of them others', do not divide into 8"):
        replace(SMALL, worlds=16, steps=1, minibatches=8)


@pytest.mark.slow
def test_leader_and_followers_learn_in_worlds_that_are_stepped(cartpole: MujocoSimulator, push: Task) -> None:
    run = SMALL.learning(Place(cartpole, DOUBT, push), jax.random.key(0))
    rewards = [run.iterate(key)["leader"] / 0.02 for key in jax.random.split(jax.random.key(1), 40)]
    assert np.mean(rewards[-5:]) > rewards[0] + 0.3
