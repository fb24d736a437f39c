"""After a surprise on the robot, the next policy is trained over a wider belief; after a success, over what is believed."""

from pathlib import Path

import pytest

from gapless.core import Artifact, Store
from gapless.engine.caution import MOST, caution, surprise


def outcome(store: Store, crank: int, miss: float | None, inside: bool = False) -> Artifact:
    return store.make("outcome", {}, {"crank": crank}, lambda folder: {"inside": inside, "miss": miss})


@pytest.mark.parametrize(
    ("miss", "times"),
    [(-1.5, 1.2748), (-7.0, MOST), (-0.5, 1.0)],  # √((1 + 1.5²)/2) = 1.2748; never narrower than the belief
)
def test_a_shortfall_widens_by_what_it_says_the_doubt_was_too_small(tmp_path: Path, miss: float, times: float) -> None:
    found = outcome(Store(tmp_path), 1, miss)
    assert surprise(Store(tmp_path), 2) == found
    assert caution(found) == pytest.approx(times, abs=1e-4)


def test_only_the_last_outcome_before_the_crank_counts(tmp_path: Path) -> None:
    store = Store(tmp_path)
    first = outcome(store, 1, -5.0)
    outcome(store, 2, 0.3, inside=True)
    third = outcome(store, 3, -5.0)
    assert surprise(store, 1) is None
    assert surprise(store, 2) == first
    assert surprise(store, 3) is None
    assert surprise(store) == surprise(store, 4) == third


@pytest.mark.parametrize(("miss", "inside"), [(4.0, False), (-1.0, True), (None, False)])
def test_what_went_well_is_no_surprise(tmp_path: Path, miss: float | None, inside: bool) -> None:
    outcome(Store(tmp_path), 1, miss, inside)
    assert surprise(Store(tmp_path), 2) is None
    assert caution(None) == 1.0
