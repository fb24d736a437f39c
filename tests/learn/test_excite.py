"""Motions that teach and stay inside the limits."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gapless.core import Block, Channel, GaplessError, Gaussian, Interface, Parameter, Params, Signals, prior_belief
from gapless.learn import AroundPolicy, Excite, Wanted, design, excite
from gapless.learn.holding import pull_of, reach_of
from gapless.learn.motions import FIRMEST, Band, Reach, first_genomes, rows_of
from gapless.learn.teaching import Teaching
from gapless.learn.trial import Trial
from gapless.robots.cartpole import INTERFACE
from gapless.simulators import JaxCartpole, MujocoSimulator, load_model, read_parameters

MODELS = Path(__file__).parents[2] / "src/gapless/robots/models"
SMALL = Excite(candidates=5, generations=2, doubts=3, watched=1, scored=1)
LIFT = """
<mujoco>
  <option timestep="0.005"/>
  <worldbody><body>
    <joint name="hinge" type="hinge" axis="0 1 0" damping="0.05"/>
    <geom type="capsule" fromto="0 0 0 0 0 -0.3" size="0.01" mass="0.2"/>
  </body></worldbody>
  <actuator>{actuator}</actuator>
  <sensor><jointpos name="servo.position" joint="hinge"/></sensor>
</mujoco>"""
DAMPING = Parameter("hinge.damping", "N m s/rad", 0.05, 0.02, 0.1, "friction")
Lift = Callable[[str, Channel], MujocoSimulator]


@pytest.fixture(scope="module")
def cartpole() -> MujocoSimulator:
    parameters = read_parameters(MODELS / "cartpole.toml")
    return MujocoSimulator(load_model(MODELS / "cartpole.xml"), INTERFACE, parameters)


@pytest.fixture
def lift(tmp_path: Path) -> Lift:
    def made(actuator: str, command: Channel) -> MujocoSimulator:
        (tmp_path / "lift.xml").write_text(LIFT.format(actuator=actuator))
        measured = Channel("servo.position", unit="rad", low=-1.5, high=1.5, rate=20.0)
        interface = Interface("lift", 0.02, (command,), (measured,), ("hinge",))
        return MujocoSimulator(load_model(tmp_path / "lift.xml"), interface, (DAMPING,))

    return made


def test_motions_stay_inside_the_limits_in_draws_that_were_never_tried(cartpole: MujocoSimulator) -> None:
    prior = prior_belief(cartpole.parameters)
    found = design(cartpole, prior, Wanted(INTERFACE, 2.0), replace(SMALL, doubts=16), jax.random.key(0))
    trial = Trial(cartpole, INTERFACE, reach_of(cartpole, INTERFACE))
    motion: Any = found.motion
    trial.pull, trial.middle = np.asarray(motion.pull), np.asarray(motion.middle)
    others = {k: np.asarray(v) for k, v in prior.sample(jax.random.key(99), 24).items()}
    assert trial.usage(trial.run(others, found.rows[None])).max() < 1.0
    assert found.usage <= SMALL.margin
    assert found.rows.std() > 0.1
    assert all(found.after[n] < found.now[n] for n in found.now)


def test_the_same_key_chooses_the_same_motion(cartpole: MujocoSimulator) -> None:
    prior = prior_belief(cartpole.parameters)
    once, again = (excite(cartpole, prior, INTERFACE, 1.0, SMALL, jax.random.key(7)).rows for _ in range(2))
    assert np.array_equal(once, again)


def test_later_generations_leave_less_unknown(cartpole: MujocoSimulator) -> None:
    prior = prior_belief(cartpole.parameters)
    left = []
    for generations in (1, 5):
        recipe = replace(SMALL, generations=generations, candidates=8)
        found = design(cartpole, prior, Wanted(INTERFACE, 2.0), recipe, jax.random.key(2))
        sizes = np.maximum(np.abs(prior.centre), 0.5 * np.sqrt(np.diag(prior.covariance)))
        left.append(np.sqrt(np.mean((np.array(list(found.after.values())) / sizes) ** 2)))
    assert left[1] < left[0]


def test_a_cart_pushed_aside_is_pulled_back(cartpole: MujocoSimulator) -> None:
    motion = excite(cartpole, prior_belief(cartpole.parameters), INTERFACE, 1.0, SMALL, jax.random.key(0))
    pulls = []
    for place in (-0.2, 0.2):
        seen = {"cart.position": np.array([place]), "pole.angle": np.zeros(1)}
        pulls.append(
            float(motion.step({}, motion.init(jax.random.key(0)), seen, 0.02, jax.random.key(0))[1]["motor"][0])
        )
    assert pulls[0] > pulls[1]


def test_limits_that_nothing_can_keep_are_named(cartpole: MujocoSimulator) -> None:
    narrow = tuple(replace(c, low=-1e-9, high=1e-9) for c in INTERFACE.measurements)
    limits, prior = replace(INTERFACE, measurements=narrow), prior_belief(cartpole.parameters)
    with pytest.raises(GaplessError, match="stays inside the limits"):
        excite(cartpole, prior, limits, 1.0, SMALL, jax.random.key(0))


def test_a_command_that_rests_at_its_limit_pushes_from_there(lift: Lift) -> None:
    simulator = lift('<motor name="fan" joint="hinge" gear="0.3"/>', Channel("fan", unit="N", low=0.0, high=2.0))
    motion = excite(simulator, prior_belief(simulator.parameters), simulator.interface, 2.0, SMALL, jax.random.key(0))
    rows = np.asarray(motion.rows)
    assert rows[0] == pytest.approx(0.0, abs=1e-6)
    assert rows.min() >= 0.0
    assert rows.max() > 0.2


def test_a_command_without_limits_gets_those_that_the_model_bears(lift: Lift) -> None:
    simulator = lift('<motor name="push" joint="hinge"/>', Channel("push", unit="N m"))
    reach = reach_of(simulator, simulator.interface)
    assert 0.01 < reach.high[0] < 100.0
    motion = excite(simulator, prior_belief(simulator.parameters), simulator.interface, 2.0, SMALL, jax.random.key(0))
    assert np.isfinite(np.asarray(motion.rows)).all()


def test_a_servo_moves_around_where_it_is_within_its_rate(lift: Lift) -> None:
    servo = Channel("servo", unit="rad", low=-1.0, high=1.2, rate=2.0)
    simulator = lift('<position name="servo" joint="hinge" kp="2"/>', servo)
    motion = excite(simulator, prior_belief(simulator.parameters), simulator.interface, 2.0, SMALL, jax.random.key(0))
    rows = np.asarray(motion.rows)
    assert np.abs(np.diff(rows, axis=0)).max() <= 2.0 * 0.02 + 1e-6
    assert not np.asarray(motion.pull).any()
    assert np.ptp(rows) > 0.1


@pytest.mark.slow
def test_traceable_simulators_are_excited_too(cartpole: MujocoSimulator) -> None:
    traceable = JaxCartpole(INTERFACE, cartpole.parameters, 5)
    prior = prior_belief(cartpole.parameters)
    found = design(traceable, prior, Wanted(INTERFACE, 0.6), Excite(2, 1, 1, 1, 1), jax.random.key(0))
    assert found.after["motor.gain"] < 0.5 * found.now["motor.gain"]


class Hold(Block):
    """Pushes the cart back to the middle."""

    def init(self, key: Any) -> Any:
        return jnp.zeros(())

    def step(self, params: Params, memory: Any, inputs: Signals, dt_s: float, key: Any) -> tuple[Any, Signals]:
        return memory, {"motor": -8.0 * inputs["cart.position"]}


def test_a_motion_around_a_policy_adds_to_its_commands(cartpole: MujocoSimulator) -> None:
    prior = prior_belief(cartpole.parameters)
    found = design(cartpole, prior, Wanted(INTERFACE, 1.0, Hold()), SMALL, jax.random.key(0))
    assert isinstance(found.motion, AroundPolicy)
    seen = {"cart.position": jnp.array([0.1]), "pole.angle": jnp.zeros(1)}
    memory, sent = found.motion.init(jax.random.key(0)), []
    for _ in range(20):
        memory, command = found.motion.step({}, memory, seen, 0.02, jax.random.key(0))
        sent.append(float(command["motor"][0]))
    assert sent == pytest.approx((found.rows[:20, 0] - 0.8).tolist(), abs=1e-5)
    assert found.usage <= SMALL.margin


def test_what_the_belief_knows_already_is_not_learnt_again(cartpole: MujocoSimulator) -> None:
    prior = prior_belief(cartpole.parameters)
    deviation = np.sqrt(np.diag(prior.covariance))
    known = np.where(np.array(prior.names) == "hinge.damping", 1e-4, 1.0) * deviation
    belief = Gaussian(prior.names, prior.centre, np.diag(known**2), prior.low, prior.high)
    found = design(cartpole, belief, Wanted(INTERFACE, 1.0), SMALL, jax.random.key(0))
    assert found.after["hinge.damping"] == pytest.approx(found.now["hinge.damping"], rel=1e-3)


def test_noisier_sensors_teach_less(cartpole: MujocoSimulator) -> None:
    prior, reach = prior_belief(cartpole.parameters), reach_of(cartpole, INTERFACE)
    draws = {n: np.array([v]) for n, v in zip(prior.names, prior.centre, strict=True)}
    times, band = np.arange(101) * 0.02, Band(0.25, 3.0, 0.3)
    rows = rows_of(first_genomes(1, 1, band, np.random.default_rng(0)), reach, times, band)
    course = Trial(cartpole, INTERFACE, reach).run(draws, rows)
    told = []
    for level in (1e-4, 1e-3):
        teaching = Teaching(cartpole, prior, dict.fromkeys(INTERFACE.measurement_names, level), 0.4)
        told.append(teaching.information(draws, course)[0, 0])
    assert np.allclose(told[0], 100 * told[1])
    assert (np.diag(told[0]) > 0).all()


def test_commands_keep_their_rates_from_rest_on() -> None:
    reach = Reach(np.array([-1.0]), np.array([3.0]), np.zeros(1), np.array([0.1]))
    band = Band(0.5, 3.0, 1.0)
    rows = rows_of(first_genomes(10, 1, band, np.random.default_rng(0)), reach, np.arange(50) * 0.02, band)
    assert np.abs(np.diff(rows, axis=1)).max() <= 0.1 + 1e-9
    assert np.abs(rows[:, 0]).max() <= 0.1 + 1e-9


def test_a_firmer_pull_keeps_the_same_push_nearer_to_the_middle(cartpole: MujocoSimulator) -> None:
    reach = reach_of(cartpole, INTERFACE)
    trial = Trial(cartpole, INTERFACE, reach)
    trial.pull, trial.middle = pull_of(cartpole, INTERFACE, reach, 0.3, 0.75)
    draws = {"motor.gain": np.array([1.5])}
    rows = np.full((2, 101, 1), 2.0)
    course = trial.run(draws, rows, np.array([[1.0], [4.0]]))
    loose, firm = np.abs(course.seen["cart.position"][:, 0, -20:, 0]).max(axis=1)
    assert firm < 0.5 * loose


def test_the_chosen_pull_is_the_one_that_was_tried(cartpole: MujocoSimulator) -> None:
    prior = prior_belief(cartpole.parameters)
    found = design(cartpole, prior, Wanted(INTERFACE, 1.0), SMALL, jax.random.key(5))
    motion: Any = found.motion
    reach = reach_of(cartpole, INTERFACE)
    weakest, middle = pull_of(cartpole, INTERFACE, reach, SMALL.share * SMALL.pull, SMALL.margin)
    times = np.asarray(motion.pull)[0, 0] / weakest[0, 0]
    assert 1.0 <= times <= FIRMEST
    trial = Trial(cartpole, INTERFACE, reach)
    trial.pull, trial.middle = weakest, middle
    centre = {n: np.array([v]) for n, v in zip(prior.names, prior.centre, strict=True)}
    again = trial.run(centre, found.rows[None], np.array([[times]]))
    assert np.allclose(again.commands[0, 0], found.course.commands[0, 0], atol=1e-4)


def test_every_draw_sees_all_windows(cartpole: MujocoSimulator) -> None:
    prior, reach = prior_belief(cartpole.parameters), reach_of(cartpole, INTERFACE)
    times, band = np.arange(151) * 0.02, Band(0.25, 3.0, 0.3)
    rows = rows_of(first_genomes(1, 1, band, np.random.default_rng(0)), reach, times, band)
    twice = {n: np.array([v, v]) for n, v in zip(prior.names, prior.centre, strict=True)}
    course = Trial(cartpole, INTERFACE, reach).run(twice, rows)
    teaching = Teaching(cartpole, prior, dict.fromkeys(INTERFACE.measurement_names, 1e-3), 0.6)
    told = teaching.information(twice, course)[0]
    once = teaching.information({n: v[:1] for n, v in twice.items()}, course.in_draws(1))[0, 0]
    assert np.allclose(told, once)
