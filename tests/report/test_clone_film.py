"""Films side by side: panels with their titles, the clone where it was, and a robot that nobody logged moved by MuJoCo."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

from gapless.core import GaplessError, Log, nominal_belief
from gapless.report import clone_film, shoot_beside, swayed
from gapless.report.film import Reel
from gapless.report.letters import lettered, written
from gapless.simulators import MujocoSimulator
from gapless.tasks import SwingUp


@pytest.fixture
def reels(monkeypatch: pytest.MonkeyPatch) -> list[Reel]:
    """Reels that would have been drawn."""
    kept: list[Reel] = []

    def keep(model: Any, reel: Reel, out: Path) -> dict[str, Any]:
        kept.append(reel)
        return {}

    monkeypatch.setattr(clone_film, "develop", keep)
    return kept


def test_letters_are_five_by_seven_with_one_pixel_between_them() -> None:
    assert written("TOT").shape == (7, 18)
    assert written("T").sum() == 11
    with pytest.raises(GaplessError, match="only"):
        written("?")


def test_every_panel_has_its_title_at_its_left() -> None:
    picture = lettered(("CLONE", "ROBOT"), (400, 100), 200)
    assert picture.shape == (100, 400)
    assert picture[:, :200].any() and picture[:, 200:].any()
    assert not picture[:, :16].any()


def test_a_log_of_a_robot_stands_beside_both_simulators(
    pendulum: MujocoSimulator, simulate: Callable[..., Log], reels: list[Reel]
) -> None:
    belief = nominal_belief(pendulum.parameters)
    params = {k: float(np.asarray(v)) for k, v in belief.mean().items()}
    log = simulate(pendulum, params, {"motor": 0.5 * np.sin(0.08 * np.arange(150))[:, None]})
    figures = shoot_beside(pendulum, pendulum, [replace(log, source={})], belief, Path("film.mp4"))
    assert reels[0].titles == ("ROBOT", "MUJOCO", "CLONE")
    assert reels[0].panels == (("robot",), ("mujoco", "robot"), ("clone", "robot"))
    assert figures["off"]["clone"] == pytest.approx(figures["off"]["mujoco"])
    shoot_beside(pendulum, pendulum, [replace(log, source={"simulated": True})], belief, Path("film.mp4"))
    assert reels[1].titles == ("MUJOCO", "CLONE")


def test_without_logs_mujoco_sways_the_robot_from_where_its_task_begins(cartpole: MujocoSimulator) -> None:
    logs = swayed(cartpole, SwingUp(), nominal_belief(cartpole.parameters), jax.random.key(0))
    assert len(logs) == clone_film.SHOWN
    assert all(log.seconds >= 1.25 for log in logs)
    assert all(log.source["simulated"] for log in logs)
    again = swayed(cartpole, SwingUp(), nominal_belief(cartpole.parameters), jax.random.key(0))
    assert np.array_equal(logs[0].measurements["pole.angle"], again[0].measurements["pole.angle"])
