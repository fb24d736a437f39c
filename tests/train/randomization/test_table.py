"""The classic table: factors around the data sheet, cut off at what is plausible, for what a simulator has."""

import jax
import numpy as np
import pytest

from gapless.core import GaplessError, Parameter
from gapless.core.conformance import check_belief
from gapless.simulators import MujocoSimulator
from gapless.train.randomization import Table, classic

MASS = Parameter("pole.mass", "kg", 0.2, 0.1, 0.4, "inertia")
DRY = Parameter("slider.friction", "N", 0.0, 0.0, 3.0, "friction")
REVERSED = Parameter("motor.gain", "N/V", -1.5, -2.4, -0.6, "actuation")
LATENCY = Parameter("command.latency", "s", 0.01, 0.0, 0.025, "latency")
NOISE = Parameter("pole.angle.noise", "rad", 0.0, 0.0, 1.0, "sensing", free=False)
WEIGHED = Parameter("cart.mass", "kg", 0.5, 0.25, 1.0, "inertia", free=False)
UNKNOWN = Parameter("pole.alpha", "", 0.0, -1.0, 1.0, "inertia")


@pytest.mark.parametrize(
    ("parameter", "low", "high"),
    [
        (MASS, 0.16, 0.24),
        (DRY, 0.0, 0.3),  # nothing nominal: a tenth of what is plausible
        (REVERSED, -1.8, -1.2),
        (LATENCY, 0.01, 0.025),  # 0.03 s would not be plausible
        (NOISE, 0.0, 0.005),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_ranges_lie_around_the_data_sheet(parameter: Parameter, low: float, high: float) -> None:
    belief = classic([parameter])
    assert (belief.names, belief.low[0], belief.high[0]) == ((parameter.name,), pytest.approx(low), pytest.approx(high))


def test_only_what_the_table_knows_and_nobody_has_weighed_is_randomized() -> None:
    assert classic([MASS, WEIGHED, UNKNOWN, NOISE]).names == ("pole.mass", "pole.angle.noise")
    assert classic([WEIGHED], Table(held=True)).names == ("cart.mass",)
    with pytest.raises(GaplessError, match="no row for any parameter"):
        classic([WEIGHED, UNKNOWN])


def test_a_range_that_is_none_is_refused() -> None:
    with pytest.raises(GaplessError, match="the range of mass"):
        Table(mass=(1.2, 0.8))


def test_every_built_in_simulator_can_be_randomized(cartpole: MujocoSimulator) -> None:
    belief = classic(cartpole.parameters)
    assert check_belief(belief) == []
    params = {k: np.asarray(v) for k, v in belief.sample(jax.random.key(0), 3).items()}
    wide = cartpole.with_worlds(3)
    _, seen, _ = wide.reset(wide.init(), np.ones(3, bool), params, {}, jax.random.key(0))
    assert np.isfinite(seen["pole.angle"]).all()
