"""Distillation: the loss by hand, who drives, what is kept, and a student that finds out what its teacher is told."""

from dataclasses import replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gapless.core import GaplessError, Task
from gapless.nets.policy import NetworkPolicy, Shape, new_policy
from gapless.train import Along, Distil, Look, Place, Ppo, Rma, Train, train
from gapless.train.distil import DistilRule, Stretches, _keep, difference
from gapless.train.experience import Sight
from gapless.train.learning import Method

KEY = jax.random.key(0)
SMALL = Distil(worlds=16, steps=20, hidden=(16, 1), minibatches=4, budget=16 * 20 * 60)
TEACHING = Ppo(epochs=4, minibatches=4, hidden=(16, 1))


def knowing(place: Place) -> NetworkPolicy:
    """A teacher that needs no training: full volts in the direction in which the motor pulls."""
    shape = Shape((1, 0), told=("motor.gain",))
    policy = new_policy(place.simulator.interface, place.task.observe, shape, KEY)
    layer = policy.network.layers[0]  # type: ignore[union-attr]
    sign = eqx.tree_at(lambda n: (n.weight, n.bias), layer, (jnp.array([[0.0, 9.0]]), jnp.zeros(1)))
    return eqx.tree_at(lambda p: p.network.layers[0], policy, sign)


def test_the_loss_is_the_mean_square_between_both_commands() -> None:
    network = eqx.nn.MLP(1, 1, 1, 0, key=KEY)
    network = eqx.tree_at(lambda n: (n.layers[0].weight, n.layers[0].bias), network, (jnp.eye(1), jnp.zeros(1)))
    seen, label = jnp.array([[[0.0], [jnp.arctanh(0.5)]]]), jnp.array([[[1.0], [-0.5]]])
    # The student says 0 and 0.5 where the teacher says 1 and −0.5: both are off by 1.
    rows = Stretches(seen, label, jnp.zeros((1, 2), bool), ())
    assert float(difference(network, rows)) == pytest.approx(1.0)
    assert float(difference(network, rows._replace(label=jnp.array([[[0.0], [0.0]]])))) == pytest.approx(0.125)


def test_the_teacher_leads_at_first_and_the_student_in_the_end(run_right: Place) -> None:
    rule = DistilRule(SMALL, run_right, knowing(run_right), None)
    learner = rule.new(KEY)
    gain, seen = jnp.array([1.0, -1.0]), jnp.full((2, 1), 0.3)
    sight = Sight(seen, seen, {"motor.gain": gain})
    memory = jax.vmap(learner.student.init)(jax.random.split(KEY))
    _, mine = jax.vmap(learner.student.think)(memory, seen)
    sent = {}
    for taken in (0.0, 0.1, 1.0):
        weights = rule.weights(learner._replace(taken=jnp.asarray(taken)))
        assert float(weights[1]) == pytest.approx(max(0.0, 1 - taken / SMALL.leading))
        _, sent[taken], noted = rule.decide(weights, memory, sight, KEY)
        assert np.asarray(noted["label"])[:, 0] == pytest.approx([1.0, -1.0], abs=1e-5)
    assert np.asarray(sent[0.0])[:, 0] == pytest.approx([1.0, -1.0], abs=1e-5)
    assert (sent[1.0] == mine).all()


def test_the_newest_batches_are_kept_and_the_first_stands_for_all(run_right: Place) -> None:
    recipe = replace(SMALL, replay=2, worlds=4, steps=2)
    learner = DistilRule(recipe, run_right, knowing(run_right), None).new(KEY)

    def batch(value: float) -> dict[str, Any]:
        rows = jnp.full((2, 4, 1), value)
        return {"normal": rows, "label": rows, "fresh": rows[..., 0] > 9, "hidden": jnp.full((2, 4, 16), value)}

    marks = []
    for k in range(3):
        learner = learner._replace(kept=_keep(learner, batch(1.0 + k)), taken=jnp.asarray(0.1 * (k + 1)))
        marks.append([float(x.mean()) for x in learner.kept.label])
        assert (learner.kept.label[..., 0] == learner.kept.memory[..., :1]).all()
    assert marks == [[1.0, 1.0], [2.0, 1.0], [3.0, 2.0]]


def test_a_student_finds_out_what_its_teacher_is_told(run_right: Place) -> None:
    teacher, look = knowing(run_right), Look(*run_right[:3], 64, KEY)
    run = SMALL.taught(run_right, teacher, KEY)
    before = [np.asarray(x) for x in jax.tree.leaves(eqx.filter(run.learner.teacher, eqx.is_array))]
    for key in jax.random.split(jax.random.key(1), 60):
        run.iterate(key)
    worth, best = look.at(run.policy)[0], look.at(teacher)[0]
    assert not run.policy.told
    # Whoever knows nothing, and goes right until it moves to the left, is worth two thirds of a teacher at most.
    assert worth > 0.75 * best
    after = jax.tree.leaves(eqx.filter(run.learner.teacher, eqx.is_array))
    assert all((a == b).all() for a, b in zip(before, after, strict=True))


def test_what_cannot_be_taught_is_said(run_right: Place, push: Task) -> None:
    teacher = knowing(run_right)
    interface, observe = run_right.simulator.interface, run_right.task.observe
    with pytest.raises(GaplessError, match=r"is told 'motor\.gain'"):
        SMALL.taught(run_right, teacher, KEY, teacher)
    with pytest.raises(GaplessError, match="this one has memory"):
        SMALL.taught(run_right, new_policy(interface, observe, Shape((4, 1), "gru"), KEY), KEY)
    with pytest.raises(GaplessError, match="must observe alike"):
        SMALL.taught(run_right, teacher, KEY, new_policy(interface, push.observe, Shape((4, 1)), KEY))
    with pytest.raises(GaplessError, match="do not divide into 7"):
        replace(SMALL, minibatches=7)
    with pytest.raises(GaplessError, match="its network cannot be 'gru'"):
        replace(SMALL, teacher=Ppo(network="gru"))
    with pytest.raises(GaplessError, match=r"nobody can be told 'pole\.mass': the belief draws motor\.gain"):
        replace(SMALL, teacher=replace(TEACHING, told=("pole.mass",))).learning(run_right, KEY)


@pytest.mark.slow
@pytest.mark.parametrize("method", [replace(SMALL, teacher=TEACHING), Rma(base=TEACHING)], ids=lambda m: m.word)
def test_teacher_and_student_are_trained_one_after_the_other_where_the_blind_fail(
    run_right: Place, method: Method
) -> None:
    budget = 16 * 20 * 60
    ours = {"worlds": 16, "steps": 20, "budget": budget}
    looks = Train(replace(TEACHING, **ours), looks=1, worlds=64)
    blind = train(*run_right[:3], looks, KEY)
    told = replace(looks, method=replace(looks.method, told=("motor.gain",)))  # type: ignore[call-arg]
    teacher = train(*run_right[:3], told, KEY)
    ready = replace(looks, method=replace(method, **(ours | {"budget": 2 * budget})), looks=2)
    student = train(*run_right[:3], ready, KEY, Along())
    assert not student.policy.told
    assert blind.value < 0.6 * teacher.value
    assert student.value > 0.75 * teacher.value
