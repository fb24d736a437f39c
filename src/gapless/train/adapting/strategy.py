"""Strategy optimization: search what a universal policy is told by episodes on the robot (Yu et al. 2019).

The params need not be the robot's: what counts is what the policy does when it is told them. `strategy-cma` searches by CMA-ES
as the paper does, `strategy-bo` by Bayesian optimization. Departures: the universal policy is trained over the belief and not
over wide ranges; the search goes along the few directions of the whitened belief in which commands change most, because ten
episodes cannot search ten params; and who is kept is decided by a Gaussian process through all returns, since one episode of
one strategy may have been lucky.
"""

import warnings
from abc import abstractmethod
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, ClassVar

import jax
import numpy as np
from jaxtyping import Float, PRNGKeyArray

from gapless.core.seeds import generator_from
from gapless.nets.seeing import SeeingPolicy
from gapless.nets.settled import settled

from ..learning import Place
from .adaptation import Adapter, Means, Tries, worth
from .spread import spread
from .surface import surface
from .universal import directions, told_policy, universal

Strategy = Float[np.ndarray, " size"]
Walk = Generator[Strategy, float, None]
"""Yields a strategy, in deviations of the belief, and is sent its return; the first is the belief's centre."""


@dataclass(frozen=True)
class StrategySearch(Adapter):
    """Try what a universal policy is told, and keep what is probably worth most."""

    dimensions: int = 3
    """Directions that are searched, of all that the policy is told."""
    reach: float = 2.0
    """How far the search goes in each, in deviations of the belief."""

    @abstractmethod
    def walk(self, size: int, key: PRNGKeyArray) -> Walk:
        """Where to try, without end."""

    def preparation(self) -> dict[str, Any]:
        return {"by": "universal"}  # however it is searched then

    def prepared(self, place: Place, means: Means) -> SeeingPolicy:
        return universal(place, spread(place.simulator, place.belief), means)

    def tries(self, prepared: SeeingPolicy, place: Place, means: Means) -> Tries:
        policy, over, keys = told_policy(prepared), spread(place.simulator, place.belief), jax.random.split(means.key)
        along = directions(policy, place, over, self.dimensions, keys[0])
        tried: list[Strategy] = []
        values: list[float] = []

        def told(strategy: Strategy) -> SeeingPolicy:
            params = np.clip(over.centre + over.root @ (strategy @ along), over.low, over.high)
            return settled(policy, dict(zip(over.names, params.astype(np.float32), strict=True)))

        walk = self.walk(len(along), keys[1])
        strategy = next(walk)
        for _ in range(self.episodes):
            log = yield told(strategy)
            tried.append(strategy)
            values.append(worth(place.task, log))
            strategy = walk.send(values[-1])
        return told(tried[surface(np.array(tried), np.array(values)).best()])


@dataclass(frozen=True)
class StrategyCma(StrategySearch):
    """By covariance matrix adaptation (Hansen and Ostermeier 2001), with the package `cma`."""

    word: ClassVar[str] = "strategy-cma"

    population: int = 4
    """Strategies in each generation."""
    step: float = 1.0
    """How far the first generation strays, in deviations of the belief: 1 draws it from the belief itself."""

    def walk(self, size: int, key: PRNGKeyArray) -> Walk:
        yield np.zeros(size)
        search = self._search(size, int(generator_from(key).integers(1, 2**31)))
        while True:
            asked = [np.asarray(x)[:size] for x in search.ask()]
            costs = []
            for strategy in asked:
                costs.append(-(yield strategy))
            search.tell([self._padded(x) for x in asked], costs)

    def _search(self, size: int, seed: int) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # cma looks for optional plotting packages and says so
            import cma
        options = {"seed": seed, "popsize": self.population, "bounds": [-self.reach, self.reach], "verbose": -9}
        return cma.CMAEvolutionStrategy(self._padded(np.zeros(size)), self.step, options)

    @staticmethod
    def _padded(strategy: Strategy) -> Strategy:
        """At least two numbers: the package searches no line."""
        return np.concatenate([strategy, np.zeros(max(0, 2 - len(strategy)))])


@dataclass(frozen=True)
class StrategyBo(StrategySearch):
    """By Bayesian optimization: where a Gaussian process expects most improvement (Mockus 1975)."""

    word: ClassVar[str] = "strategy-bo"

    candidates: int = 512
    """Strategies among which the next is chosen: half of them drawn from the belief, half around the best so far."""
    near: float = 0.3
    """How far those stray from it, in deviations of the belief."""

    def walk(self, size: int, key: PRNGKeyArray) -> Walk:
        dice, tried, values = generator_from(key), [np.zeros(size)], []
        while True:
            values.append((yield tried[-1]))
            known = surface(np.array(tried), np.array(values))
            anywhere, stray = dice.normal(size=(2, self.candidates // 2, size))
            offered = np.concatenate([anywhere, tried[known.best()] + self.near * stray])
            offered = np.clip(offered, -self.reach, self.reach)
            tried.append(offered[int(np.argmax(known.improvement(offered)))])
