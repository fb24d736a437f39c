"""Robots that networks step, untaught: what is computed around a network can be checked without its having learned anything."""

from collections.abc import Callable
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import pytest

from gapless import robots
from gapless.simulators import MujocoSimulator, load_model, propose_interface, read_parameters
from gapless.simulators.neural import Clone, Limb, Skeleton, Trunk

MODELS = Path(robots.__file__).parent / "models"


def built_in(name: str) -> MujocoSimulator:
    model = load_model(MODELS / f"{name}.xml")
    return MujocoSimulator(model, propose_interface(model, name), read_parameters(MODELS / f"{name}.toml"))


@pytest.fixture
def untaught() -> Callable[[MujocoSimulator, int], Clone]:
    """A small network with random weights, gentle enough that its motion stays finite."""

    def make(physics: MujocoSimulator, seed: int) -> Clone:
        keys = jax.random.split(jax.random.key(seed))
        skeleton, trunk = Skeleton(physics.model, physics.interface.period_s), Trunk(keys[0], 8, 2, 4)
        moved = sum(p.free for p in physics.physical)
        width = skeleton.width + 2 * physics.interface.command_width
        limb = Limb(trunk, width, moved, skeleton.joints, keys[1])
        small = jnp.full(skeleton.joints, 0.05)
        return Clone(trunk, eqx.tree_at(lambda limb: (limb.change, limb.curve), limb, (small, small)))

    return make


@pytest.fixture(scope="session")
def hopper() -> MujocoSimulator:
    return built_in("hopper")


@pytest.fixture(scope="session")
def puck() -> MujocoSimulator:
    return built_in("puck")
