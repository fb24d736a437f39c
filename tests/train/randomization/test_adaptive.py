"""Ranges that adapt: edges move by what happens on them, by hand and against a machine that can stand so much and no more."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gapless.core import Block, GaplessError, Log, Parameter, Params, Signals, Task, Verdict
from gapless.simulators import JaxCartpole
from gapless.train.randomization import Adapt, Adaptive, EdgeTrial, adaptive

GAIN = Parameter("motor.gain", "N/V", 1.5, 0.5, 2.5, "actuation")
DRY = Parameter("slider.friction", "N", 0.0, 0.0, 2.0, "friction")
RECIPE = Adapt(episodes=4, widen_above=0.75, narrow_below=0.5, step=0.25)


def test_ranges_begin_at_the_data_sheet_and_edges_that_are_limits_do_not_exist() -> None:
    ranges = adaptive([GAIN, DRY], RECIPE)
    assert ranges.edges == (("motor.gain", "low"), ("motor.gain", "high"), ("slider.friction", "high"))
    belief = ranges.belief()
    assert (belief.low == [1.5, 0.0]).all() and (belief.high == [1.5, 0.0]).all()
    assert ranges.extent == 0.0


def test_an_edge_moves_out_where_enough_pass() -> None:
    # A quarter of the way from 1.5 to 2.5; three of four are enough.
    ranges = adaptive([GAIN], RECIPE).told({("motor.gain", "high"): [True, True, False, True]})
    assert ranges.belief().high[0] == pytest.approx(1.75)
    assert ranges.belief().low[0] == pytest.approx(1.5)


def test_an_edge_waits_for_enough_episodes_and_then_forgets_them() -> None:
    high = ("motor.gain", "high")
    ranges = adaptive([GAIN], RECIPE).told({high: [True, True]})
    assert ranges.at(high) == 1.5
    ranges = ranges.told({high: [True, True]})
    assert (ranges.at(high), ranges.heard[high]) == (1.75, ())


def test_an_edge_moves_back_where_most_fail_and_stays_in_between() -> None:
    low = ("motor.gain", "low")
    ranges = adaptive([GAIN], Adapt(4, 0.75, 0.5, 0.25, begin=0.5))
    assert ranges.at(low) == pytest.approx(1.0)
    assert ranges.told({low: [True, True, False, False]}).at(low) == pytest.approx(1.0)
    assert ranges.told({low: [True, False, False, False]}).at(low) == pytest.approx(1.25)


def test_no_edge_leaves_what_is_plausible() -> None:
    ranges, high = adaptive([GAIN], RECIPE), ("motor.gain", "high")
    for _ in range(6):
        ranges = ranges.told({high: [True] * 4})
    assert ranges.at(high) == 2.5
    assert ranges.extent == pytest.approx(0.5)


def test_ranges_grow_to_where_the_policy_begins_to_fail() -> None:
    ranges: Adaptive = adaptive([GAIN], Adapt(episodes=4, step=0.1))
    for _ in range(30):
        stands = {edge: [0.8 < ranges.at(edge) < 1.9] * 4 for edge in ranges.edges}
        ranges = ranges.told(stands)
    belief = ranges.belief()
    assert belief.low[0] == pytest.approx(0.8, abs=0.11)
    assert belief.high[0] == pytest.approx(1.9, abs=0.11)


def test_draws_are_put_onto_the_edge_that_is_asked_about() -> None:
    ranges = adaptive([GAIN, DRY], Adapt(begin=0.5))
    draws = {"motor.gain": np.array([1.4, 1.6]), "slider.friction": np.array([0.1, 0.2])}
    found = ranges.on_edges(draws, [("motor.gain", "low"), ("slider.friction", "high")])
    assert found["motor.gain"].tolist() == [1.0, 1.6]
    assert found["slider.friction"].tolist() == [0.1, 1.0]


def test_an_unknown_edge_and_senseless_shares_are_refused() -> None:
    with pytest.raises(GaplessError, match="there is no edge"):
        adaptive([GAIN]).told({("pole.mass", "low"): [True]})
    with pytest.raises(GaplessError, match="narrow_below < widen_above"):
        Adapt(widen_above=0.3)
    with pytest.raises(GaplessError, match="no parameter is free"):
        adaptive([])


class Full(Block):
    """All the volts there are."""

    def init(self, key: Any) -> Any:
        return jnp.zeros(())

    def step(self, params: Params, memory: Any, inputs: Signals, dt_s: float, key: Any) -> Any:
        return memory, {"motor": jnp.full((1,), 10.0)}


def test_episodes_on_edges_are_judged_one_by_one(traced_cartpole: JaxCartpole, push: Task) -> None:
    class Far(type(push)):
        measurements = traced_cartpole.interface.measurements

        def judge(self, log: Log) -> Verdict:
            far = bool(log.measurements["cart.position"][-1, 0] > 0.30)
            return Verdict(far, 1.0 if far else -1.0, "went")

    coarse = JaxCartpole(traced_cartpole.interface, traced_cartpole.parameters, 1)
    ranges = adaptive([GAIN], Adapt(begin=1.0))
    found = EdgeTrial(coarse, Far(), ranges.edges, 2).outcomes(ranges, Full(), jax.random.key(0))
    assert found == {("motor.gain", "low"): [False, False], ("motor.gain", "high"): [True, True]}
