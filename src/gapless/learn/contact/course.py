"""From recorded throws to a thrower: identify, then bend the law and learn the chances; a share of the throws judges."""

from dataclasses import dataclass, field, replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from gapless.core import GaplessError, Params
from gapless.simulators.rigid.body import Body, parameters

from .bent_law import BentLaw
from .fit import FitThrower, fit_thrower
from .identify import IdentifyToss, identify_toss
from .thrower import Thrower, thrower
from .tosses import Tosses

FLIGHT, AIRBORNE = ("gravity.", "start."), 10
"""What the flight alone tells, and the samples that nearly all throws are in the air for."""
FEWEST = 4
"""Throws without which nothing can be held out."""


@dataclass(frozen=True)
class LearnToss:
    """Learn what is thrown from recorded throws."""

    identify: IdentifyToss = field(default_factory=IdentifyToss)
    """How parameters are found."""
    fit: FitThrower = field(default_factory=FitThrower)
    """How the law is bent."""
    held_out: float = 0.2
    """Share of the throws that only judge."""


def parted(tosses: Tosses, share: float, seed: int) -> tuple[Tosses, Tosses]:
    """Throws to learn from, and held out."""
    count = tosses.length.shape[0]
    if count < FEWEST:
        raise GaplessError(f"{count} throws are too few to learn from; at least {FEWEST} are needed. Record more.")
    order, kept = np.random.default_rng(seed).permutation(count), max(1, round(share * count))
    return tosses.some(np.sort(order[kept:])), tosses.some(np.sort(order[:kept]))


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
) -> Thrower:
    """The identified model with a law that is bent as the throws ask for, and with their chances."""
    begun = thrower(body, parameters(body), params, period_s, law)
    return fit_thrower(begun, *parted(tosses, recipe.held_out, seed), recipe.fit, jax.random.key(seed)).module


def from_scratch(body: Body, tosses: Tosses, period_s: float, recipe: LearnToss, seed: int) -> Thrower:
    """The data sheet and a network that has seen nothing before: what learning gets without identification and practice."""
    nominal = {p.name: jnp.float32(p.nominal) for p in parameters(body)}
    begun = thrower(body, (), nominal, period_s, BentLaw(jax.random.key(seed)))
    fitted = fit_thrower(begun, *parted(tosses, recipe.held_out, seed), recipe.fit, jax.random.key(seed)).module
    return eqx.tree_at(lambda m: m.nudges, fitted, jnp.zeros_like(fitted.nudges))
