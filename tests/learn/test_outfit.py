"""What windows ask of a residual."""

import numpy as np
import pytest

from gapless.learn.knots import Linear
from gapless.learn.outfit import smoothed


@pytest.mark.parametrize("precise", [1e3, 1e6, 1e10])
def test_logs_without_noise_ask_for_the_smallest_additions_that_explain_them(precise: float) -> None:
    """Two periods move one reading alike, each by `precise` deviations of its noise: each gives half of the missing 3."""
    answer, nothing = np.full((1, 1, 2), precise), {"motor.change": np.zeros((1, 2))}
    linear = Linear(np.array([[-3.0 * precise]]), {"motor.change": answer}, {}, nothing)
    assert smoothed(linear, {"motor.change": 1.0})["motor.change"] == pytest.approx(np.full((1, 2), 1.5), rel=1e-3)
