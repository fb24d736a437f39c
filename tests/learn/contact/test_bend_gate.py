"""What learns is judged on throws that it was not taught: worked out by hand, and refused where it gains nothing beyond doubt."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gapless.core import GaplessError
from gapless.learn.contact.bent_law import BENDS, BentLaw
from gapless.learn.contact.folds import parted
from gapless.learn.contact.gate import judged
from gapless.learn.contact.thrower import as_identified, thrower
from gapless.simulators.rigid import Start, box, parameters

BEGUN, FOLDS = jnp.array([1.0, 1.0, 1.0, 1.0]), [np.array([0, 1]), np.array([2, 3])]


def test_the_look_that_is_surest_to_gain_is_kept_with_its_standard_error() -> None:
    wild = jnp.array([1.9, -0.9, 1.9, -0.9])
    looks = [BEGUN, BEGUN - 0.1, BEGUN - jnp.array([0.5, 0.3, 0.5, 0.3]), BEGUN - wild]
    verdict = judged(BEGUN, looks, FOLDS, margin=1.0)
    # Gains of 0.5, 0.3, 0.5, 0.3: the mean is 0.4, the deviation 0.2 / sqrt(3), the standard error half of that.
    # The last look gains 0.5 in the mean, with a standard error of 0.8.
    assert verdict.accepted and verdict.look == 2
    assert (verdict.gain, verdict.doubt) == pytest.approx((0.4, 0.1 / np.sqrt(3)), rel=1e-5)


def test_a_gain_within_its_doubt_is_refused() -> None:
    lucky = BEGUN - jnp.array([0.9, -0.3, -0.3, -0.2])
    assert not judged(BEGUN, [BEGUN, lucky], FOLDS, margin=1.0).accepted
    # The mean gain is 0.025, and 0.0 standard errors ask for nothing more than that it is one.
    assert judged(BEGUN, [BEGUN, lucky], FOLDS, margin=0.0).gain == pytest.approx(0.025)
    assert judged(BEGUN, [BEGUN, lucky], FOLDS, margin=0.0).accepted


def test_folds_that_disagree_are_doubted_however_many_throws_they_have() -> None:
    begun, folds = jnp.ones(200), [np.arange(100), np.arange(100, 200)]
    learned = begun.at[:100].add(-0.5).at[100:].add(0.3)
    verdict = judged(begun, [learned], folds, margin=1.0)
    # The folds gain 0.5 and -0.3: the mean is 0.1, and half of their difference its standard error.
    assert (verdict.gain, verdict.doubt) == pytest.approx((0.1, 0.4), rel=1e-5)
    assert not verdict.accepted


def test_what_is_worse_or_the_same_is_refused() -> None:
    assert not judged(BEGUN, [BEGUN, BEGUN + 0.2], FOLDS, margin=1.0).accepted
    assert not judged(BEGUN, [BEGUN, BEGUN], FOLDS, margin=0.0).accepted


def test_a_look_that_cannot_foresee_a_throw_is_none() -> None:
    broken = (BEGUN - 0.9).at[2].set(jnp.nan)
    verdict = judged(BEGUN, [BEGUN, broken, BEGUN - 0.1], FOLDS, margin=1.0)
    assert verdict.accepted and verdict.look == 2
    assert not judged(BEGUN, [broken], FOLDS, margin=1.0).accepted


@pytest.mark.parametrize("count", [4, 8, 37])
def test_every_throw_is_held_out_once(count: int) -> None:
    folds = parted(count, 4, seed=0)
    assert sorted(np.concatenate(folds)) == list(range(count))
    assert max(map(len, folds)) - min(map(len, folds)) <= 1


def test_three_throws_are_too_few() -> None:
    with pytest.raises(GaplessError, match="3 throws are too few"):
        parted(3, 4, seed=0)


def test_what_was_learned_of_chance_stays_when_the_path_is_the_identified_one_again() -> None:
    body, count = box(0.05, 0.045, 0.2, 0.125), 3
    nominal = {p.name: jnp.float32(p.nominal) for p in parameters(body)}
    begun = thrower(body, parameters(body), nominal, 1 / 150, BentLaw(jax.random.key(0)))
    head = jax.random.normal(jax.random.key(1), (2 * BENDS, 16))
    learned = eqx.tree_at(
        lambda m: (m.law.layers[-1].weight, m.nudges, m.starts),
        begun,
        (head, begun.nudges + 0.5, begun.starts + 0.1),
    )
    down = jnp.array([[0.1], [0.0], [-1.0]]) * jnp.ones((3, count))
    start = Start(jnp.full((3, count), 0.1), jnp.full((4, count), 0.5), down, jnp.full((3, count), 2.0))
    again = as_identified(learned)
    path = eqx.filter_jit(lambda model: model.path(start, 24).position)
    paths = [path(m) for m in (begun, learned, again)]
    assert np.array_equal(paths[0], paths[2]) and not np.allclose(paths[0], paths[1], atol=1e-4)
    assert np.array_equal(again.law.layers[-1].weight[BENDS:], head[BENDS:])
    assert np.array_equal(again.starts, learned.starts)
