"""Random keys by meaning: the same seed and the same words give the same key, whatever ran in between."""

import hashlib

import jax
import numpy as np
from jaxtyping import PRNGKeyArray


def key_for(seed: int, *words: str | int) -> PRNGKeyArray:
    """A JAX key from a seed and what it is for, e.g. key_for(3, "train", crank)."""
    return jax.random.key(_number(seed, *words) % 2**32)


def generator_for(seed: int, *words: str | int) -> np.random.Generator:
    """A NumPy generator from a seed and what it is for."""
    return np.random.default_rng(_number(seed, *words))


def generator_from(key: PRNGKeyArray | np.ndarray) -> np.random.Generator:
    """A NumPy generator that continues from a JAX key, for simulators stepped from Python."""
    plain = key if isinstance(key, np.ndarray) else np.asarray(jax.random.key_data(key))
    return np.random.Generator(np.random.SFC64(plain.tolist()))


def _number(seed: int, *words: str | int) -> int:
    spelled = "/".join(str(w) for w in (seed, *words))
    return int.from_bytes(hashlib.sha256(spelled.encode()).digest()[:8], "little")
