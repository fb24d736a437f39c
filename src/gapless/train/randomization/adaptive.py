"""Ranges that grow where the policy succeeds at their edge and shrink where it fails: automatic domain randomization.

Follows OpenAI et al. 2019 (Solving Rubik's cube with a robot hand): an edge is judged by episodes that begin exactly on it, and
moves by one step when enough of them are in. It departs in that a step is a share of the way from the data sheet's value to
the plausible limit, so that no step sizes have to be chosen per parameter.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from gapless.core import GaplessError, Parameter, Params, Uniform

PUSH = ".push"
"""How the names of disturbances end, which nobody identifies and everybody may be trained for."""
Side = Literal["low", "high"]
Edge = tuple[str, Side]
"""A parameter and which end of its range."""


@dataclass(frozen=True)
class Adapt:
    """When an edge moves, and by how much."""

    episodes: int = 20
    """Episodes on an edge after which it is judged."""
    widen_above: float = 0.8
    """Share of them that must pass for the edge to move out."""
    narrow_below: float = 0.4
    """Share below which it moves back."""
    step: float = 0.1
    """How far, as a share of the way from the nominal value to the plausible limit."""
    begin: float = 0.0
    """Share of that way at which edges begin."""

    def __post_init__(self) -> None:
        if self.episodes < 1 or not 0 <= self.narrow_below < self.widen_above <= 1 or not 0 < self.step <= 1:
            raise GaplessError("adapting needs episodes ≥ 1, 0 ≤ narrow_below < widen_above ≤ 1 and 0 < step ≤ 1.")


@dataclass(frozen=True)
class Adaptive:
    """The state of all edges. Nothing in it changes: `told` returns the next."""

    parameters: tuple[Parameter, ...]
    """What is randomized, from the nominal value out to the plausible limits."""
    recipe: Adapt
    reach: Mapping[Edge, float]
    """How far out each edge is: 0 at the nominal value, 1 at the limit."""
    heard: Mapping[Edge, tuple[bool, ...]] = field(default_factory=dict)
    """Outcomes on each edge since it last moved."""

    @property
    def edges(self) -> tuple[Edge, ...]:
        """All edges that can move; one whose nominal value is the limit cannot."""
        return tuple(self.reach)

    def at(self, edge: Edge) -> float:
        """Where an edge is, in the parameter's unit."""
        name, side = edge
        p = next(p for p in self.parameters if p.name == name)
        return p.nominal + self.reach.get(edge, 0.0) * (getattr(p, side) - p.nominal)

    def belief(self) -> Uniform:
        """What to train over now. Its shape never changes, so that nothing is compiled anew."""
        names = tuple(p.name for p in self.parameters)
        low, high = (np.array([self.at((name, side)) for name in names]) for side in ("low", "high"))
        return Uniform(names, low, high)

    def on_edges(self, draws: Params, edges: Sequence[Edge]) -> Params:
        """Draws from the belief with draw i put onto edge i."""
        found = {name: np.array(values, np.float64) for name, values in draws.items()}
        for k, edge in enumerate(edges):
            found[edge[0]][k] = self.at(edge)
        return found

    def told(self, outcomes: Mapping[Edge, Sequence[bool]]) -> "Adaptive":
        """The ranges after more episodes on the edges."""
        reach, heard = dict(self.reach), dict(self.heard)
        for edge, passed in outcomes.items():
            if edge not in reach:
                raise GaplessError(f"there is no edge {edge}; the edges are {', '.join(map(str, self.edges))}.")
            heard[edge] = (*heard.get(edge, ()), *map(bool, passed))
            if len(heard[edge]) >= self.recipe.episodes:
                reach[edge] = self._moved(reach[edge], float(np.mean(heard[edge])))
                heard[edge] = ()
        return replace(self, reach=reach, heard=heard)

    @property
    def extent(self) -> float:
        """How much of what is plausible is covered, on average over the edges."""
        return float(np.mean(list(self.reach.values())))

    def _moved(self, reach: float, passed: float) -> float:
        out = (passed >= self.recipe.widen_above) - (passed < self.recipe.narrow_below)
        return float(np.clip(reach + out * self.recipe.step, 0.0, 1.0))


def adaptive(parameters: Sequence[Parameter], recipe: Adapt | None = None) -> Adaptive:
    """Ranges around the nominal values of all free parameters, and around no push at all, ready to grow."""
    recipe, free = recipe or Adapt(), tuple(p for p in parameters if p.free or p.name.endswith(PUSH))
    if not free:
        raise GaplessError("no parameter is free, so no range can grow. Set free = true in params.toml.")
    sides: tuple[Side, Side] = ("low", "high")
    edges: list[Edge] = [(p.name, side) for p in free for side in sides if getattr(p, side) != p.nominal]
    return Adaptive(free, recipe, dict.fromkeys(edges, recipe.begin))
