"""Clones on disk, and the ones that come with the package."""

from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gapless.core import GaplessError
from gapless.simulators.planar.clone import Clone
from gapless.simulators.planar.matter import embedding
from gapless.simulators.planar.stored import members, save_members


def test_members_come_back_to_the_last_bit(tmp_path: Path) -> None:
    two = [eqx.filter_jit(Clone)(jax.random.key(k), 5) for k in range(2)]
    save_members(tmp_path, two)
    for a, b in zip(jax.tree.leaves(two), jax.tree.leaves(members(tmp_path)), strict=True):
        if eqx.is_array(a):
            np.testing.assert_array_equal(a, b)


def test_a_description_of_absurd_size_is_refused_in_one_sentence(tmp_path: Path) -> None:
    save_members(tmp_path, [eqx.filter_jit(Clone)(jax.random.key(0), 5)])
    file = tmp_path / "clone.json"
    file.write_text(file.read_text().replace('"members": 1', '"members": 1000000'))
    with pytest.raises(GaplessError, match="not the description of a clone"):
        members(tmp_path)


def test_the_package_knows_how_friction_and_bounce_mix() -> None:
    """Geometric mean of frictions, the larger bounce, and none below about a metre per second: learned, not told."""
    law = members()[0].law
    for one, other in ((0.2, 0.8), (0.5, 0.5), (0.1, 0.4)):
        z = np.asarray(embedding(friction=np.array([one, other]), restitution=np.array([0.1, 0.6])))[:, 2:4]
        both = np.concatenate([z[0] + z[1], np.abs(z[0] - z[1])]) / 2
        np.testing.assert_allclose(np.exp(law.touch(jnp.asarray(both))[0]), np.sqrt(one * other), rtol=0.05)
        fast = law.bounce(jnp.append(both, np.log(3.0)))[0]
        np.testing.assert_allclose(jax.nn.sigmoid(fast), 0.6, atol=0.06)
    assert abs(float(law.slow[0])) < 0.2
