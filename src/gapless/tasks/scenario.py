"""A behaviour test: where an episode starts, in which worlds, what goes wrong in it, and what must hold all the same."""

from dataclasses import dataclass, field
from typing import Any

import jax
import numpy as np
from jaxtyping import PRNGKeyArray

from gapless.core import Belief, Disturbance, Log, Params, Signals, Task, Verdict, belief_from_dict

Span = tuple[float, float]
"""A lowest and a highest value; both are the same for a number that is fixed."""


@dataclass(frozen=True)
class Settles:
    """A channel that comes to a place and stays there."""

    at: float
    """Where, in the channel's unit; angles count around the circle."""
    by: float
    """How far from there it may be."""
    after_s: float
    """From when on, until the episode's end."""


@dataclass(frozen=True)
class Must:
    """What has to hold in an episode: all of it."""

    passes: bool = True
    """Whether the task's own verdict counts."""
    return_at_least: float | None = None
    within: dict[str, Span] = field(default_factory=dict)
    """Channels that never leave a range."""
    settles: dict[str, Settles] = field(default_factory=dict)

    def judge(self, task: Task, log: Log) -> Verdict:
        """The verdict on what went worst."""
        found = [task.judge(log)] if self.passes else []
        if self.return_at_least is not None:
            found.append(_worth(task.score(log), self.return_at_least))
        found += [_within(log, name, span) for name, span in self.within.items()]
        found += [_settles(log, name, wanted, task.seconds) for name, wanted in self.settles.items()]
        return min(found, key=lambda verdict: (verdict.passed, verdict.margin))


@dataclass(frozen=True)
class Scenario:
    """One behaviour test."""

    name: str
    task: str
    """The task whose episodes these are, by its name."""
    start: dict[str, Span] = field(default_factory=dict)
    """Joint states, `<joint>.position` and `<joint>.velocity`; the others begin as the task's do."""
    params: dict[str, Span] = field(default_factory=dict)
    """Parameters that are fixed or drawn from a range; the others are drawn from the belief."""
    belief: dict[str, Any] | None = None
    """A belief of the scenario's own, as beliefs are stored: what a log said about the robot that it was recorded on."""
    disturbances: tuple[Disturbance, ...] = ()
    must: Must = field(default_factory=Must)
    source: dict[str, Any] = field(default_factory=dict)
    """Where it came from."""

    def worlds(self, known: Belief, key: PRNGKeyArray, n: int) -> Params:
        """n draws of the parameters: from what is known, then from the scenario's own belief, then from its ranges."""
        keys = jax.random.split(key, 3)
        drawn = known.sample(keys[0], n)
        drawn |= {} if self.belief is None else belief_from_dict(self.belief).sample(keys[1], n)
        drawn |= _spread(self.params, keys[2], n)
        return {name: np.asarray(values, np.float64) for name, values in drawn.items()}

    def starts(self, task: Task, key: PRNGKeyArray, n: int) -> Signals:
        """n starts."""
        keys = jax.random.split(key)
        named = {name: values[:, None] for name, values in _spread(self.start, keys[1], n).items()}
        return {**task.start(keys[0], n), **named}


def _spread(spans: dict[str, Span], key: PRNGKeyArray, n: int) -> dict[str, np.ndarray]:
    """Each name's own draws, whatever else is named beside it."""
    drawn = {}
    for name, (low, high) in spans.items():
        share = np.asarray(jax.random.uniform(jax.random.fold_in(key, sum(name.encode())), (n,)), np.float64)
        drawn[name] = low + (high - low) * share
    return drawn


def _worth(value: float, least: float) -> Verdict:
    return Verdict(value >= least, (value - least) / max(abs(least), 1e-9), f"its return is {value:.3g}")


def _within(log: Log, name: str, span: Span) -> Verdict:
    values, (low, high) = log.measurements[name], span
    if not values.size or not np.isfinite(values).all():
        return Verdict(False, -1.0, f"{name} was not measured")
    margin = float(np.minimum(values - low, high - values).min()) / max((high - low) / 2, 1e-9)
    unit = log.interface.channel(name).unit
    return Verdict(margin >= 0, margin, f"{name} went from {values.min():.3g} to {values.max():.3g} {unit}".rstrip())


def _settles(log: Log, name: str, wanted: Settles, seconds: float) -> Verdict:
    times, unit = log.measurement_time[name], log.interface.channel(name).unit
    if not len(times) or log.seconds < seconds - 2 * log.interface.period_s:
        return Verdict(False, -1.0, f"it was over after {log.seconds:.1f} s")
    off = log.measurements[name][times >= wanted.after_s - 1e-9] - wanted.at
    off = np.abs(np.angle(np.exp(1j * off))) if unit == "rad" else np.abs(off)
    worst = float(off.max()) if off.size else np.inf
    worst = worst if np.isfinite(worst) else 1e9
    says = f"{name} is up to {worst:.3g} {unit}".rstrip() + f" off after {wanted.after_s:.3g} s"
    return Verdict(worst <= wanted.by, 1 - worst / wanted.by, says)
