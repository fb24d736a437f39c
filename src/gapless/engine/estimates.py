"""What more data or more training is expected to add to the return: the arithmetic, from simulated and recorded returns."""

from collections.abc import Mapping

import numpy as np
from jaxtyping import Bool, Float
from scipy.stats import norm

UPPER = 0.9
"""Quantile of a policy's returns over the belief that stands for what it would earn if the robot were known."""
BEST_OF = (0.0, 0.564, 0.846, 1.029, 1.163, 1.267)
"""Expected best of one, two, three … draws from a normal distribution, in deviations above its mean."""


def cost_of_doubt(returns: Float[np.ndarray, "draw episode"]) -> float:
    """What not knowing the parameters costs: upper quantile minus mean of the returns, as far as draws make them differ.

    Starts and noise make episodes of one draw differ; their share of the spread between draws is taken off.
    """
    episodes = returns.shape[1]
    within = float(returns.var(axis=1, ddof=1).mean()) / episodes if episodes > 1 else 0.0
    between = float(returns.mean(axis=1).var(ddof=1)) - within
    return float(norm.ppf(UPPER)) * float(np.sqrt(max(between, 0.0)))


def weights_of(
    params: Mapping[str, Float[np.ndarray, " draw"]], returns: Float[np.ndarray, " draw"]
) -> dict[str, float]:
    """How much each parameter has to do with the return: the square of their correlation over the draws."""
    found = {}
    for name, values in params.items():
        spread = float(np.std(values) * np.std(returns))
        shared = float(np.mean((values - values.mean()) * (returns - returns.mean())))
        found[name] = (shared / spread) ** 2 if spread > 1e-12 else 0.0
    return found


def left_of(now: float, after: float, lasting: float) -> float:
    """Share of a parameter's deviation that a lesson leaves, when nothing takes away what is `lasting`."""
    return min(1.0, float(np.hypot(after, min(lasting, now))) / now) if now > 0 else 1.0


def share_known(
    now: Mapping[str, float], after: Mapping[str, float], lasting: Mapping[str, float], prior: Mapping[str, float]
) -> float:
    """Share of the variance that was unknown at first which a lesson takes away, every parameter counting alike.

    What a policy loses by a small doubt that it was trained for grows with the square of that doubt.
    """
    taken = [(1 - left_of(now[n], after[n], lasting[n]) ** 2) * (now[n] / prior[n]) ** 2 for n in now if prior[n] > 0]
    return float(np.mean(taken)) if taken else 0.0


def share_taken(
    now: Mapping[str, float], after: Mapping[str, float], lasting: Mapping[str, float], weights: Mapping[str, float]
) -> float:
    """Share of the doubt that a lesson takes away, parameter by parameter in these weights; `lasting` no lesson takes."""
    total = sum(weights.get(name, 0.0) for name in now)
    if total <= 0:
        return 0.0
    return sum(weights.get(n, 0.0) * (1 - left_of(now[n], after[n], lasting[n])) for n in now) / total


def unexplained(chi_square: float, least: float) -> float:
    """Share of the held-out error that no parameter explains; none below the chi-square at which nothing is left to learn."""
    return 1 - 1 / float(np.sqrt(chi_square)) if chi_square >= max(least, 1.0) else 0.0


def learned_by(seconds: float, more_s: float) -> float:
    """Share that `more_s` seconds of logs take off an error that falls as one over the root of the seconds there are."""
    return 1 - float(np.sqrt(seconds / (seconds + more_s))) if more_s > 0 else 0.0


def cost_of_failing(returns: Float[np.ndarray, " episode"], passed: Bool[np.ndarray, " episode"]) -> float:
    """By how much the mean return would rise if every episode went as those do that pass."""
    return float(returns[passed].mean() - returns.mean()) if passed.any() else 0.0


def luck_of(values: Float[np.ndarray, " look"], tries: int) -> float:
    """What another training is expected to gain by chance, after so many: the looks of the last one say how much they differ."""
    late = values[len(values) // 2 :]
    if len(late) < 2:
        return 0.0
    have, one_more = (BEST_OF[min(n, len(BEST_OF) - 1)] for n in (max(tries, 1) - 1, max(tries, 1)))
    return float(late.std(ddof=1)) * (one_more - have)


def told_by_one_more(deviation: float, episodes: int) -> float:
    """What an episode more tells about a forecast: the expected loss below its mean that stays unseen without it."""
    unseen = [deviation * float(norm.pdf(0.0)) / float(np.sqrt(1 + n)) for n in (episodes, episodes + 1)]
    return unseen[0] - unseen[1]


def better_of(difference: float, deviation: float) -> float:
    """What choosing the better of two is expected to gain over the one, where the other is worth so much more, give or take."""
    if deviation <= 0:
        return max(difference, 0.0)
    z = difference / deviation
    return difference * float(norm.cdf(z)) + deviation * float(norm.pdf(z))
