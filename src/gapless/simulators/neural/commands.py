"""Commands as a network is told of them: the mean over a period, and how much later in it they act than on average."""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float


def moment_weights(
    latency_s: Float[Array, " world"], period_s: float, substeps: int, remembered: int
) -> Float[Array, "world moment past"]:
    """What each remembered command (newest first) adds to the moments; the same overlaps as latency.hold_weights."""
    step_s = period_s / substeps
    begin = jnp.arange(substeps) * step_s - latency_s[:, None]
    sent = -np.arange(remembered) * period_s
    until, since = np.append(np.inf, sent[:-1]), np.append(sent[:-1], -np.inf)
    overlap = jnp.minimum(begin[..., None] + step_s, until) - jnp.maximum(begin[..., None], since)
    return jnp.einsum("ms,wsp->wmp", _moments(substeps), jnp.clip(overlap / step_s, 0, None))


def moments(control: Float[Array, "world step substep command"]) -> Float[Array, "world step both"]:
    """The moments of commands given substep by substep."""
    found = jnp.einsum("ms,wksc->wkmc", _moments(control.shape[2]), control)
    return found.reshape(*found.shape[:2], -1)


def _moments(substeps: int) -> Float[np.ndarray, "moment substep"]:
    later = (np.arange(substeps) + 0.5) / substeps - 0.5
    return np.stack([np.ones(substeps), 4 * later]).astype(np.float32) / substeps
