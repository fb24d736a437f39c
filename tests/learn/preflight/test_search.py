"""Bug or gap: a pendulum whose numbers are hidden, with and without a wrong convention in its logs."""

import copy
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from gapless.core import Log, prior_belief
from gapless.learn import preflight
from gapless.learn.preflight.as_logged import LATE
from gapless.learn.preflight.doubts import beyond
from gapless.learn.preflight.trial import Fitted
from gapless.learn.preflight.undoing import COMMANDS, Rescale, Shift, Undo
from gapless.simulators import MujocoSimulator

Collect = Callable[..., list[Log]]


@pytest.fixture
def looked_at(pendulum: MujocoSimulator, collect: Collect) -> Callable[..., list]:
    def findings(wrong: Undo | None = None, **gap: float) -> list:
        logs = [log if wrong is None else wrong.on_log(log) for log in collect(**gap)]
        return preflight(pendulum, prior_belief(pendulum.parameters), logs)

    return findings


def test_a_gap_is_no_bug(looked_at: Callable[..., list]) -> None:
    assert looked_at(motor_gain=0.65, command_latency=0.045, hinge_damping=0.09) == []


@pytest.mark.slow
def test_what_is_just_below_a_threshold_is_no_bug(looked_at: Callable[..., list]) -> None:
    assert looked_at(Rescale("hinge.position", 1.0, np.radians(3.5))) == []
    assert looked_at(Shift(COMMANDS, -0.02)) == []


def named(wrong: Undo, kind: str, *channels: str, slow: bool = True) -> object:
    """A case; all but the cheapest are slow."""
    return pytest.param(wrong, kind, channels, marks=[pytest.mark.slow] if slow else [])


@pytest.mark.parametrize(
    ("wrong", "kind", "channels"),
    [
        named(Rescale("hinge.position", 1.0, np.radians(12.0)), "offset", "hinge.position", slow=False),
        # One joint and one motor: whichever of the two is flipped, the logs look the same.
        named(Rescale("motor", -1.0), "sign", "motor", "hinge.position"),
        named(Rescale("hinge.position", 180 / np.pi), "degrees", "hinge.position"),
        named(Rescale("motor", 1.3 / 3.0), "gain", "motor"),
        named(Rescale("motor", 1000.0), "unit", "motor"),
        named(Shift(COMMANDS, -0.09), "clock", COMMANDS),
        named(Shift(COMMANDS, 0.08), "clock", COMMANDS),
    ],
)
def test_a_wrong_convention_is_named(
    looked_at: Callable[..., list], wrong: Undo, kind: str, channels: tuple[str, ...]
) -> None:
    first, *others = looked_at(wrong)
    assert first.kind == kind and first.channels[0] in channels and first.fold > 1.1
    assert not others and "prediction error" in first.evidence


@pytest.mark.slow
def test_a_fix_puts_the_logs_right(pendulum: MujocoSimulator, collect: Collect) -> None:
    wrong = [Rescale("hinge.position", 1.0, 0.3).on_log(log) for log in collect()]
    prior = prior_belief(pendulum.parameters)
    (found,) = preflight(pendulum, prior, wrong)
    assert preflight(pendulum, prior, [found.fix.on_log(log) for log in wrong]) == []
    assert found.fix.on_log(wrong[0]).measurements["hinge.position"] == pytest.approx(
        wrong[0].measurements["hinge.position"] - 0.3, abs=0.03
    )


def test_a_late_sensor_is_found_though_the_fit_blames_the_others_and_the_commands(pendulum: MujocoSimulator) -> None:
    def late(**values: float) -> dict[str, str]:
        fitted = Fitted(tuple(values), np.array([*values.values()]), {})
        return {h.channels[0]: h.looks for h in beyond(two, fitted)}

    angle, *_ = pendulum.interface.measurements
    other = replace(angle, name="other")
    two = copy.copy(pendulum)
    two.interface = replace(pendulum.interface, measurements=(angle, other))
    split = {f"{angle.name}{LATE}": -0.037, f"other{LATE}": 0.016}
    assert late(**split, **{"command.latency": 0.056}) == {"other": "other is stamped 53 ms too late"}
    assert late(**split, **{"command.latency": 0.01}) == {}
    assert late(**{f"{angle.name}{LATE}": -0.07, f"other{LATE}": 0.0}, **{"command.latency": 0.02}) == {
        angle.name: f"{angle.name} is stamped 70 ms too early"
    }
