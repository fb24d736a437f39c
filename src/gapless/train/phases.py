"""One learning after another: what the first has learnt is handed to the second, whose policy is the one that counts."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from gapless.core import GaplessError
from gapless.nets.seeing import SeeingPolicy

from .batches import Batches
from .learning import Learning, Place

HandOver = Callable[[Any, Any], Any]
"""(learner of the second, policy of the first): the learner with which the second begins."""


class Phases(Learning):
    """Two learnings in one place; the first one takes `length` iterations."""

    def __init__(self, first: Batches, second: Batches, length: int, hand_over: HandOver) -> None:
        self._first, self._second, self._length, self._hand_over = first, second, length, hand_over
        self._done, self._place = 0, None

    @property
    def learner(self) -> dict[str, Any]:
        return {"first": self._first.learner, "second": self._second.learner, "done": jnp.asarray(self._done)}

    @learner.setter
    def learner(self, kept: dict[str, Any]) -> None:
        self._first.learner, self._second.learner, self._done = kept["first"], kept["second"], int(kept["done"])

    @property
    def steps_done(self) -> int:
        return self._first.steps_done + self._second.steps_done

    @property
    def ready(self) -> bool:
        return self._done > self._length

    @property
    def policy(self) -> SeeingPolicy:
        return self._second.policy

    @property
    def before(self) -> SeeingPolicy:
        """The first one's policy as it is now: a teacher, or a base."""
        return self._first.policy

    def begin(self, key: PRNGKeyArray, place: Place | None = None) -> None:
        self._place = place
        (self._first if self._done < self._length else self._second).begin(key, place)

    def iterate(self, key: PRNGKeyArray, times: int = 1) -> dict[str, float]:
        keys = jax.random.split(key, 3)
        early = min(times, max(0, self._length - self._done))
        self._done += times
        notes = self._first.iterate(keys[0], early) if early else {}
        if early and self._done >= self._length:
            self._second.learner = self._hand_over(self._second.learner, self._first.policy)
            self._second.begin(keys[1], self._place)
        return self._second.iterate(keys[2], times - early) if times > early else notes


def share_of(budget: int, share: float, per_iteration: int) -> tuple[int, int]:
    """Iterations of both phases where the first takes a share of the budget: at least one each."""
    if not 0 < share < 1:
        raise GaplessError(f"the first phase cannot take {share} of the budget. Choose a share between 0 and 1.")
    whole = max(2, budget // per_iteration)
    first = min(max(1, round(share * whole)), whole - 1)
    return first, whole - first
