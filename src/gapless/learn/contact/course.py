"""From recorded throws to a thrower: identify, then bend the law and learn the chances; throws held out in turn judge."""

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from gapless.core import Params
from gapless.nets.fitting import member
from gapless.simulators.rigid.body import Body, parameters

from .bent_law import BentLaw
from .fit import FitThrower, fit_throwers
from .folds import Rows, missed, parted
from .gate import Verdict, judged
from .identify import IdentifyToss, identify_toss, surface_error
from .thrower import Thrower, as_identified, thrower
from .tosses import Tosses

FLIGHT, AIRBORNE = ("gravity.", "start."), 10
"""What the flight alone tells, and the samples that nearly all throws are in the air for."""


@dataclass(frozen=True)
class LearnToss:
    """Learn what is thrown from recorded throws."""

    identify: IdentifyToss = field(default_factory=IdentifyToss)
    """How parameters are found."""
    fit: FitThrower = field(default_factory=FitThrower)
    """How the law is bent."""
    folds: int = 3
    """Parts of the throws, each held out once to judge what the others teach."""
    margin: float = 1.5
    """Standard errors by which learning must gain on held-out throws, or it is refused."""


class Learnt(NamedTuple):
    """A thrower, and whether its law may be bent."""

    thrower: Thrower
    verdict: Verdict


def identified(body: Body, tosses: Tosses, period_s: float, recipe: LearnToss, seed: int) -> Params:
    """The classical model that fits all throws best: the flight from what comes before the floor, then the rest from all."""
    listed = parameters(body)
    flight = [p for p in listed if p.free and p.name.startswith(FLIGHT)]
    landing = [p for p in listed if p.free and p not in flight]
    known = {p.name: jnp.float32(p.nominal) for p in listed}
    flown = identify_toss(body, flight, known, tosses, period_s, replace(recipe.identify, samples=AIRBORNE), seed)
    return identify_toss(body, landing, flown, tosses, period_s, recipe.identify, seed)


def bent(
    body: Body, params: Params, law: BentLaw, tosses: Tosses, period_s: float, recipe: LearnToss, seed: int
) -> Learnt:
    """The identified model with a law that is bent as the throws ask for, and with their chances.

    Where a fold judges, parameters are identified without it as well: neither side has seen the throws that it is judged by.
    """
    folds = parted(len(tosses.length), recipe.folds, seed)
    each = [identified(body, tosses.some(rows), period_s, recipe, seed) for rows in _taught(folds)]
    begun = [thrower(body, parameters(body), found, period_s, law) for found in (*each, params)]
    return _learnt(begun, folds, tosses, recipe, seed)


def from_scratch(body: Body, tosses: Tosses, period_s: float, recipe: LearnToss, seed: int) -> Learnt:
    """The data sheet and a network that has seen nothing before: what learning gets without identification and practice."""
    folds = parted(len(tosses.length), recipe.folds, seed)
    nominal = {p.name: jnp.float32(p.nominal) for p in parameters(body)}
    begun = thrower(body, (), nominal, period_s, BentLaw(jax.random.key(seed)))
    return _learnt([begun] * (len(folds) + 1), folds, tosses, recipe, seed)


def _taught(folds: list[Rows]) -> list[Rows]:
    """What is left without each fold."""
    return [np.sort(np.concatenate([*folds[:k], *folds[k + 1 :]])) for k in range(len(folds))]


def _learnt(begun: list[Thrower], folds: list[Rows], tosses: Tosses, recipe: LearnToss, seed: int) -> Learnt:
    """Taught once without each fold and once with all throws, side by side: folds say how far along the last may go.

    What is refused leaves the path of the identified model, and of the chances what held-out throws confirm.
    """
    key, body = jax.random.key(seed), begun[0].body
    looks = fit_throwers(begun, tosses, [*_taught(folds), np.arange(len(tosses.length))], recipe.fit, seed)
    calm = [as_identified(look) for look in looks]
    paths = [surface_error(missed(look, tosses, folds, key).path, body) for look in (calm[0], *looks)]
    verdict = judged(paths[0], paths[1:], folds, recipe.margin)
    if verdict.accepted:
        return Learnt(member(looks[verdict.look], -1), verdict)
    clouds = [surface_error(missed(look, tosses, folds, key).cloud, body) for look in calm]
    chances = judged(clouds[0], clouds, folds, recipe.margin)
    return Learnt(member(calm[chances.look if chances.accepted else 0], -1), verdict)
