"""Commands over the horizon as few numbers, and random changes of them that are smooth in time.

Knots with straight lines between them follow predictive sampling (Howell et al. 2022); noise whose power falls with frequency
follows iCEM (Pinneri et al. 2020) and Timmer and König 1995.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray


def between_knots(knots: int, at: Float[np.ndarray, " query"], horizon: int) -> Float[np.ndarray, "query knot"]:
    """The matrix that reads a plan at periods of the horizon; before the first knot and after the last it holds."""
    if knots == 1:
        return np.ones((len(at), 1))
    place = np.clip(np.asarray(at, np.float64), 0, horizon - 1) * (knots - 1) / (horizon - 1)
    low = np.clip(place.astype(int), 0, knots - 2)
    matrix, rows = np.zeros((len(at), knots)), np.arange(len(at))
    matrix[rows, low], matrix[rows, low + 1] = 1 - (place - low), place - low
    return matrix


def unrolled(knots: int, horizon: int) -> Float[np.ndarray, "period knot"]:
    """The matrix from knots to the commands of all periods."""
    return between_knots(knots, np.arange(horizon), horizon)


def one_period_later(knots: int, horizon: int) -> Float[np.ndarray, "knot knot"]:
    """The matrix from a plan's knots to those of the same plan one period later; what is new at its end holds."""
    return between_knots(knots, np.linspace(0, horizon - 1, knots) + 1, horizon)


def coloured_noise(
    key: PRNGKeyArray, samples: int, shape: tuple[int, ...], colour: float
) -> Float[Array, "sample knot command"]:
    """Normal noise of unit variance whose power falls as frequency to the `colour`: 0 is white, 2 is brown."""
    knots, width = shape
    if colour == 0 or knots < 3:
        return jax.random.normal(key, (samples, *shape))
    frequency = np.fft.rfftfreq(knots)
    scale = np.maximum(frequency, 1 / knots) ** (-colour / 2)
    # The variance of the sum: every frequency counts twice but the mean and, where there is one, the fastest.
    counts = np.full(len(scale), 2.0)
    counts[0], counts[-1] = 1.0, 1.0 if knots % 2 == 0 else 2.0
    scale = scale * knots / np.sqrt((counts * scale**2).sum())
    pairs = jax.random.normal(key, (2, samples, width, len(scale)))
    whole = np.zeros(len(scale), bool)
    whole[0], whole[-1] = True, knots % 2 == 0
    real = jnp.where(whole, pairs[0], pairs[0] / np.sqrt(2.0))
    imaginary = jnp.where(whole, 0.0, pairs[1] / np.sqrt(2.0))
    found = jnp.fft.irfft(scale * (real + 1j * imaginary), knots, axis=-1)
    return jnp.swapaxes(found, 1, 2)
