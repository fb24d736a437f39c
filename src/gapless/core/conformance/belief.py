"""The laws of beliefs: samples, density and moments tell one story, and JSON does not change it."""

import json
from collections.abc import Iterator

import jax
import numpy as np

from ..belief import Belief
from ..interface import Channel
from ..stored_belief import belief_from_dict
from .laws import findings, misshapen, unequal

DRAWS = 4000
MONTE_CARLO = 6.0
"""Standard errors within which a sample agrees with what it was drawn from."""


def check_belief(belief: Belief) -> list[str]:
    """What the belief does against its contract, for a belief whose box hardly cuts; empty where it conforms."""
    return findings((_samples_params, _has_density, _has_moments, _survives_json), belief)


def _samples_params(belief: Belief) -> Iterator[str]:
    """Samples carry the belief's names, one finite number per draw."""
    drawn = belief.sample(jax.random.key(0), 5)
    columns = {k: np.asarray(v)[..., None] for k, v in drawn.items()}
    yield from misshapen(columns, [Channel(name) for name in belief.names], 5)


def _has_density(belief: Belief) -> Iterator[str]:
    """Samples have a finite density, and far away it is lower."""
    drawn = belief.sample(jax.random.key(0), DRAWS)
    density = np.asarray(belief.log_prob(drawn))
    if density.shape != (DRAWS,):
        yield f"{DRAWS} draws have densities of shape {density.shape}"
    elif not np.isfinite(density).all():
        yield f"{int(np.sum(~np.isfinite(density)))} of {DRAWS} draws have none"
    away = np.asarray(belief.log_prob({k: v + 1e3 * (1 + abs(v)) for k, v in drawn.items()}))
    if not (away < density).all():
        yield "a draw moved far away is as likely as before"


def _has_moments(belief: Belief) -> Iterator[str]:
    """Mean and deviation are those of the samples."""
    drawn, means, deviations = belief.sample(jax.random.key(1), DRAWS), belief.mean(), belief.deviation()
    for name in belief.names:
        x = np.asarray(drawn[name], np.float64)
        mean, deviation = float(np.asarray(means[name])), float(np.asarray(deviations[name]))
        error = MONTE_CARLO * deviation / np.sqrt(DRAWS) + 1e-6 * abs(mean)
        if abs(x.mean() - mean) > error or abs(x.std() - deviation) > error:
            yield f"{name} is {mean:.6g} ± {deviation:.6g}, and its samples are {x.mean():.6g} ± {x.std():.6g}"


def _survives_json(belief: Belief) -> Iterator[str]:
    """Written as JSON and read again, it is the same belief."""
    again = belief_from_dict(json.loads(json.dumps(belief.to_dict())))
    if again.to_dict() != belief.to_dict() or type(again) is not type(belief):
        yield f"{belief.to_dict()} became {again.to_dict()}"
    one, other = ([b.sample(jax.random.key(2), 5)] for b in (belief, again))
    yield from unequal("its samples", one, other)
