"""The film: what is drawn follows the log, and a machine that cannot film says why."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gapless.core import GaplessError, Log, Params, Point, nominal_belief
from gapless.report import film, shoot
from gapless.report.stretches import STRETCH_S, take
from gapless.simulators import MujocoSimulator

FRAME_S = 0.02


def params_of(simulator: MujocoSimulator, **changed: float) -> Params:
    nominal = nominal_belief(simulator.parameters).mean()
    return {**{k: float(np.asarray(v)) for k, v in nominal.items()}, **changed}


@pytest.fixture
def swung(pendulum: MujocoSimulator, simulate: Callable[..., Log]) -> tuple[Log, Point]:
    """Four seconds of a pendulum whose damping is not the data sheet's, and a belief that knows it."""
    truth = params_of(pendulum, **{"hinge.damping": 0.09})
    log = simulate(pendulum, truth, {"motor": 0.5 * np.sin(0.08 * np.arange(200))[:, None]})
    return log, Point(tuple(truth), np.array(list(truth.values())))


def test_learned_model_stays_with_the_robot_and_the_data_sheet_leaves_it(pendulum: MujocoSimulator, swung: tuple):
    taken = take(pendulum, *swung, FRAME_S)
    assert np.abs(taken.identified - taken.robot).max() < 1e-3
    assert np.abs(taken.nominal - taken.robot).max() > 0.02


def test_simulations_are_put_back_onto_the_robot_at_every_stretch(pendulum: MujocoSimulator, swung: tuple):
    taken = take(pendulum, *swung, FRAME_S)
    off = np.abs(taken.nominal - taken.robot).reshape(-1, round(STRETCH_S / FRAME_S))
    assert (off[:, 0] < 0.2 * off.max(axis=1)).all()
    assert taken.share.reshape(off.shape)[:, 0].tolist() == [0.0] * len(off)


def test_robot_is_drawn_where_it_was_measured(pendulum: MujocoSimulator, swung: tuple):
    log, belief = swung
    drawn = take(pendulum, log, belief, FRAME_S).robot[:, 0]
    measured = log.measurements["hinge.position"][:, 0]
    first = int(np.argmin(np.abs(measured - drawn[0])[:40]))
    assert drawn[:50] == pytest.approx(measured[first : first + 50], abs=1e-9)


def test_episode_that_is_too_short_is_refused_with_its_length(
    pendulum: MujocoSimulator, simulate: Callable[..., Log], swung: tuple
):
    short = simulate(pendulum, params_of(pendulum), {"motor": np.zeros((30, 1))})
    with pytest.raises(GaplessError, match=r"shorter than 1\.2 s"):
        take(pendulum, short, swung[1], FRAME_S)


def test_machine_without_an_encoder_names_the_extra_that_brings_one(
    pendulum: MujocoSimulator, swung: tuple, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setattr(film.shutil, "which", lambda name: None)
    monkeypatch.setattr(film.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(GaplessError, match=r"pip install 'gapless\[film\]'"):
        shoot(pendulum, *swung, tmp_path / "film.mp4")


def test_machine_that_cannot_draw_says_what_was_tried(
    pendulum: MujocoSimulator, swung: tuple, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setattr(film, "find_encoder", lambda: "false")
    monkeypatch.setattr(film, "_filmed", lambda *_: False)
    monkeypatch.setenv("MUJOCO_GL", "osmesa")
    with pytest.raises(GaplessError, match="tried osmesa"):
        shoot(pendulum, *swung, tmp_path / "film.mp4")


def test_users_choice_of_a_renderer_is_the_only_one_tried(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MUJOCO_GL", "glfw")
    assert film.platforms() == ("glfw",)


def test_robot_whose_joints_nobody_reads_is_not_drawn(pendulum: MujocoSimulator, swung: tuple, monkeypatch: Any):
    monkeypatch.setattr(pendulum, "sensed", {})
    with pytest.raises(GaplessError, match="measures no joint"):
        take(pendulum, *swung, FRAME_S)
