"""Delta actions: commands changed so that the simulator moves as the robot did, and left alone where it already does."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gapless.core import Chosen, nominal_belief
from gapless.learn import with_residual
from gapless.learn.delta_action import DELTA_ACTION, learn_delta_action, plain_gaussian
from gapless.learn.held_out import prediction_errors
from gapless.logs import Parted
from gapless.simulators import MujocoSimulator
from gapless.simulators.parts import MEMBER

SMALL = replace(DELTA_ACTION, members=2, rounds=1, windows=48)


@pytest.fixture
def hilly(with_hills: Callable[[str, float, float], MujocoSimulator]) -> MujocoSimulator:
    return with_hills("slider", 3.0, 4.0)


@pytest.mark.slow
def test_a_hidden_force_becomes_a_change_of_commands(
    cartpole: MujocoSimulator, hilly: MujocoSimulator, drive: Any
) -> None:
    belief = nominal_belief(cartpole.parameters)
    learnt = learn_delta_action(cartpole, belief, Parted(drive(hilly, 3, 0), drive(hilly, 1, 10)), SMALL)
    assert learnt is not None
    assert [c.name for c in learnt.residual.corrections] == ["motor.change"]
    unseen = drive(hilly, 1, 20)
    after = prediction_errors(
        with_residual(cartpole, learnt.residual), Chosen(belief, MEMBER, learnt.residual.members), unseen
    )
    assert np.median(after) < np.median(prediction_errors(cartpole, belief, unseen)) / 2


def test_the_parameters_stay_as_they_were_believed(cartpole: MujocoSimulator) -> None:
    belief = nominal_belief(cartpole.parameters)
    known = plain_gaussian(cartpole, Chosen(belief, "nobodys.choice", 4))
    assert "nobodys.choice" not in known.names
    for name, value in known.mean().items():
        assert float(value) == pytest.approx(float(belief.mean()[name]))


@pytest.mark.slow
def test_no_command_is_changed_where_the_physics_explains_the_logs(cartpole: MujocoSimulator, drive: Any) -> None:
    belief = nominal_belief(cartpole.parameters)
    logs = Parted(drive(cartpole, 2, 0), drive(cartpole, 1, 10))
    assert learn_delta_action(cartpole, belief, logs, SMALL) is None
