"""Which rung of the ladder to stand on: the lowest that no higher one beats on logs that none of them saw."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from gapless.core import GaplessError


@dataclass(frozen=True)
class Choice:
    """The rung taken, and why in one sentence."""

    rung: str
    why: str


def choose(held_out: Mapping[str, Float[np.ndarray, " log"]], margin: float = 0.03) -> Choice:
    """Climb while it pays: `held_out` names rungs from the lowest on, with each held-out log's error.

    A higher rung is taken if its mean error is smaller by `margin` or more and if it wins on more than half of the logs.
    """
    if not held_out:
        raise GaplessError("there is no rung to choose from; fit at least one.")
    lengths = {len(e) for e in held_out.values()}
    if lengths == {0} or len(lengths) > 1:
        raise GaplessError("rungs are compared on the same held-out logs, at least one; hold some out.")
    names = list(held_out)
    taken, refused = names[0], []
    for name in names[1:]:
        now, tried = np.asarray(held_out[taken]), np.asarray(held_out[name])
        if tried.mean() <= (1 - margin) * now.mean() and np.mean(tried < now) > 0.5:
            taken = name
        else:
            refused.append(f"{name} ({tried.mean():.3g})")
    error = np.mean(held_out[taken])
    why = f"{taken} has the held-out error {error:.3g}"
    if refused:
        why += f"; not clearly better than a rung below: {', '.join(refused)}"
    return Choice(taken, why + ".")
