"""Ancestors: what a robot inherits is what its relatives were taught with, whatever slots its joints take."""

from pathlib import Path

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

from gapless.core import GaplessError, generator_for
from gapless.learn.clone_robot import FitClone, Teach
from gapless.learn.clone_robot.ancestry import Ancestry, Relative, descendant, foretelling_loss, in_slots
from gapless.learn.clone_robot.cousins import Cousin
from gapless.learn.clone_robot.fit import Body, Stage, stretch_loss
from gapless.learn.clone_robot.lessons import lessons
from gapless.learn.clone_robot.questions import inherited, periods_asked
from gapless.learn.clone_robot.relatives import relative
from gapless.simulators.neural.ancestor import QUESTIONS, Ancestor, columns, load_ancestor, save_ancestor
from gapless.simulators.neural.skeleton import Skeleton

FEW = Teach(stretches=24, length=5, worlds=24)
PERIOD_S = 0.02


def drawn(number: int) -> tuple[Cousin, Relative]:
    found = relative(generator_for(number, "relative"))
    return found, in_slots(found, FEW, generator_for(number, "drawn"))


@pytest.fixture(scope="module")
def turntable() -> tuple[Cousin, Relative]:
    return drawn(4)


@pytest.mark.slow
def test_a_relative_in_slots_moves_as_the_robot_that_inherits(turntable: tuple[Cousin, Relative]) -> None:
    cousin, slots = turntable
    skeleton = Skeleton(cousin.physics.model, PERIOD_S)
    body = Body(skeleton, lessons(cousin.physics, cousin.reach, (), FEW, generator_for(4, "drawn")))
    ancestor = Ancestor(jax.random.key(0), 16, 2, 8)
    own = inherited(ancestor, cousin.physics, body, jax.random.key(1))
    expected = stretch_loss(own, skeleton, jax.tree.map(jnp.asarray, body.lessons))
    found = foretelling_loss(ancestor, slots, jax.tree.map(jnp.asarray, slots.lessons), PERIOD_S)
    assert float(found) == pytest.approx(float(expected), rel=1e-4)


def test_relatives_are_of_every_kind() -> None:
    models = [relative(generator_for(k, "relative")).physics.model for k in range(30)]
    assert {m.njnt for m in models} == {1, 2, 3}
    assert {m.nu for m in models} == {1, 2}
    assert {int(j) for m in models for j in m.actuator_trnid[:, 0]} == {0, 1, 2}
    assert {int(m.jnt_type[0]) for m in models} == {int(mujoco.mjtJoint.mjJNT_SLIDE), int(mujoco.mjtJoint.mjJNT_HINGE)}


def test_a_robot_with_more_joints_than_slots_is_refused() -> None:
    inner = ""
    for k in range(4):
        inner = f'<body pos="0 0 -1"><joint name="j{k}" axis="0 1 0"/><geom size="0.1" contype="0"/>{inner}</body>'
    model = mujoco.MjModel.from_xml_string(f"<mujoco><worldbody>{inner}</worldbody></mujoco>")
    with pytest.raises(GaplessError, match="at most 3 joints, and this one has 4"):
        columns(Skeleton(model, PERIOD_S), model)


def test_slots_without_a_joint_never_move(turntable: tuple[Cousin, Relative]) -> None:
    slots = turntable[1]
    assert slots.there.tolist() == [1, 1, 0]
    clone = descendant(Ancestor(jax.random.key(0), 16, 2, 8), slots)
    assert not np.asarray(clone.limb.leave.weight)[:, [2, 5]].any()
    assert not slots.lessons.position[..., 2].any()


def test_an_introduction_says_what_a_parameter_changes(turntable: tuple[Cousin, Relative]) -> None:
    cousin, slots = turntable
    moved = [p.name for p in cousin.physics.physical if p.free]
    gain = next(k for k, name in enumerate(moved) if name.endswith("gain"))
    assert np.abs(slots.slope[gain]).max() > 0.05
    assert not slots.slope[len(moved) :].any()
    assert not slots.slope[:, -15:].any()
    assert periods_asked(cousin.physics) == QUESTIONS * (1 + 2 * len(moved))


def test_an_ancestor_is_stored(tmp_path: Path) -> None:
    ancestor = Ancestor(jax.random.key(0), 16, 3, 8)
    save_ancestor(tmp_path, ancestor)
    again = load_ancestor(tmp_path)
    assert len(again.trunk.layers) == 3
    assert all(np.array_equal(a, b) for a, b in zip(jax.tree.leaves(ancestor), jax.tree.leaves(again), strict=True))
    text = (tmp_path / "ancestor.json").read_text()
    (tmp_path / "ancestor.json").write_text(text.replace('"width": 16', '"width": 999999'))
    with pytest.raises(GaplessError, match="not the description of an ancestor"):
        load_ancestor(tmp_path)


@pytest.mark.slow
def test_teaching_lowers_the_loss_about_a_relative(turntable: tuple[Cousin, Relative]) -> None:
    alone = jax.tree.map(lambda x: np.asarray(x)[None], turntable[1])
    told: list[float] = []
    recipe = FitClone((Stage(2, 90, 12),), rate=1e-2, chunk=30)
    ancestor = Ancestor(jax.random.key(0), 16, 2, 8)
    Ancestry(alone, recipe, 1, PERIOD_S).run(ancestor, jax.random.key(0), lambda *found: told.append(found[2]))
    assert len(told) == 3
    assert told[2] < 0.7 * told[0]
