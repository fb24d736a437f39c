"""Networks that act on a latent of the world: encoded from params that are told, or guessed from what was seen and sent.

After Kumar et al. 2021 (RMA), with a dense network over the history in place of their convolutions.
"""

from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from .recall import Kind, Recall

LATENT, HISTORY = 8, 50
"""Numbers in a latent, and control periods that a guess looks back on; both are the paper's."""
GUESS = 64
"""Width of the hidden layers of a guess, however narrow the trunk: what it does is harder."""


class Encoded(eqx.Module):
    """Observation and params that are told → latent → answer."""

    kind: ClassVar[Kind] = "encoded"
    encoder: eqx.nn.MLP
    trunk: eqx.nn.MLP

    @property
    def out(self) -> eqx.nn.Linear:
        return self.trunk.layers[-1]

    def latent(self, told: Float[Array, " told"]) -> Float[Array, " latent"]:
        """What matters of the params, each entry in ±1."""
        return jnp.tanh(self.encoder(told))

    def __call__(self, x: Float[Array, " seen"]) -> Float[Array, " answer"]:
        observed = len(x) - int(self.encoder.in_size)
        return self.trunk(jnp.concatenate([x[:observed], self.latent(x[observed:])]))


class Adapting(Recall):
    """Observation and the last observations and commands → a guess at the latent → answer. It remembers nothing else."""

    kind: ClassVar[Kind] = "adapting"
    guess: eqx.nn.MLP
    trunk: eqx.nn.MLP

    @property
    def out(self) -> eqx.nn.Linear:
        return self.trunk.layers[-1]

    def blank(self) -> dict[str, Array]:
        sent = int(self.trunk.out_size)
        seen = int(self.trunk.in_size) - int(self.guess.out_size)
        rows = jnp.zeros((HISTORY, seen + sent + 1))
        return {"rows": rows, "sent": jnp.zeros(sent), "filled": jnp.zeros(1, bool)}

    def latent(self, rows: Float[Array, "past row"]) -> Float[Array, " latent"]:
        """A guess from what was seen, newest first, each beside the command before it and whether it was really seen."""
        return jnp.tanh(self.guess(rows.reshape(-1)))

    def __call__(self, memory: Any, x: Float[Array, " seen"]) -> tuple[Any, Float[Array, " answer"]]:
        newest = jnp.concatenate([x, memory["sent"], jnp.ones(1)])
        past = jnp.concatenate([newest[None], memory["rows"][:-1]])
        # Beside zeros, the first input would look like a sudden motion.
        rows = jnp.where(memory["filled"], past, newest * first_rows(len(newest)))
        answer = self.trunk(jnp.concatenate([x, self.latent(rows)]))
        # A policy bounds its answer by tanh: that is what was sent.
        return {"rows": rows, "sent": jnp.tanh(answer), "filled": jnp.ones(1, bool)}, answer


def first_rows(width: int) -> Float[np.ndarray, "past row"]:
    """What the first row is multiplied with to fill the whole history: in all but itself, it is marked as not really seen."""
    filled = np.ones((HISTORY, width), np.float32)
    filled[1:, -1] = 0.0
    return filled


def new_encoded(sizes: tuple[int, int, int, int], hidden: tuple[int, int], key: PRNGKeyArray) -> Encoded:
    """An untrained network; `sizes` are of what is observed, of what is told, of the latent, and of the answer."""
    keys, (observed, told, latent, answer) = jax.random.split(key), sizes
    encoder = eqx.nn.MLP(told, latent, hidden[0], 1, activation=jnp.tanh, key=keys[0])
    return Encoded(encoder, _trunk(observed + latent, answer, hidden, keys[1]))


def new_adapting(sizes: tuple[int, int, int], hidden: tuple[int, int], key: PRNGKeyArray) -> Adapting:
    """An untrained network; `sizes` are of what is observed, of the latent, and of the answer."""
    keys, (observed, latent, answer) = jax.random.split(key), sizes
    guess = eqx.nn.MLP(HISTORY * (observed + answer + 1), latent, GUESS, 2, activation=jnp.tanh, key=keys[0])
    return Adapting(guess=guess, trunk=_trunk(observed + latent, answer, hidden, keys[1]))


def _trunk(seen: int, answer: int, hidden: tuple[int, int], key: PRNGKeyArray) -> eqx.nn.MLP:
    return eqx.nn.MLP(seen, answer, *hidden, activation=jnp.tanh, key=key)
