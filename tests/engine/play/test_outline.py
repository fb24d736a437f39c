"""A stroke becomes a body: convex, with few corners, around its centre of mass."""

import numpy as np
import pytest

from gapless.engine.play.outline import polygon
from gapless.simulators.planar.scene import CORNERS


def area(corners: np.ndarray) -> float:
    after = np.roll(corners, -1, 0)
    return float((corners[:, 0] * after[:, 1] - corners[:, 1] * after[:, 0]).sum() / 2)


def test_box_stays_a_box_whichever_way_it_was_drawn():
    for stroke in ([[0, 0], [0.6, 0], [0.6, 0.4], [0, 0.4]], [[0, 0.4], [0.6, 0.4], [0.6, 0], [0, 0]]):
        found = polygon(np.array(stroke, float))
        assert len(found.corners) == 4
        assert area(found.corners) == pytest.approx(0.24)  # positive: counter-clockwise
        assert found.centre.tolist() == pytest.approx([0.3, 0.2])


def test_wobbly_circle_keeps_eight_corners_and_nine_tenths_of_its_area():
    turn = np.linspace(0, 2 * np.pi, 200)
    reach = 0.4 + 0.01 * np.sin(17 * turn)
    found = polygon(np.stack([1 + reach * np.cos(turn), reach * np.sin(turn)], 1))
    assert len(found.corners) == CORNERS
    assert 0.88 * np.pi * 0.16 < area(found.corners) < 1.05 * np.pi * 0.16
    assert found.centre.tolist() == pytest.approx([1.0, 0.0], abs=0.02)


def test_dent_is_filled():
    found = polygon(np.array([[0, 0], [0.6, 0], [0.3, 0.1], [0.6, 0.5], [0, 0.5]], float))
    assert area(found.corners) == pytest.approx(0.3)


def test_almost_straight_corner_is_left_out():
    found = polygon(np.array([[0, 0], [0.3, -0.001], [0.6, 0], [0.6, 0.5], [0, 0.5]], float))
    assert len(found.corners) == 4
