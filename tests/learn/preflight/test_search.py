"""Bug or gap: a pendulum whose numbers are hidden, with and without a wrong convention in its logs."""

from collections.abc import Callable

import numpy as np
import pytest

from gapless.core import Log, prior_belief
from gapless.learn import preflight
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
    assert looked_at() == []
    assert looked_at(motor_gain=0.65, command_latency=0.045, hinge_damping=0.09) == []


def test_what_is_just_below_a_threshold_is_no_bug(looked_at: Callable[..., list]) -> None:
    assert looked_at(Rescale("hinge.position", 1.0, np.radians(3.5))) == []
    assert looked_at(Shift(COMMANDS, -0.02)) == []


@pytest.mark.parametrize(
    ("wrong", "kind", "channel"),
    [
        (Rescale("motor", -1.0), "sign", "motor"),
        (Rescale("hinge.position", 180 / np.pi), "degrees", "hinge.position"),
        (Rescale("hinge.position", 1.0, np.radians(12.0)), "offset", "hinge.position"),
        (Rescale("motor", 1.3 / 3.0), "gain", "motor"),
        (Rescale("motor", 1000.0), "unit", "motor"),
        (Shift(COMMANDS, -0.09), "clock", COMMANDS),
        (Shift(COMMANDS, 0.08), "clock", COMMANDS),
    ],
)
def test_a_wrong_convention_is_named(looked_at: Callable[..., list], wrong: Undo, kind: str, channel: str) -> None:
    first, *others = looked_at(wrong)
    assert (first.kind, first.channels) == (kind, (channel,)) and first.fold > 1.1
    assert not others and "prediction error" in first.evidence


def test_a_fix_puts_the_logs_right(pendulum: MujocoSimulator, collect: Collect) -> None:
    wrong = [Rescale("hinge.position", 1.0, 0.3).on_log(log) for log in collect()]
    prior = prior_belief(pendulum.parameters)
    (found,) = preflight(pendulum, prior, wrong)
    assert preflight(pendulum, prior, [found.fix.on_log(log) for log in wrong]) == []
    assert found.fix.on_log(wrong[0]).measurements["hinge.position"] == pytest.approx(
        wrong[0].measurements["hinge.position"] - 0.3, abs=0.03
    )
