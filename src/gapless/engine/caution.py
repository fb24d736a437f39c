"""What a surprise on the robot asks of the next training: a belief that did not allow for it was too sure of itself."""

import numpy as np

from gapless.core import Artifact, Store

MOST = 3.0
"""How many times as wide a belief is trained over at most."""


def surprise(store: Store, before_crank: int | None = None) -> Artifact | None:
    """How the last forecast went, of cranks before the one that is named, if the robot then did worse than it allowed for."""
    told = [a for a in store.all("outcome") if before_crank is None or 0 < a.recipe["crank"] < before_crank]
    if not told:
        return None
    last = max(told, key=lambda a: a.recipe["crank"])
    return last if not last.figures["inside"] and (last.figures.get("miss") or 0.0) < 0 else None


def caution(surprised: Artifact | None) -> float:
    """How many times as wide a belief is trained over after that surprise.

    A single miss says by how much what is unknown was thought too small, as far as an imagined forecast that went as it should
    lets it rule.
    """
    if surprised is None:
        return 1.0
    return float(np.clip(np.sqrt((1 + surprised.figures["miss"] ** 2) / 2), 1.0, MOST))
