"""Parameters that vary within logs are causes of their family, and constant ones are not called varying."""

from collections.abc import Callable
from dataclasses import replace

import jax
import numpy as np
import pytest

from gapless.core import Log, Point
from gapless.learn import Attribute, Attribution, attribute
from gapless.learn.explain import Explained
from gapless.learn.load import load_so_far
from gapless.learn.patterns import Along, InTime
from gapless.learn.shooting import Shooting
from gapless.learn.varying import in_words, places_of, shapes_of
from gapless.learn.windows import cut, cut_at
from gapless.logs import Parted
from gapless.simulators import MujocoSimulator

SMALL = Attribute(windows=24, ahead=12, iterations=6, draws=1, resamples=100)
NOMINAL = Point(("hinge.damping", "motor.gain", "command.latency"), np.array([0.02, 1.0, 0.0]))
Physics = Callable[[float, float], dict[str, float]]
"""Time and place → parameters."""


def played(simulator: MujocoSimulator, physics: Physics, seed: int, rows: int = 200) -> Log:
    """An episode in which parameters follow time and place, with a little noise."""
    rng, one = np.random.default_rng(seed), simulator.with_worlds(1)
    commands = {"motor": np.repeat(rng.uniform(-1, 1, (rows // 8, 1)), 8, axis=0)}
    state, seen, _ = one.reset(one.init(), np.ones(1, bool), {}, {}, jax.random.key(seed))
    measured = [seen["hinge.position"][0]]
    for k in range(rows - 1):
        now = physics(k * one.interface.period_s, float(measured[-1][0]))
        state = one.change(state, {name: np.array([value]) for name, value in now.items()})
        state, seen, _ = one.step(state, {"motor": commands["motor"][k][None]}, jax.random.key(k))
        measured.append(seen["hinge.position"][0] + 1e-4 * rng.standard_normal(1))
    clock = np.arange(rows) * one.interface.period_s
    return Log(one.interface, commands, {"hinge.position": np.array(measured)}, clock, {"hinge.position": clock})


def found_in(simulator: MujocoSimulator, physics: Physics) -> Attribution:
    made = [played(simulator, physics, seed) for seed in range(4)]
    return attribute(simulator, NOMINAL, Parted(made[:3], made[3:]), recipe=SMALL)


def test_a_gain_that_falls_with_time_is_named(pendulum: MujocoSimulator) -> None:
    found = found_in(pendulum, lambda time, place: {"motor.gain": 1.0 - 0.05 * time})
    assert found.causes[0].families == ("actuation",)
    assert found.causes[0].error.value == pytest.approx(1.0, abs=0.02)
    assert found.varied == ("motor.gain falls by 20 % in 3.98 s",)
    assert "motor.gain" not in found.departed, "it begins as the data sheet says"


def test_a_motor_that_tires_under_load_is_named(pendulum: MujocoSimulator) -> None:
    logs = Parted([tired(pendulum, seed) for seed in range(3)], [tired(pendulum, 9)])
    found = attribute(pendulum, NOMINAL, logs, recipe=SMALL)
    assert found.causes[0].families == ("actuation",)
    assert found.unexplained.value < 0.02
    assert len(found.varied) == 1
    assert found.varied[0].startswith("motor.gain falls by ")
    assert found.varied[0].endswith(" % under load")


def tired(simulator: MujocoSimulator, seed: int) -> Log:
    """An episode whose motor loses half of its gain at full load, a second and a half after it."""
    rested = played(simulator, lambda time, place: {}, seed)
    load = load_so_far(rested, "motor", lag_s=1.5)
    rows = iter(load)
    return played(simulator, lambda time, place: {"motor.gain": 1.0 - 0.5 * float(next(rows))}, seed)


def test_load_follows_the_commands_by_hand(pendulum: MujocoSimulator) -> None:
    log = played(pendulum, lambda time, place: {}, seed=0, rows=24)
    steady = replace(log, commands={"motor": np.full((24, 1), -0.5)})
    found = load_so_far(steady, "motor", lag_s=0.1)
    assert found == pytest.approx(0.5 * (1 - np.exp(-log.command_time / 0.1)))


def test_a_policy_is_judged_by_what_varies_as_it_was_on_average() -> None:
    warm = InTime("motor.gain", -np.inf, 6.0)
    found = Explained(
        ("motor.gain", warm.name), ("actuation",) * 2, np.array([1.0, 0.0]), np.ones(2, bool), np.array([[1.0, -0.2]]),
        (("actuation",),), (warm,), (0.5,),
    )  # fmt: skip
    steady = found.steady({"motor.gain": np.ones(2), "other": np.zeros(2)}, found.mixtures(found.draws)[:, 0])
    assert steady["motor.gain"] == pytest.approx([1.0, 0.9])
    assert set(steady) == {"motor.gain", "other"}


def test_friction_that_varies_along_the_way_is_named(pendulum: MujocoSimulator) -> None:
    found = found_in(pendulum, lambda time, place: {"hinge.damping": 0.05 + 0.03 * float(np.cos(2 * place))})
    assert found.causes[0].families == ("friction",)
    assert found.unexplained.value < 0.02
    (said,) = found.varied
    assert said.startswith("hinge.damping varies along hinge by 0.0")
    assert float(said.split()[-1]) == pytest.approx(0.06, abs=0.02)


def test_a_constant_departure_is_not_called_varying(pendulum: MujocoSimulator) -> None:
    found = found_in(pendulum, lambda time, place: {"motor.gain": 0.8, "hinge.damping": 0.05})
    assert found.varied == ()
    assert found.departed == pytest.approx({"motor.gain": 0.8, "hinge.damping": 0.05}, rel=0.02)


def test_a_varying_parameter_is_followed_period_by_period(pendulum: MujocoSimulator) -> None:
    log = played(pendulum, lambda time, place: {"motor.gain": 1.0 - 0.5 * (time + 0.01)}, seed=0)
    windows = cut_at(pendulum, [log], [(0, 0.0)], 1.0)
    falls = InTime("motor.gain", -np.inf, 1.0)
    shapes = shapes_of((falls,), windows, places_of(pendulum, windows))
    assert shapes[falls.name][1] == pytest.approx(np.arange(50)[None] * 0.02 + 0.01)
    varying = Shooting(pendulum, windows, (falls.name,), {"motor.gain": 1.0}, shapes)
    found = varying.residuals(np.array([[-0.5], [0.0]]), np.zeros((2, 1, 2)))
    assert np.abs(found[0]).max() < 2e-3, "commands are played half a time step later than they were stepped, no more"
    assert np.abs(found[1]).max() > 5e-2
    settled = varying.at(np.array([-0.5]))
    assert settled.residuals(np.zeros((1, 0)), np.zeros((1, 1, 2)))[0] == pytest.approx(found[0])


def test_nothing_falls_below_what_a_parameter_can_be(pendulum: MujocoSimulator) -> None:
    windows = cut(pendulum, [played(pendulum, lambda time, place: {}, seed=0)], 0.4)
    assert windows is not None
    shapes = {"far": ("motor.gain", np.ones((len(windows), 20)))}
    far = Shooting(pendulum, windows, ("far",), {"motor.gain": 1.0}, shapes)
    least = Shooting(pendulum, windows, ("motor.gain",), {})
    starts = windows.start[None]
    assert far.residuals(np.array([[-5.0]]), starts) == pytest.approx(
        least.residuals(np.array([[0.4]]), starts), abs=1e-9
    )


def test_patterns_are_said_in_words() -> None:
    warm, wave = InTime("motor.gain", -np.inf, 6.0), Along("arm.friction", -np.inf, 2.0, "arm", -1.0)
    values = {"motor.gain": 0.5, warm.name: -0.07, "arm.friction": 0.02, wave.name: 0.015}
    assert in_words((warm, wave), values) == (
        "motor.gain falls by 14 % in 6 s",
        "arm.friction varies along arm by 0.03",
    )
