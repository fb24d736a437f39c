"""Tosses of one file are learned from and those of another scored on, however a recording was parted."""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
import cube_toss
import frame
from cube import PERIOD_S, WIDTH_M
from gapless.core import GaplessError
from gapless.simulators.rigid.teacher import draw_reality, throw

LENGTHS = (30, 26, 30, 22, 30, 30, 24, 30, 28, 30)


@pytest.fixture
def halves(tmp_path: Path) -> tuple[Path, Path]:
    """Every other toss of one recording in each file."""
    rng = np.random.default_rng(0)
    thrown = throw(draw_reality(WIDTH_M / 2, rng), len(LENGTHS), max(LENGTHS), PERIOD_S, rng)
    files = tmp_path / "even.npz", tmp_path / "odd.npz"
    for first, file in enumerate(files):
        mine = range(first, len(LENGTHS), 2)
        columns: dict[str, Any] = {f"toss.{k}/{n}": x[k, : LENGTHS[k]] for k in mine for n, x in thrown.items()}
        np.savez(file, **columns)
    return files


def test_all_of_one_file_is_learned_from_and_all_of_the_other_scored_on(halves: tuple[Path, Path]) -> None:
    even, odd = map(str, halves)
    train, test = cube_toss.parts({"train": even, "test": odd})
    assert [list(t.length) for t in (train, test)] == [list(LENGTHS[::2]), list(LENGTHS[1::2])]
    swapped = cube_toss.parts({"train": odd, "test": even})
    assert np.array_equal(swapped[0].position, test.position) and np.array_equal(swapped[1].position, train.position)


def test_a_file_with_too_few_tosses_for_both_asks_for_another(halves: tuple[Path, Path]) -> None:
    with pytest.raises(GaplessError, match=r"even\.npz has only 5 tosses\. Name others to score on with --test"):
        cube_toss.parts({"train": str(halves[0]), "test": ""})


@pytest.mark.slow
def test_two_files_are_all_that_the_benchmark_needs(
    halves: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GAPLESS_DATA", str(tmp_path / "none"))
    monkeypatch.setattr(frame, "CELLS", tmp_path / "cells")
    options = ["--train", str(halves[0]), "--test", str(halves[1]), "--quick", "--json", str(tmp_path / "found.json")]
    monkeypatch.setattr(sys, "argv", ["cube_toss.py", *options])
    cube_toss.main()
    found = json.loads((tmp_path / "found.json").read_text())
    learned = {row["forecast"]: row for row in found["rows"] if row["tosses"] == 5}
    assert set(learned) == {"identified", "ours", "ours, middle of the cloud", "from scratch"}
    assert all(0 < learned[name]["position_pct"] < 100 for name in learned)
    assert found["figures"]["position_pct"] == learned["ours"]["position_pct"]
    if not learned["ours"]["bent"]:
        assert learned["ours"]["position_pct"] == pytest.approx(learned["identified"]["position_pct"])
