"""A clone that is pulled towards logs explains them better, and is refused where it does not foretell others better."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gapless.core import GaplessError, Gaussian, Holds, Log, on_one_clock, prior_belief
from gapless.learn.clone_robot import Candidate, Contest, LearnClone, Teach, learn_clone
from gapless.learn.clone_robot.contrast import contrast
from gapless.learn.clone_robot.pull import Pull, Puller, Weights
from gapless.learn.clone_robot.recorded import Windowed, errors, windowed
from gapless.learn.clone_robot.replay import replayed
from gapless.logs import Parted
from gapless.simulators import MujocoSimulator
from gapless.simulators.neural import Clone
from gapless.simulators.neural.stored import cloned, clones_of_robot

FEW = Teach(stretches=60, length=4, worlds=60)
ENOUGH = Teach(stretches=1000, length=6, worlds=500)
PULL = Pull(rounds=2, steps=150, rate=2e-3, windows=24, stretches=32, unroll=3)
RECIPE = LearnClone(members=1, window_s=0.5, windows=40, replay=ENOUGH, replays=(1.0,), contrasts=(0.0,), pull=PULL)
NOISE = 1e-3, 2e-3
Drive = Callable[..., list[Log]]
Hilly = Callable[[str, float, float], MujocoSimulator]


@pytest.fixture
def belief(cartpole: MujocoSimulator) -> Gaussian:
    """The data sheet, nearly without doubt."""
    wide = prior_belief(cartpole.parameters)
    return Gaussian(wide.names, wide.centre, 1e-4 * wide.covariance, wide.low, wide.high)


@pytest.fixture
def windows(cartpole: MujocoSimulator, belief: Gaussian, drive: Drive) -> Windowed:
    found = windowed(cartpole, belief, drive(cartpole, 1, 0, NOISE), 0.4, 12)
    assert found is not None
    return found


@pytest.mark.slow
def test_what_a_clone_played_itself_leaves_it_no_error(cartpole: MujocoSimulator, belief: Gaussian) -> None:
    clone, simulator = clones_of_robot("cartpole")[0], cloned(cartpole)
    clock = np.arange(60) * cartpole.interface.period_s
    commands, taken = {"motor": 3 * np.sin(4 * clock)[:, None]}, np.sort(np.random.default_rng(0).uniform(0, 1.18, 150))
    holds = Holds([clock], [commands["motor"]], np.zeros(1, int), np.zeros(1))
    mean = {k: np.asarray(v)[None] for k, v in belief.mean().items()}
    seen = simulator.play(mean, {"hinge.position": np.full((1, 1), 2.0)}, holds, taken[None])
    clocks = dict.fromkeys(seen, taken)
    log = Log(cartpole.interface, commands, {k: np.asarray(v)[0] for k, v in seen.items()}, clock, clocks)
    found = windowed(cartpole, belief, [log], 0.4, 8)
    assert found is not None
    met = found.met_by(simulator)
    left = np.asarray(errors(clone, simulator.skeleton, found.seen, jax.tree.map(jnp.asarray, met)))
    assert np.abs(left * found.level).max() < 1e-3  # periods that begin elsewhere in the log are not quite the same
    moved = met._replace(begun=met.begun._replace(velocity=met.begun.velocity + 1e-3))
    again = np.asarray(errors(clone, simulator.skeleton, found.seen, jax.tree.map(jnp.asarray, moved)))
    assert np.abs((again - left) * found.level).max() < 5e-5  # another start explains what another start does


def test_the_contrast_asks_for_what_tells_reality_from_simulation_and_for_nothing_else() -> None:
    simulated = jnp.array([[1.0, 0.0]])
    cost = lambda left: contrast(left, simulated, jnp.asarray(0.5)).sum()  # noqa: E731
    at_real, at_simulated = cost(jnp.zeros((1, 2))), cost(simulated)
    assert float(at_real) == pytest.approx(np.log1p(np.exp(-0.5)))
    assert float(at_simulated) == pytest.approx(np.log1p(np.exp(0.5)))
    pull = np.asarray(jax.grad(cost)(simulated + jnp.array([[0.0, 3.0]])))[0]
    assert pull[0] > 0.1 and pull[1] == pytest.approx(0.0, abs=1e-6)
    same = jax.grad(lambda left: contrast(left, jnp.zeros((1, 2)), jnp.asarray(0.5)).sum())(jnp.ones((1, 2)))
    assert np.allclose(same, 0)


def test_replay_draws_from_the_belief_and_from_where_the_logs_were(
    cartpole: MujocoSimulator, belief: Gaussian, windows: Windowed
) -> None:
    found = replayed(cartpole, belief, (), windows.windows, FEW, np.random.default_rng(0))
    known = [p for p in cartpole.physical if p.free]
    nominal = np.array([2 * (p.nominal - p.low) / (p.high - p.low) - 1 for p in known])
    assert 0 < np.abs(found.shares - nominal).max() < 0.2
    far = np.abs(found.position[:, 0, 1:] - windows.windows.start[None, :, 1].reshape(1, -1)).min(1)
    assert 0.3 < np.mean(far < 0.1) < 0.95


@pytest.mark.slow
def test_a_frozen_trunk_stays_as_it_was_taught(cartpole: MujocoSimulator, belief: Gaussian, windows: Windowed) -> None:
    replay = replayed(cartpole, belief, (), windows.windows, FEW, np.random.default_rng(0))
    clone = clones_of_robot("cartpole")[0]
    puller = Puller(cloned(cartpole), windows, replay, Pull(rounds=1, steps=2, windows=4, stretches=8, unroll=2))
    for trunk in (False, True):
        found = puller.pulled(clone, Weights(1.0, 0.5, trunk), jax.random.key(0))
        moved = [
            not np.array_equal(a, b) for a, b in zip(*map(jax.tree.leaves, (found.trunk, clone.trunk)), strict=True)
        ]
        assert all(moved) if trunk else not any(moved)
        assert not np.array_equal(found.limb.leave.weight, clone.limb.leave.weight)
        assert np.array_equal(found.limb.scale, clone.limb.scale)


@pytest.mark.slow
def test_pulling_leaves_less_of_the_windows(
    cartpole: MujocoSimulator, belief: Gaussian, drive: Drive, with_hills: Hilly
) -> None:
    found = windowed(cartpole, belief, drive(with_hills("slider", 8.0, 4.0), 1, 0, NOISE), 0.5, 12)
    assert found is not None
    replay = replayed(cartpole, belief, (), found.windows, FEW, np.random.default_rng(0))
    clone, simulator = clones_of_robot("cartpole")[0], cloned(cartpole)
    pulled = Puller(simulator, found, replay, PULL).pulled(clone, Weights(1.0, 0.0, True), jax.random.key(0))

    def left(clone: Clone) -> float:
        met = jax.tree.map(jnp.asarray, found.met_by(simulator.with_members([clone])))
        return float((errors(clone, simulator.skeleton, found.seen, met) ** 2).mean())

    assert left(pulled) < 0.7 * left(clone)


@pytest.mark.slow
def test_what_held_out_logs_do_not_confirm_is_refused(
    cartpole: MujocoSimulator, belief: Gaussian, drive: Drive, with_hills: Hilly
) -> None:
    hilly, known = with_hills("slider", 8.0, 4.0), Candidate(cartpole, belief)
    logs = Parted(drive(hilly, 3, 0, NOISE), drive(cartpole, 1, 10, NOISE))
    found = learn_clone(clones_of_robot("cartpole"), Contest(known, known), logs, (), RECIPE)
    assert found is not None and not found.held_out.better
    assert "is refused" in found.sentence()


def test_logs_too_short_to_judge_by_make_no_clone(cartpole: MujocoSimulator, belief: Gaussian, drive: Drive) -> None:
    known, short = Candidate(cartpole, belief), [log_until(drive(cartpole, 1, 0, NOISE)[0], 10)]
    assert learn_clone(clones_of_robot("cartpole"), Contest(known, known), Parted(short, short), (), RECIPE) is None


def log_until(log: Log, rows: int) -> Log:
    return on_one_clock(
        log.interface, {k: v[:rows] for k, v in log.commands.items()}, {k: v[:rows] for k, v in log.measurements.items()},
        log.command_time[:rows],
    )  # fmt: skip


def test_recipes_that_pull_nowhere_are_refused() -> None:
    with pytest.raises(GaplessError, match="at least one weight"):
        LearnClone(replays=())
    with pytest.raises(GaplessError, match="at least 1"):
        Pull(steps=0)
