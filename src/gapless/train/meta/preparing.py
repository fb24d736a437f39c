"""A policy that learns to learn, look by look: the one is kept that is worth most once it has adapted."""

from typing import Any, Protocol

import jax
from jaxtyping import PRNGKeyArray

from gapless.nets.teachable import Teachable

from ..checkpoint import Seen, best_of
from ..train import Along


class OuterLoop(Protocol):
    """Something that learns to learn."""

    learner: Any

    @property
    def policy(self) -> Teachable: ...
    def iterate(self, key: PRNGKeyArray) -> dict[str, float]: ...
    def value(self, key: PRNGKeyArray) -> float: ...


def learnt_to_learn(outer: OuterLoop, iterations: int, looks: int, key: PRNGKeyArray, along: Along) -> Teachable:
    """The best policy of all looks, the first of them before anything is learnt.

    Kept look by look, so that one that was interrupted goes on as one that was not.
    """
    keys, each = jax.random.split(key), max(1, iterations // looks)
    seen = [Seen(outer.policy, 0, outer.value(keys[1]), 0.0)]
    if along.checkpoint is not None:
        outer.learner, seen = along.checkpoint.read(outer.learner, outer.policy, seen)
    for k in range(len(seen) - 1, looks):
        notes: dict[str, float] = {}
        for i in range(each):
            notes = outer.iterate(jax.random.fold_in(keys[0], k * each + i))
        seen.append(Seen(outer.policy, (k + 1) * each, outer.value(keys[1]), 0.0))
        if along.checkpoint is not None:
            along.checkpoint.write(outer.learner, seen)
        along.tell((k + 1) * each, {**notes, "return": seen[-1].value})
    best = seen[best_of(seen)].policy
    assert isinstance(best, Teachable)
    return best
