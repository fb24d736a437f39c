"""Attribution: the family that was changed is the one that is blamed."""

from collections.abc import Callable

import numpy as np
import pytest

from gapless.core import Log, Point
from gapless.learn.attribution import attribute
from gapless.simulators import MujocoSimulator


@pytest.mark.parametrize(
    ("name", "value", "family"), [("command.latency", 0.04, "latency"), ("motor.gain", 0.6, "actuation")]
)
def test_what_was_changed_is_blamed(
    name: str, value: float, family: str, pendulum: MujocoSimulator, collect: Callable[..., list[Log]]
) -> None:
    true = {"hinge.damping": 0.02, "motor.gain": 1.0, "command.latency": 0.0} | {name: value}
    other = {k.replace(".", "_"): v for k, v in true.items()}
    logs, held_out = collect(2, **other), collect(1, first=9, **other)
    causes, together = attribute(pendulum, Point(tuple(true), np.array(list(true.values()))), logs, held_out)
    assert causes[0].family == family
    assert causes[0].explained > 0.8
    assert together == pytest.approx(causes[0].explained, abs=0.2)
    assert {c.family for c in causes} == {"latency", "friction", "actuation"}
