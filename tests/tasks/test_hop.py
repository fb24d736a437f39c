"""Hopping along: what pays, what ends it, and the same robot the other way."""

import jax
import jax.numpy as jnp
import numpy as np

from gapless.core import Signals, on_one_clock
from gapless.core.interface import Interface
from gapless.tasks import Hop, HopBack

TASK, BACK = Hop(), HopBack()
INTERFACE = Interface("hopper", 0.02, TASK.commands, TASK.measurements)


def standing(**changed: float) -> Signals:
    return {c.name: jnp.full((1, 1), changed.get(c.name.replace(".", "_"), 0.0)) for c in TASK.measurements}


def test_speed_along_pays_and_the_other_way_costs() -> None:
    still, rest = standing(), {c.name: jnp.zeros((1, 1)) for c in TASK.commands}
    ahead = standing(torso_x=0.01)
    assert np.isclose(TASK.reward(still, rest, ahead) - TASK.reward(still, rest, still), 0.5)
    assert np.isclose(BACK.reward(still, rest, ahead) - BACK.reward(still, rest, still), -0.5)


def test_it_ends_when_it_falls() -> None:
    assert not TASK.finished(standing()).any()
    for fallen in ({"torso_pitch": 0.8}, {"torso_z": -0.3}, {"hip_angle": -1.1}):
        assert TASK.finished(standing(**fallen)).all()


def test_the_verdict_is_how_far_it_came() -> None:
    rows = round(TASK.seconds / INTERFACE.period_s) + 1
    for far, passed in ((1.0, True), (0.4, False)):
        measured = {c.name: np.zeros((rows, 1)) for c in TASK.measurements}
        measured["torso.x"] = np.linspace(0, far, rows)[:, None]
        sent = {c.name: np.zeros((rows, 1)) for c in TASK.commands}
        log = on_one_clock(INTERFACE, sent, measured, np.arange(rows) * INTERFACE.period_s)
        assert TASK.judge(log).passed == passed
        assert not BACK.judge(log).passed


def test_explored_starts_go_the_tasks_own_way() -> None:
    speeds = [np.asarray(t.explore(jax.random.key(0), 400)["root_x.velocity"]) for t in (TASK, BACK)]
    assert speeds[0].mean() > 0.1 > -0.1 > speeds[1].mean()
