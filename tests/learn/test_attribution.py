"""Attribution: what was changed is blamed, the parts make a whole, and what no log separates is said to be one."""

import copy
from collections.abc import Callable
from dataclasses import replace

import jax
import numpy as np
import pytest

from gapless.core import Log, Parameter, Point, Signals
from gapless.learn import Attribute, Performance, attribute
from gapless.learn.explain import Explained
from gapless.learn.repeats import same_commands
from gapless.learn.returns import losses
from gapless.logs import Parted
from gapless.nets.policy import NetworkPolicy
from gapless.simulators import MujocoSimulator
from gapless.tasks import SwingUp

SMALL = Attribute(windows=16, ahead=12, iterations=8, draws=1, resamples=100)
NOMINAL = {"hinge.damping": 0.02, "motor.gain": 1.0, "command.latency": 0.0}
Collect = Callable[..., list[Log]]


def belief(**other: float) -> Point:
    found = NOMINAL | {k.replace("_", "."): v for k, v in other.items()}
    return Point(tuple(found), np.array(list(found.values())))


def logs(collect: Collect, **other: float) -> Parted:
    """To learn from, and held out, of a pendulum that is nominal but for these."""
    given = {k.replace(".", "_"): v for k, v in NOMINAL.items()} | other
    return Parted(collect(2, **given), collect(1, first=9, **given))


@pytest.mark.parametrize(
    ("name", "value", "family"), [("command_latency", 0.04, "latency"), ("motor_gain", 0.6, "actuation")]
)
def test_what_was_changed_is_blamed(
    name: str, value: float, family: str, pendulum: MujocoSimulator, collect: Collect
) -> None:
    found = attribute(pendulum, belief(), logs(collect, **{name: value}), recipe=SMALL)
    assert found.causes[0].families == (family,)
    assert found.causes[0].error.value == pytest.approx(1.0, abs=0.05)
    assert found.causes[0].error.low <= found.causes[0].error.value <= found.causes[0].error.high
    assert tuple(found.departed) == (name.replace("_", "."),)
    assert {c.name for c in found.causes} == {"latency", "friction", "actuation"}


def test_all_parts_make_the_whole(pendulum: MujocoSimulator, collect: Collect) -> None:
    found = attribute(
        pendulum, belief(), logs(collect, motor_gain=0.8, command_latency=0.02, hinge_damping=0.05), recipe=SMALL
    )
    parts = [c.error.value for c in found.causes] + [found.numerics.value, found.noise.value, found.unexplained.value]
    assert sum(parts) == pytest.approx(1.0, abs=1e-9)
    assert min(c.error.value for c in found.causes) > 0.01


def test_nothing_departs_where_the_data_sheet_is_right(pendulum: MujocoSimulator, collect: Collect) -> None:
    found = attribute(pendulum, belief(motor_gain=1.1), logs(collect), recipe=SMALL)
    assert found.departed == {}
    assert {cause.error.value for cause in found.causes} == {0.0}


def test_the_same_seed_gives_the_same_answer(pendulum: MujocoSimulator, collect: Collect) -> None:
    made = logs(collect, motor_gain=0.8)
    assert attribute(pendulum, belief(), made, recipe=SMALL) == attribute(pendulum, belief(), made, recipe=SMALL)


def test_the_only_sensors_delay_and_the_commands_are_one_class(pendulum: MujocoSimulator, collect: Collect) -> None:
    late = Parameter("hinge.position.latency", "s", 0.0, 0.0, 0.04, "sensing", free=False)
    doubting = MujocoSimulator(pendulum.model, pendulum.interface, (*pendulum.parameters, late))
    found = attribute(doubting, belief(), logs(collect, command_latency=0.03), recipe=SMALL)
    assert found.causes[0].families == ("latency", "sensing")
    assert found.causes[0].error.value > 0.95


def test_a_coarse_time_step_is_a_cause_of_its_own(pendulum: MujocoSimulator) -> None:
    truth, nominal = fine_and_coarse(pendulum)
    made = [_played(truth, seed) for seed in range(3)]
    found = attribute(nominal, belief(hinge_damping=0.1), Parted(made[:2], made[2:]), recipe=SMALL)
    assert found.numerics.value > 0.8


def test_a_coarse_time_step_beside_a_larger_cause_is_not_told_as_parameters(pendulum: MujocoSimulator) -> None:
    truth, nominal = fine_and_coarse(pendulum)
    made = [_played(truth, seed, motor_gain=0.8) for seed in range(3)]
    found = attribute(nominal, belief(hinge_damping=0.1), Parted(made[:2], made[2:]), recipe=SMALL)
    assert found.causes[0].families == ("actuation",)
    assert abs(found.numerics.value) > 0.01 > abs(found.causes[1].error.value)
    assert tuple(found.departed) == ("motor.gain",)


def fine_and_coarse(pendulum: MujocoSimulator) -> tuple[MujocoSimulator, MujocoSimulator]:
    """A damped pendulum that is integrated well, and the same as MuJoCo would at 20 ms."""
    coarse = copy.copy(pendulum.model)
    coarse.opt.timestep = 0.02
    coarse.dof_damping[:] = 0.1
    fine = copy.copy(coarse)
    fine.opt.timestep = 0.001
    stiff = tuple(replace(p, nominal=0.1, high=0.4) if p.name == "hinge.damping" else p for p in pendulum.parameters)
    return MujocoSimulator(fine, pendulum.interface, stiff), MujocoSimulator(coarse, pendulum.interface, stiff)


def _played(simulator: MujocoSimulator, seed: int, motor_gain: float = 1.0) -> Log:
    rng, rows, one = np.random.default_rng(seed), 120, simulator.with_worlds(1)
    commands = {"motor": np.repeat(rng.uniform(-1, 1, (rows // 6, 1)), 6, axis=0)}
    given = {"motor.gain": np.array([motor_gain])}
    state, seen, _ = one.reset(one.init(), np.ones(1, bool), given, {}, jax.random.key(seed))
    measured = [seen["hinge.position"][0]]
    for k in range(rows - 1):
        state, seen, _ = one.step(state, {"motor": commands["motor"][k][None]}, jax.random.key(k))
        measured.append(seen["hinge.position"][0] + 1e-4 * rng.standard_normal(1))
    clock = np.arange(rows) * one.interface.period_s
    return Log(one.interface, commands, {"hinge.position": np.array(measured)}, clock, {"hinge.position": clock})


def test_repeats_are_found_and_agree_to_the_noise(
    pendulum: MujocoSimulator, simulate: Callable[..., Log], lively_commands: Callable[..., Signals]
) -> None:
    params = {k: np.array([v]) for k, v in (NOMINAL | {"motor.gain": 0.7, "hinge.position.noise": 0.002}).items()}
    commands = lively_commands(pendulum.interface, 125, 0)
    again = [simulate(pendulum, params, commands, seed=seed) for seed in range(3)]
    assert same_commands(again[0], again[1])
    found = attribute(pendulum, belief(), Parted(again[:2], again[2:]), recipe=SMALL)
    assert found.repeatability == pytest.approx(found.noise.value, rel=0.5)


def test_logs_of_different_or_no_commands_are_no_repeats(pendulum: MujocoSimulator, collect: Collect) -> None:
    made = collect(2)
    assert not same_commands(*made)
    assert not same_commands(*collect(2, idle=True))
    found = attribute(pendulum, belief(), Parted(made, collect(1, first=9)), recipe=SMALL)
    assert found.repeatability is None


def test_losses_add_up_to_what_the_policy_loses_in_all(
    cartpole: MujocoSimulator, make_policy: Callable[..., NetworkPolicy]
) -> None:
    names, families = ("motor.gain", "command.latency"), ("actuation", "latency")
    nominal, fitted = np.array([1.5, 0.0]), np.array([0.7, 0.03])
    found = Explained(
        names, families, nominal, np.ones(2, bool), fitted[None], (("actuation",), ("latency",), ("friction",))
    )
    parts = losses(cartpole, Performance(make_policy(), SwingUp(), 2), Point((), np.zeros(0)), found, seed=3)
    whole = found._replace(families=("both", "both"), groups=(("both",),))
    (total,) = losses(cartpole, Performance(make_policy(), SwingUp(), 2), Point((), np.zeros(0)), whole, seed=3)
    assert parts.shape == (2, 2)
    assert parts.sum(axis=0) == pytest.approx(total, abs=1e-6)
    assert total.mean() > 0
