"""Recordings that cannot be used are refused in one sentence, and a set without repeats still has its figure."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
from gapless.core import GaplessError
from real_pendula import compute, figures
from recordings import MACHINES
from recordings_servos import bench_logs

TIME = np.arange(0, 3, 0.004)


def _recorded(path: Path, **columns: np.ndarray) -> Path:
    np.savez(path, **{f"motion.0/{name}": values for name, values in columns.items()})
    return path


def test_a_file_that_is_no_archive_is_refused(tmp_path: Path) -> None:
    (tmp_path / "broken.npz").write_text("not an archive")
    with pytest.raises(GaplessError, match=r"broken\.npz is no archive of recordings"):
        MACHINES["furuta"].logs(tmp_path / "broken.npz")


def test_a_missing_channel_is_named(tmp_path: Path) -> None:
    path = _recorded(tmp_path / "other.npz", time=TIME, position=TIME)
    with pytest.raises(GaplessError, match="has no channel 'command'"):
        MACHINES["cartpole"].logs(path)
    with pytest.raises(GaplessError, match="has no channel 'goal_position'"):
        bench_logs(path)


def test_another_machines_recording_is_refused(tmp_path: Path) -> None:
    path = _recorded(
        tmp_path / "arm.npz", time=TIME, command=np.zeros((len(TIME), 14)), state=np.zeros((len(TIME), 14))
    )
    with pytest.raises(GaplessError, match="Is it a recording of another machine"):
        MACHINES["furuta"].logs(path)
    older = _recorded(tmp_path / "older.npz", time=TIME, pos1=TIME, tau1=TIME)
    with pytest.raises(GaplessError, match="no recording of the machine 'double_pendulum'"):
        MACHINES["double_pendulum"].logs(older)


def test_one_log_cannot_be_learned_from_and_scored_on(tmp_path: Path) -> None:
    command, state = np.zeros((len(TIME) - 1, 1)), np.zeros((len(TIME), 4))
    path = _recorded(tmp_path / "one.npz", time=TIME, command=command, state=state)
    setting = {"set": "furuta", "predictor": "persistence", "folder": "", "train": str(path), "test": "", "seed": 0}
    with pytest.raises(GaplessError, match="leaves 0 logs to learn from and 1 to score on"):
        compute(setting)
    assert compute(setting | {"test": str(path)})["rows"][0]["moving"] == "0/2"


def test_a_floor_without_repeats_leaves_the_figure_as_it_is() -> None:
    spelled = {"authors": "0.2000/0.4000", "ours": "0.1000/0.1000", "repeats": ""}
    rows = [{"set": "double_pendulum", "windows of": "all", "predictor": p, "0.5 s": at} for p, at in spelled.items()]
    assert figures(rows) == {"double_pendulum_vs_authors": pytest.approx(0.375)}
