"""Keys by meaning: the same words give the same key, other words another."""

import jax
import numpy as np

from gapless.core import generator_for, generator_from, key_for


def test_the_same_words_give_the_same_key_and_others_another() -> None:
    keys = [
        jax.random.key_data(key_for(*words)).tolist() for words in ((3, "train", 1), (3, "train", 1), (3, "train", 2))
    ]
    assert keys[0] == keys[1] != keys[2]


def test_generators_follow_their_words() -> None:
    drawn = [generator_for(seed, "noise").normal() for seed in (0, 0, 1)]
    assert drawn[0] == drawn[1] != drawn[2]


def test_a_generator_continues_a_key_whether_it_comes_as_key_or_as_numbers() -> None:
    key = jax.random.key(5)
    numbers = np.asarray(jax.random.key_data(key))
    assert generator_from(key).normal() == generator_from(numbers).normal()
    assert generator_from(key).normal() != generator_from(jax.random.key(6)).normal()
