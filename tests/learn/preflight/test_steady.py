"""Numbers beyond their thresholds that only some of the logs ask for."""

import copy
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from gapless.core import Log, prior_belief
from gapless.learn.least_squares import Bounds
from gapless.learn.preflight.as_logged import SCALE
from gapless.learn.preflight.doubts import Family, beyond
from gapless.learn.preflight.steady import cautious
from gapless.learn.preflight.trial import Bench, Doubt, Fitted
from gapless.simulators import MujocoSimulator


def _found(pendulum: MujocoSimulator, *scales: float) -> bool:
    """Whether a motor whose gain differs so between parts of the logs is called wrong."""
    number = pendulum.interface.command_names[0] + SCALE
    one = np.ones(1)
    family = Family(pendulum, Doubt((number,), Bounds(one, one, 0.01 * one, 20 * one)), ({},))  # type: ignore[arg-type]
    fits = [Fitted((number,), np.array([s]), {}) for s in scales]
    return any(h.number == number for h in beyond(pendulum, cautious(fits, family)))


def test_the_same_gain_in_all_parts_is_a_wrong_convention(pendulum: MujocoSimulator) -> None:
    assert _found(pendulum, 0.42, 0.42, 0.40)
    assert _found(pendulum, 2.1, 2.3, 2.2)


def test_a_gain_that_every_motion_sees_otherwise_is_a_gap(pendulum: MujocoSimulator) -> None:
    assert not _found(pendulum, 0.24, 0.44, 0.59)
    assert not _found(pendulum, 1.5, 1.7, 2.9)


def test_the_mean_is_taken_back_by_its_standard_error_and_not_beyond_what_is_right(pendulum: MujocoSimulator) -> None:
    one = np.ones(2)
    family = Family(pendulum, Doubt(("a", "b"), Bounds(one, one, 0 * one, 9 * one)), ({},))  # type: ignore[arg-type]
    fits = [Fitted(("a", "b"), np.array([a, b]), {}) for a, b in ((1.0, 2.0), (1.2, 4.0), (0.8, 6.0))]
    found = cautious(fits, family)
    assert found["a"] == 1.0
    assert np.isclose(found["b"], 4.0 - 2.0 / np.sqrt(3))


def test_logs_too_short_to_predict_their_ends_are_still_looked_at(
    pendulum: MujocoSimulator, collect: Callable[..., list[Log]]
) -> None:
    def begun(log: Log, seconds: float) -> Log:
        rows = log.command_time <= log.command_time[0] + seconds
        seen = {k: t <= log.command_time[0] + seconds for k, t in log.measurement_time.items()}
        return replace(
            log, commands={k: v[rows] for k, v in log.commands.items()}, command_time=log.command_time[rows],
            measurements={k: v[seen[k]] for k, v in log.measurements.items()},
            measurement_time={k: t[seen[k]] for k, t in log.measurement_time.items()},
        )  # fmt: skip

    short = [begun(log, 0.8) for log in collect()]
    assert Bench(pendulum, short, 24).usable


def test_commands_without_limits_may_be_in_any_unit(
    pendulum: MujocoSimulator, collect: Callable[..., list[Log]]
) -> None:
    endless = copy.copy(pendulum)
    (motor,) = pendulum.interface.commands
    endless.interface = replace(pendulum.interface, commands=(replace(motor, low=-np.inf, high=np.inf),))
    bench = Bench(pendulum, collect(), 24)
    doubt = Doubt.of(prior_belief(pendulum.parameters))
    assert motor.name in bench.driven(pendulum, doubt)
    assert motor.name not in bench.driven(endless, doubt)
