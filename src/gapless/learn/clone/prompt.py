"""Prompting: a few watched frames say what the bodies of a scene are made of, as a belief that training can draw from.

The encoder reads all steps at once, a few Gauss-Newton steps through the clone make its guess sharp, and both are as sure as
watched scenes with known matter have shown them to be. What nothing that was seen can speak of stays exactly the prior.
"""

from typing import NamedTuple

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from gapless.core import GaplessError, LogGaussian, Params
from gapless.simulators.planar.clone import Clone
from gapless.simulators.planar.matter import NAMED, TYPICAL, coordinate
from gapless.simulators.planar.scene import Scene

from .encoder import Encoder, spoken_of
from .evidence import evidence
from .observed import Observed
from .prior import Matter, askable, prior
from .refine import KINKED, Refined, Refining, asked_for, refine

FEW = 12, 8
"""Coordinates are refined, and swept, in multiples of so many: few programs are compiled."""


class Honest(NamedTuple):
    """How many times as noisy as claimed each property's evidence is, so that intervals hold what they say."""

    encoded: Float[Array, " embedding"]
    refined: Float[Array, " embedding"]


class Prompted(NamedTuple):
    """What is believed about a scene before, after the encoder, and after refinement."""

    prior: Matter
    encoded: Matter
    refined: Refined
    open: Bool[Array, "part embedding"]
    """Of what anything that was seen could speak."""


class Prompter(eqx.Module):
    """An encoder and how far it can be trusted."""

    encoder: Encoder
    honest: Honest

    def __call__(
        self, clone: Clone, scene: Scene, observed: Observed, given: Bool[Array, "part embedding"], recipe: Refining,
        most: tuple[int, int],
    ) -> Prompted:  # fmt: skip
        """The belief about one scene; at most so many coordinates are open, and so many of friction and restitution."""
        believed = prior(scene, given)
        scene = scene._replace(z=believed.mean)
        told = evidence(scene, believed, observed)
        open_ = (believed.deviation > 0) & spoken_of(scene, told)
        encoded = self.encoder(scene, believed, told)
        asked = asked_for(jnp.any(told.touching, (1, 2)), open_, encoded, most)
        refined = refine(clone, scene, observed, believed, asked, recipe)
        return Prompted(
            believed, self._honest(believed, encoded, open_), self._honestly(believed, refined, open_), open_
        )

    def _honest(self, believed: Matter, found: Matter, open_: Bool[Array, "part embedding"]) -> Matter:
        wide = _tempered(believed.deviation, found.deviation, self.honest.encoded)
        return found._replace(deviation=jnp.where(open_, wide, believed.deviation))

    def _honestly(self, believed: Matter, found: Refined, open_: Bool[Array, "part embedding"]) -> Refined:
        own = jnp.sqrt(jnp.maximum(jnp.diag(found.covariance), 1e-12)).reshape(open_.shape)
        stretch = jnp.where(open_, _tempered(believed.deviation, own, self.honest.refined) / own, 1.0).reshape(-1)
        return found._replace(covariance=found.covariance * jnp.outer(stretch, stretch))


def _tempered(before: Array, after: Array, stretch: Array) -> Array:
    """Deviations as if what was seen had been so many times as noisy; where nothing was seen, those of before."""
    certain, found = (1 / jnp.maximum(x, 1e-6) ** 2 for x in (before, after))
    return 1 / jnp.sqrt(certain + jnp.maximum(found - certain, 0.0) / stretch**2)


def prompt(
    prompter: Prompter, clone: Clone, scene: Scene, observed: Observed, given: Bool[Array, "part embedding"],
    recipe: Refining | None = None,
) -> Prompted:  # fmt: skip
    """The belief about one scene after the frames that were watched; coordinates that are given are taken from the scene."""
    asked = np.asarray(askable(scene) & ~given)
    if not asked.any():
        raise GaplessError("every property of this scene is given, so that frames have nothing to tell. Give fewer.")
    if len(observed.seen) + 1 != len(observed.motion.angle):
        raise GaplessError(f"{len(observed.motion.angle)} frames need one push less (found {len(observed.seen)}).")
    most = tuple(-(-int(x.sum()) // few) * few for x, few in zip((asked, asked[:, KINKED]), FEW, strict=True))
    return _compiled(prompter, clone, scene, observed, given, recipe or Refining(), most)


_compiled = eqx.filter_jit(lambda prompter, *rest: prompter(*rest))


def belief(scene: Scene, found: Prompted) -> LogGaussian:
    """What was found, about every property that was not given, under names such as "body3.friction"."""
    asked = np.flatnonzero(np.asarray(found.prior.deviation).reshape(-1) > 0)
    names = np.array(names_of(scene)).reshape(-1)[asked]
    width = len(NAMED)
    typical = np.log([TYPICAL.get(NAMED[k % width], 1.0) for k in asked])
    centre = np.asarray(found.refined.mean, np.float64).reshape(-1)[asked] + typical
    covariance = np.asarray(found.refined.covariance, np.float64)[np.ix_(asked, asked)]
    share = np.array([NAMED[k % width] == "restitution" for k in asked], np.float64)
    return LogGaussian(tuple(map(str, names)), centre, (covariance + covariance.T) / 2, share)


def placed(scene: Scene, params: Params) -> Scene:
    """The scene with the matter that params name; each is one number."""
    z = jnp.asarray(scene.z)
    for part, names in enumerate(names_of(scene)):
        for column, name in enumerate(names):
            if name in params:
                z = z.at[part, column].set(coordinate(NAMED[column], jnp.asarray(params[name])))
    return scene._replace(z=z)


def names_of(scene: Scene) -> list[list[str]]:
    """What each coordinate of each part is called: by its body, and by its number among several parts of one body."""
    owner, there = np.asarray(scene.owner), np.asarray(scene.count) > 0
    called = []
    for part, body in enumerate(owner):
        siblings = np.flatnonzero(there & (owner == body))
        which = "" if len(siblings) < 2 else f".part{int(np.searchsorted(siblings, part))}"
        called.append([f"body{body}{which}.{name}" if there[part] else "" for name in NAMED])
    return called
