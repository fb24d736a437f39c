"""Left-out logs choose how long a fit's windows are, and no log judges a fit that has seen it."""

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
import real_lengths
from gapless.learn.anchored import Anchored
from real_lengths import LENGTHS_S, with_best_length


def test_the_length_with_the_least_left_out_error_is_taken_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(real_lengths, "_left_out", lambda simulator, logs, recipe: 1 + abs(recipe.window_s - 0.39))
    simulator: Any = None
    recipe, said = with_best_length(simulator, [], Anchored(windows=7))
    assert (recipe.window_s, recipe.windows) == (0.4, 7)
    assert said.startswith("windows of 0.4 s") and "0.8 s 1.4100" in said


def test_no_log_is_judged_by_a_fit_that_has_seen_it(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[list[int]] = []
    judged: list[list[int]] = []

    def fitted(simulator: Any, prior: Any, logs: list[int], recipe: Anchored) -> None:
        seen.append(logs)

    def cut(logs: list[int], every_s: float) -> Any:
        judged.append(logs)
        return SimpleNamespace(moves=np.array([True, False, True]))

    def off(predictor: Any, over: Any, absolute: bool) -> Any:
        # The window that rests does not count: medians are 2 and 8, and their geometric mean is 4.
        return np.tile(np.array([[2.0, 8.0], [99.0, 99.0], [2.0, 8.0]])[:, None], (1, 4, 1))

    fakes = {"moving": lambda logs, least_s: logs, "anchored": fitted, "pieces": cut, "errors": off}
    fakes |= {"prior_belief": lambda parameters: None, "start_doubts": lambda simulator, logs: {}}
    fakes |= {"Predictor": lambda *parts: parts}
    for name, fake in fakes.items():
        monkeypatch.setattr(real_lengths, name, fake)
    simulator, logs = SimpleNamespace(parameters=()), [0, 1, 2, 3, 4]
    _, said = with_best_length(simulator, logs, Anchored())  # type: ignore[arg-type]
    assert len(seen) == len(judged) == 2 * len(LENGTHS_S)
    assert all(sorted([*a, *b]) == logs and b for a, b in zip(seen, judged, strict=True))
    assert "0.3 s 4.0000" in said
