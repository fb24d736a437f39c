"""How a belief was come by, read from its figures: what it rests on, what the logs could not tell, and doubts about the fit."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .figures import Value, listed, real, whole, words

Combination = tuple[tuple[str, float], ...]
"""Parameters that the logs tell only together, with the weights by which they may move unseen."""


@dataclass(frozen=True)
class Fit:
    """What a belief rests on."""

    chi_square: Value
    """Of held-out logs, per degree of freedom; 1 where sensor noise explains all that is left."""
    chi_square_before: Value
    """The same at the prior's centre."""
    seconds_of_log: Value
    windows: int | None
    window_s: Value
    agreeing: tuple[int, int] | None
    """Beginnings of the search that led to the same place, and all of them."""
    bend: Value
    """How far the posterior is from a Gaussian: worst ratio of the cost and its parabola."""
    untold: str
    """What the logs cannot tell, in words."""
    alone: tuple[str, ...]
    """Parameters that they cannot tell."""
    together: tuple[Combination, ...]
    refused: str
    """Why the fit was refused; empty if it was not."""


def read_fit(figures: Mapping[str, Any]) -> Fit:
    numbers = {key: real(figures.get(key)) for key in ("chi_square", "chi_square_before", "seconds_of_log", "window_s")}
    starts = [whole(v) for v in listed(figures.get("agreeing"))]
    return Fit(
        **numbers,
        windows=whole(figures.get("windows")),
        agreeing=(starts[0], starts[1]) if len(starts) == 2 and None not in starts else None,  # type: ignore[arg-type]
        bend=real(figures.get("bend")),
        untold=words(figures.get("untold")),
        alone=tuple(map(words, listed(figures.get("untold_alone")))),
        together=tuple(filter(None, (_combination(c) for c in listed(figures.get("untold_together"))))),
        refused=words(figures.get("refused")),
    )


def _combination(value: Any) -> Combination:
    members = [(words(m[0]), real(m[1])) for m in listed(value) if len(listed(m)) == 2]
    return tuple((name, weight) for name, weight in members if weight is not None)
