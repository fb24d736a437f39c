"""What an episode on the robot is worth, by hand."""

import numpy as np
import pytest

from gapless.core import Channel, Interface, Log, Task, on_one_clock
from gapless.train.adapting import worth

INTERFACE = Interface("cart", 0.1, (Channel("motor", low=-10, high=10),), (Channel("pole.angle"),))


def episode(volts: list[float], stopped: str | None) -> Log:
    """A reward of volts / 10 each second; `push` lasts 0.3 s, which is three periods."""
    commands, seen = {"motor": np.array(volts)[:, None]}, {"pole.angle": np.zeros((len(volts), 1))}
    return on_one_clock(INTERFACE, commands, seen, 0.1 * np.arange(len(volts)), {"stopped": stopped})


def test_an_episode_that_came_to_its_end_is_worth_its_return(push: Task) -> None:
    assert worth(push, episode([10.0, -5.0, 10.0, 0.0], None)) == pytest.approx(0.1 * (1 - 0.5 + 1))
    assert worth(push, episode([10.0, -5.0], None)) == pytest.approx(0.1)


def test_time_lost_by_a_stop_costs_what_the_worst_period_did_and_never_pays(push: Task) -> None:
    assert worth(push, episode([10.0, -5.0, 0.0], "too fast")) == pytest.approx(0.1 * (1 - 0.5) - 0.1 * 0.5)
    assert worth(push, episode([10.0, 0.0], "too fast")) == pytest.approx(0.1)
    assert worth(push, episode([10.0], "too fast")) == 0.0
