"""Learned parts among the artifacts: later stages use the simulator that the belief is about."""

from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gapless.core import Artifact, Chosen, prior_belief
from gapless.engine import Recipe, Stages, Workspace
from gapless.engine.parts import residual_figures, write_learned
from gapless.learn import Identified, Learnt
from gapless.learn.held_out import Comparison
from gapless.learn.outfit import Form, driven_only, silent_residual
from gapless.simulators.parts import MEMBER


@pytest.fixture
def believed(workspace: Workspace) -> Artifact:
    """A belief with a residual that pushes the cart one way."""
    physics, gaussian = workspace.simulator, prior_belief(workspace.parameters)
    residual = driven_only(silent_residual(physics, Form("force", 2, 1, 2), {}))
    places = lambda r: (  # noqa: E731
        r.corrections[0].units.phases, r.corrections[0].units.last, r.corrections[0].bound, r.corrections[0].reach,
    )  # fmt: skip
    always = jnp.ones(1), jnp.full((2, 1), 9.0), jnp.asarray(2.0), jnp.asarray(1e3)
    residual = eqx.tree_at(places, residual, always)
    learnt = Learnt(residual, Identified(gaussian, 1.0, 1.0, {}, 1, 1, "by hand"), Comparison(0.2, 0.1, 0.6))

    def build(folder: Path) -> dict[str, Any]:
        write_learned(folder, gaussian, learnt, None, physics)
        return {"residual": residual_figures(learnt)}

    return workspace.store.make("belief", {}, {"crank": 0}, build)


def test_the_simulator_of_a_belief_has_its_residual(workspace: Workspace, believed: Artifact) -> None:
    stages = Stages(workspace, Recipe(), 0)
    simulator = stages.simulator(believed).with_worlds(2)
    state, _, _ = simulator.reset(simulator.init(), np.ones(2, bool), {}, {}, jax.random.key(0))
    _, seen, _ = simulator.step(state, {"motor": np.zeros((2, 1))}, jax.random.key(0))
    assert (seen["cart.position"] > 1e-4).all()
    assert stages.simulator(None) is workspace.simulator


def test_the_stored_belief_draws_members_and_keeps_what_was_identified_alone(
    workspace: Workspace, believed: Artifact
) -> None:
    stages = Stages(workspace, Recipe(), 0)
    belief = stages.belief(believed)
    assert isinstance(belief, Chosen)
    assert set(np.asarray(belief.sample(jax.random.key(0), 50)[MEMBER]).tolist()) == {0.0, 1.0}
    assert MEMBER not in stages.identified(believed).names
    assert believed.figures["residual"]["acts_on"] == ["slider.force"]
