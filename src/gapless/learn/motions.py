"""Motions as numbers that can be improved: sweeping sines, from smooth to bang-bang, and how firmly they are held."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

SINES = 4
OFFSET, LOUDNESS, SHARPNESS, FIRMNESS, WAVES = 0, 1, 2, 3, 4
"""Columns of a genome; four blocks of SINES columns follow: log pitch, sweep, phase, weight."""
GENES = WAVES + 4 * SINES
FIRMEST = 8.0
"""How many times the weakest pull towards the middle a motion may have."""
GENTLE_S = 0.2
"""A motion swells from rest within this time."""
STEPS = np.array([0.15, 0.25, 0.5, 0.4] + [0.15] * SINES + [0.2] * SINES + [0.7] * SINES + [0.25] * SINES)
"""How far a gene is moved at first when motions are improved."""
Genomes = Float[np.ndarray, "motion command gene"]


@dataclass(frozen=True)
class Reach:
    """What may be commanded, column by column."""

    low: Float[np.ndarray, " command"]
    high: Float[np.ndarray, " command"]
    rest: Float[np.ndarray, " command"]
    most: Float[np.ndarray, " command"]
    """Largest change from one period to the next."""

    def limited(self, wanted: np.ndarray, before: np.ndarray) -> np.ndarray:
        """What the limits leave of commands that follow `before`."""
        return np.clip(np.clip(wanted, before - self.most, before + self.most), self.low, self.high)


@dataclass(frozen=True)
class Band:
    """Pitches of the sines and the largest share of the range that is used."""

    slowest_hz: float
    fastest_hz: float
    share: float


def first_genomes(count: int, width: int, band: Band, rng: np.random.Generator) -> Genomes:
    """Random members of five families in turn: several sines, a sweep, one pitch, few switches, many switches."""
    genes = np.zeros((count, width, GENES))
    pitch, sweep, phase, weight = (genes[..., WAVES + k * SINES : WAVES + (k + 1) * SINES] for k in range(4))
    slow, fast = np.log(band.slowest_hz), np.log(band.fastest_hz)
    pitch[:] = rng.uniform(slow, fast, pitch.shape)
    phase[:] = rng.uniform(0, 2 * np.pi, phase.shape)
    weight[:] = rng.uniform(0.2, 1.0, weight.shape)
    genes[..., OFFSET] = 0.1 * rng.standard_normal((count, width))
    genes[..., LOUDNESS] = np.log(band.share) + rng.uniform(-0.5, 0.0, (count, width))
    genes[..., FIRMNESS] = rng.uniform(0.0, np.log(FIRMEST), (count, width))
    family = np.arange(count) % 5
    genes[..., SHARPNESS] = np.choose(family, [-1.0, -1.0, 0.0, 1.5, 3.0])[:, None]
    sweeping = family == 1
    sweep[sweeping, :, 0] = (fast - slow) * rng.uniform(0.5, 1.0, (sweeping.sum(), width))
    pitch[sweeping, :, 0] = slow + 0.2 * rng.standard_normal((sweeping.sum(), width))
    weight[(family == 1) | (family == 2), :, 1:] *= 0.2
    weight[family == 3, :, 2:] *= 0.2
    return genes


def rows_of(genomes: Genomes, reach: Reach, times: Float[np.ndarray, " period"], band: Band) -> np.ndarray:
    """Commands of each motion as (motion, period, command), within limits and rates, swelling from rest."""
    pitch, sweep, phase, weight = (genomes[..., WAVES + k * SINES : WAVES + (k + 1) * SINES] for k in range(4))
    hertz = np.exp(np.clip(pitch, np.log(band.slowest_hz), np.log(band.fastest_hz)))
    rise = np.clip(sweep, -4, 4) + 1e-6
    length = max(float(times[-1]), 1e-9)
    turned = hertz * length / rise * np.expm1(rise * times[:, None, None, None] / length)
    sines = (weight * np.sin(2 * np.pi * turned + phase)).sum(-1) / np.sqrt((weight**2).sum(-1) / 2 + 1e-9)
    sharp = np.exp(np.clip(genomes[..., SHARPNESS], -3, 4))
    wave = np.tanh(sharp * sines) / np.tanh(sharp * np.sqrt(2)) + genomes[..., OFFSET]
    loud = (
        np.exp(np.minimum(genomes[..., LOUDNESS], np.log(band.share))) * np.minimum(times / GENTLE_S, 1)[:, None, None]
    )
    centre, half = (reach.low + reach.high) / 2, (reach.high - reach.low) / 2
    wanted = reach.rest + loud * (centre + half * np.clip(wave, -1, 1) - reach.rest)
    return _within_rates(np.swapaxes(wanted, 0, 1), reach)


def firmness_of(genomes: Genomes) -> Float[np.ndarray, "motion command"]:
    """How many times the weakest pull towards the middle each command has."""
    return np.exp(np.clip(genomes[..., FIRMNESS], 0.0, np.log(FIRMEST)))


def quieter(genomes: Genomes, share: Float[np.ndarray, " motion"]) -> Genomes:
    """The same motions, each by its share nearer to rest."""
    found = genomes.copy()
    found[..., LOUDNESS] += np.log(share)[:, None]
    return found


def _within_rates(wanted: Float[np.ndarray, "motion period command"], reach: Reach) -> np.ndarray:
    if not np.isfinite(reach.most).any():
        return np.clip(wanted, reach.low, reach.high)
    rows, before = np.empty_like(wanted), np.broadcast_to(reach.rest, wanted[:, 0].shape)
    for k in range(wanted.shape[1]):
        before = rows[:, k] = reach.limited(wanted[:, k], before)
    return rows
