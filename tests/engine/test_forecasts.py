"""Forecasts keep their own score, and hold back what promises too little."""

from pathlib import Path

import numpy as np
import pytest

from gapless.core import Artifact, GaplessError, Store
from gapless.engine.forecasts import interval, require_promising, score

MEANS = np.random.default_rng(0).normal(3.0, 0.2, 4000)


def outcome(store: Store, crank: int, miss: float, inside: bool) -> None:
    store.make("outcome", {}, {"crank": crank}, lambda folder: {"miss": miss, "inside": inside})


def forecast(store: Store, **said: float) -> Artifact:
    return store.make("forecast", {}, said, lambda folder: said)


def test_an_interval_holds_the_share_that_it_claims() -> None:
    said = interval(MEANS, 0.8, 1.0, 0.0)
    assert np.mean((said["low"] <= MEANS) & (said["high"] >= MEANS)) == pytest.approx(0.8, abs=0.01)
    assert said["deviation"] == pytest.approx(0.2, rel=0.05)


def test_a_forecaster_that_missed_states_wider_intervals_and_a_good_one_does_not(tmp_path: Path) -> None:
    missed, good = Store(tmp_path / "missed"), Store(tmp_path / "good")
    for crank in (1, 2):
        outcome(missed, crank, 4.0, False)
        outcome(good, crank, 0.9, True)
    assert score(missed).widen == pytest.approx(np.sqrt((1 + 32) / 3))
    assert score(good).widen == pytest.approx(1.0, abs=0.1)
    wide, narrow = (interval(MEANS, 0.8, s.widen, 0.0) for s in (score(missed), score(good)))
    assert wide["high"] - wide["low"] > 3 * (narrow["high"] - narrow["low"])
    assert wide["deviation"] == pytest.approx(narrow["deviation"])  # misses are counted in the simulated spread


def test_no_miss_makes_a_forecast_go_below_rest_or_far_above_the_best_draw() -> None:
    said = interval(MEANS, 0.8, 20.0, 1.0)
    best = float(MEANS.max())
    assert (said["low"], said["high"]) == (pytest.approx(1.0), pytest.approx(2 * best - said["mean"]))
    assert said["deviation"] == pytest.approx(0.2, rel=0.05)


def test_a_few_failures_do_not_hide_that_earlier_forecasts_were_too_high() -> None:
    failing = np.concatenate([np.linspace(3.7, 3.9, 60), [0.5, 0.6, 0.7, 0.8]])
    assert failing.mean() < np.quantile(failing, 0.1)
    said = interval(failing, 0.8, 5.0, 0.0)
    assert said["low"] < said["mean"] - 0.3
    assert said["high"] < 4.5


def test_the_score_counts_hits_and_only_what_came_before(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for crank, inside in ((1, True), (2, False), (3, True)):
        outcome(store, crank, 0.5 if inside else 3.0, inside)
    assert (score(store).hits, score(store).of) == (2, 3)
    assert (score(store, before_crank=2).hits, score(store, before_crank=2).of) == (1, 1)


def test_a_policy_that_promises_less_than_rest_is_held_back(tmp_path: Path) -> None:
    store = Store(tmp_path)
    require_promising(forecast(store, low=0.5, mean=1.0, still=0.2), None)
    with pytest.raises(GaplessError, match=r"not sent to the robot.*a robot that rests is worth 0\.2.*--force"):
        require_promising(forecast(store, low=0.0, mean=0.1, still=0.2), None)


def test_a_users_own_mark_counts_against_the_lower_end(tmp_path: Path) -> None:
    store = Store(tmp_path)
    require_promising(forecast(store, low=2.1, mean=3.0, still=0.0), 2.0)
    with pytest.raises(GaplessError, match=r"may fall to 1\.9, and the least allowed is 2"):
        require_promising(forecast(store, low=1.9, mean=3.0, still=0.0), 2.0)
