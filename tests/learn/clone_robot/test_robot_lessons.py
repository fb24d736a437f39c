"""Lessons are what MuJoCo does, and a network that learns them foretells MuJoCo better than one that has not."""

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gapless.core import GaplessError, Parameter
from gapless.learn.clone_robot import FitClone, Reach, Teach, Tune, lessons, one_by_one, scouted, tune
from gapless.learn.clone_robot.fit import Body, Stage, fit_clones, new_limb, stretch_loss
from gapless.learn.clone_robot.lessons import Drawing, Lessons, played
from gapless.simulators import MujocoSimulator, propose_interface
from gapless.simulators.model import load_model
from gapless.simulators.neural import Clone, CloneSimulator, Skeleton, Trunk

TEXT = """<mujoco><compiler angle="radian"/><option timestep="0.01"/><worldbody><body name="rod">
<joint name="hinge" type="hinge" axis="0 1 0" damping="0.01"/><inertial pos="0 0 -0.2" mass="0.2" diaginertia=".001 .001 .001"/>
</body></worldbody><actuator><general name="motor" joint="hinge" gainprm="0.05" ctrlrange="-10 10" ctrllimited="true"/></actuator>
</mujoco>"""
PARAMETERS = (
    Parameter("rod.mass", "kg", 0.2, 0.1, 0.3, "inertia"),
    Parameter("command.latency", "s", 0.0, 0.0, 0.05, "latency"),
)
REACH = {"hinge": Reach(-np.pi, np.pi, 10.0)}
FEW = Teach(stretches=60, length=6, worlds=30)
RECIPE = FitClone((Stage(1, 150, 64), Stage(3, 50, 32)), rate=1e-2, chunk=50)


@pytest.fixture(scope="module")
def rod(tmp_path_factory: pytest.TempPathFactory) -> MujocoSimulator:
    path: Path = tmp_path_factory.mktemp("rod") / "rod.xml"
    path.write_text(TEXT)
    model = load_model(path)
    return MujocoSimulator(model, propose_interface(model, "rod"), PARAMETERS)


@pytest.fixture(scope="module")
def taught(rod: MujocoSimulator) -> Lessons:
    return lessons(rod, REACH, (), FEW, np.random.default_rng(0))


def test_the_same_seed_gives_the_same_lessons(rod: MujocoSimulator, taught: Lessons) -> None:
    again = lessons(rod, REACH, (), FEW, np.random.default_rng(0))
    assert all(np.array_equal(a, b) for a, b in zip(taught, again, strict=True))
    assert not np.array_equal(taught.position, lessons(rod, REACH, (), FEW, np.random.default_rng(1)).position)


def test_what_was_written_down_can_be_played_again(rod: MujocoSimulator) -> None:
    drawing = Drawing(rod.with_worlds(5), REACH, (), FEW)
    params, start, sent, found = drawing.written(np.random.default_rng(0))
    again = played(drawing.simulator, params, start, sent)
    assert np.array_equal(found.position, again.position)
    assert np.array_equal(found.control, again.control)


@pytest.mark.slow
def test_lessons_tell_commands_as_the_clone_will_be_told_of_them(rod: MujocoSimulator) -> None:
    drawing = Drawing(rod.with_worlds(4), REACH, (), FEW)
    params, start, sent, found = drawing.written(np.random.default_rng(0))
    skeleton = Skeleton(rod.model, rod.interface.period_s)
    trunk = Trunk(jax.random.key(0), 8, 2, 4)
    clone = Clone(trunk, new_limb(trunk, Body(skeleton, found), jax.random.key(1)))
    simulator = CloneSimulator(rod, [clone], 4)
    state, _, _ = simulator.reset(simulator.init(), np.ones(4, bool), params, start, jax.random.key(0))
    for k in range(3):
        state, _, _ = simulator.step(state, {"motor": sent[:, k]}, jax.random.key(0))
        told = jnp.einsum("wmp,wpc->wmc", state.weights, state.past).reshape(4, -1)
        assert np.allclose(told, found.control[:, k], atol=1e-4)


def test_stretches_count_until_they_leave_their_reach(rod: MujocoSimulator) -> None:
    narrow = {"hinge": Reach(-0.1, 0.1, 0.5)}
    found = lessons(rod, narrow, (), Teach(stretches=30, length=20, worlds=30), np.random.default_rng(0))
    assert 0 < found.counts.mean() < 1
    assert (np.diff(found.counts, axis=1) <= 0).all()


def test_lessons_one_by_one_leave_out_what_does_not_count(rod: MujocoSimulator, taught: Lessons) -> None:
    counts = np.ones_like(taught.counts)
    counts[0, 3:] = 0
    found = one_by_one(taught._replace(counts=counts))
    assert len(found.position) == counts[:, 1:].sum()
    assert np.array_equal(found.after[1], taught.velocity[0, 2])
    assert np.array_equal(found.position[2], taught.position[1, 0])


def test_scouts_find_that_a_free_hinge_turns_round_and_a_heavy_one_does_not(rod: MujocoSimulator) -> None:
    found = scouted(rod, (), np.random.default_rng(0))["hinge"]
    assert found.low < 0 < found.high
    assert found.speed > 0.5


@pytest.mark.slow
def test_fitting_foretells_better_than_not(rod: MujocoSimulator, taught: Lessons) -> None:
    body = Body(Skeleton(rod.model, rod.interface.period_s), taught)
    truth = jax.tree.map(jnp.asarray, lessons(rod, REACH, (), FEW, np.random.default_rng(5)))
    trunk = Trunk(jax.random.key(0))
    naive = Clone(trunk, new_limb(trunk, body, jax.random.key(0)))
    found = fit_clones({"rod": body}, RECIPE, 2, jax.random.key(0))
    losses = [float(stretch_loss(c, body.skeleton, truth)) for c in (naive, *(m["rod"] for m in found))]
    assert max(losses[1:]) < 0.3 * losses[0]
    assert losses[1] != losses[2]


@pytest.mark.slow
def test_lessons_that_come_late_are_learned_from(rod: MujocoSimulator, taught: Lessons) -> None:
    body = Body(Skeleton(rod.model, rod.interface.period_s), taught)
    still = body._replace(lessons=taught._replace(velocity=0 * taught.velocity, position=0 * taught.position))
    recipe, late = FitClone((Stage(1, 20, 16),), chunk=10), iter([{}, {"rod": taught}])
    never = fit_clones({"rod": still}, recipe, 1, jax.random.key(0))[0]["rod"]
    later = fit_clones({"rod": still}, recipe, 1, jax.random.key(0), refill=lambda: next(late))[0]["rod"]
    truth = jax.tree.map(jnp.asarray, still.lessons)
    assert float(stretch_loss(later, body.skeleton, truth)) != float(stretch_loss(never, body.skeleton, truth))


@pytest.mark.slow
def test_a_trunk_that_knows_the_robot_already_needs_less(rod: MujocoSimulator, taught: Lessons) -> None:
    body = Body(Skeleton(rod.model, rod.interface.period_s), taught)
    known = fit_clones({"rod": body}, RECIPE, 1, jax.random.key(0))[0]["rod"].trunk
    short = Tune(FitClone((Stage(1, 60, 32),), rate=3e-3, chunk=20))
    losses = [tune(body, trunk, short, jax.random.key(2)).aside for trunk in (known, None)]
    assert losses[0] < losses[1]


def test_recipes_that_teach_nothing_are_refused() -> None:
    with pytest.raises(GaplessError, match="at least 1"):
        Teach(stretches=0)
    with pytest.raises(GaplessError, match="at least one step"):
        FitClone((Stage(1, 0, 10),))
