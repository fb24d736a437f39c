"""Every kind of belief and of policy."""

from collections.abc import Callable

import numpy as np
import pytest

from gapless.core import Belief, Block, Chosen, Feature, Gaussian, Observation, Particles, Point, Uniform

BELIEFS: dict[str, Belief] = {
    "point": Point(("pole.mass", "motor.gain"), np.array([0.15, -1.5])),
    "uniform": Uniform(("pole.mass", "motor.gain"), np.array([0.1, -2.0]), np.array([0.3, 1.0])),
    "gaussian of unlike scales": Gaussian(
        ("pole.mass", "command.latency"),
        np.array([0.15, 0.02]),
        np.array([[4e-4, 1.6e-5], [1.6e-5, 1e-6]]),
        np.array([0.05, 0.014]),
        np.array([0.25, 0.026]),
    ),
    "particles on a bend": Particles(
        ("pole.mass", "command.latency"),
        np.array([[0.15 + 0.01 * t, 0.02 + 1e-3 * t**2] for t in np.linspace(-1, 1, 40)]),
        np.array([0.05, 0.01]),
        np.array([0.25, 0.03]),
    ),
    "uniform with a choice": Chosen(Uniform(("a",), np.array([1.0]), np.array([2.0])), "part.member", 4),
}


@pytest.fixture(params=BELIEFS)
def any_belief(request: pytest.FixtureRequest) -> Belief:
    return BELIEFS[request.param]


POLICIES: dict[str, Callable[..., Block]] = {
    "network over a history": lambda make: make(),
    "network over one frame": lambda make: make(1, Observation((Feature("pole.angle", "sin"),))),
}


@pytest.fixture(params=POLICIES)
def any_policy(request: pytest.FixtureRequest, make_policy: Callable[..., Block]) -> Block:
    return POLICIES[request.param](make_policy)
