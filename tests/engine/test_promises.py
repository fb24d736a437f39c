"""What was expected of a chosen motion is kept beside what came, however often the recording is interrupted."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from gapless.core import Artifact, Robot
from gapless.engine import Recipe, Stages, Workspace
from gapless.engine.promises import MOST_ROWS, fulfilled
from gapless.learn import Excite
from gapless.logs import read_logs

RECIPE = Recipe(excite_s=1.0, excite=Excite(candidates=2, generations=1, doubts=2, watched=1, scored=1))


def excite(workspace: Workspace, robot: Robot) -> Artifact:
    return Stages(workspace, RECIPE, seed=0, crank=1).excite(robot, None, 2)


def test_every_motion_is_kept_with_its_limits_and_what_was_measured(workspace: Workspace, pretender: Callable) -> None:
    made = excite(workspace, pretender())
    first, second = made.figures["motions"]
    assert (first["episode"], second["episode"]) == (100, 101)
    channels = {c["name"]: c for c in first["channels"]}
    assert [c["kind"] for c in first["channels"]] == ["command", "measurement", "measurement"]
    cart = channels["cart.position"]
    assert cart["limit_high"] == pretender.interface.channel("cart.position").high
    assert np.all(np.array(cart["low"]) <= cart["expected"]) and np.all(np.array(cart["expected"]) <= cart["high"])
    assert max(cart["high"]) <= 0.75 * cart["limit_high"] + 1e-6  # excite.margin
    pole = read_logs(made.folder / "logs")[0].measurements["pole.angle"][:, 0]
    assert channels["pole.angle"]["measured"] == pytest.approx(pole[: len(first["time_s"])])
    assert set(first["now"]) == set(first["after"]) and first["draws"] == 3


def test_motions_of_an_interrupted_recording_are_those_of_a_whole_one(
    workspace: Workspace, pretender: Callable
) -> None:
    with pytest.raises(KeyboardInterrupt):
        excite(workspace, pretender(breaks_after=70))
    again = excite(workspace, pretender()).figures["motions"]
    whole = Workspace(workspace.folder)
    whole.store = type(workspace.store)(workspace.folder / "anew")
    assert excite(whole, pretender()).figures["motions"] == again


def test_what_came_ends_with_the_log(workspace: Workspace, pretender: Callable) -> None:
    made = excite(workspace, pretender())
    log = read_logs(made.folder / "logs")[0]
    short = replace(
        log,
        commands={k: v[:10] for k, v in log.commands.items()},
        measurements={k: v[:10] for k, v in log.measurements.items()},
        command_time=log.command_time[:10],
        measurement_time={k: v[:10] for k, v in log.measurement_time.items()},
    )
    measured = fulfilled(made.figures["motions"][0], short)["channels"][1]["measured"]
    assert measured[9] is not None and measured[12:] == [None] * len(measured[12:])
    assert len(measured) <= MOST_ROWS
