"""What is foretold: one simulation where all is known, and the middle of what may happen where a start is not."""

from collections.abc import Callable

import numpy as np

from gapless.core import Log, Point
from gapless.learn.foretell import Question, foretold
from gapless.simulators import MujocoSimulator, holds_of

TIMES = np.array([[0.1, 0.3]])
UPRIGHT = {"hinge.position": np.array([[np.pi - 0.02]]), "hinge.velocity": np.zeros((1, 1))}


def asked(logs: list[Log], doubt: dict[str, float], until_s: float = 0.3) -> Question:
    return Question(logs, np.zeros(1, int), np.zeros(1), UPRIGHT, doubt, TIMES * until_s / 0.3)


def test_one_simulation_where_all_is_known(pendulum: MujocoSimulator, collect: Callable[..., list[Log]]) -> None:
    logs, sure = collect(1), Point((), np.empty(0))
    found = foretold(pendulum, sure, asked(logs, {}), draws=3)["hinge.position"]
    played = pendulum.with_worlds(1).play({}, UPRIGHT, holds_of(logs, np.zeros(1, int), np.zeros(1)), TIMES)
    np.testing.assert_allclose(found, played["hinge.position"], atol=1e-12)


def test_a_doubtful_start_near_the_top_falls_to_neither_side(
    pendulum: MujocoSimulator, collect: Callable[..., list[Log]]
) -> None:
    logs, sure = collect(1, idle=True), Point((), np.empty(0))
    known = foretold(pendulum, sure, asked(logs, {}, 0.9), draws=1)["hinge.position"][0, -1, 0]
    doubted = foretold(pendulum, sure, asked(logs, {"hinge.position": 0.5}, 0.9), seed=1)["hinge.position"][0, -1, 0]
    again = foretold(pendulum, sure, asked(logs, {"hinge.position": 0.5}, 0.9), seed=1)["hinge.position"][0, -1, 0]
    assert np.pi - known > 3 * abs(np.pi - doubted) and doubted == again
