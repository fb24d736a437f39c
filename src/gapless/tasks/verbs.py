"""What generated tasks ask for: a joint is to reach a place, hold it, sway about it, or come back to it."""

import math
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from gapless.core import Feature, Interface, Log, Observation, Signals, Task, Verdict

from .early import ended_early

Stretches = dict[str, tuple[str, float, float, float, bool]]
"""Channel → joint, low, home, high, and whether it may go round and round."""
NEAR = 0.1
"""How far from where it should be a joint may be, as a share of half its stretch; a tenth of a radian or so."""
WIDTH = 0.3
"""Distance, likewise, at which being near is worth little."""
BEYOND = 0.5
"""How far beyond its stretch, as a share of it, a joint ends the episode."""
SWAYS_HZ = 0.5
"""How often a swaying joint goes to and fro."""
LAST_S = 1.0
"""The end of the episode, in which it counts."""
EFFORT, OTHERS = 0.02, 0.1
"""What full commands cost, and other joints at the end of their stretch."""


class Goal(Task):
    """A task about one channel; what differs is where it begins, what is paid, and which part of the log is judged."""

    seconds = 4.0
    begins: ClassVar[str]
    """Where episodes begin: "home", "there" (at the target) or "anywhere"."""
    judged_s: ClassVar[float]
    """Length of the log's end that must be near the target."""

    def __init__(
        self, name: str, interface: Interface, stretches: Stretches, channel: str, value: float | None
    ) -> None:
        self.name, self.interface, self.stretches, self.channel = name, interface, stretches, channel
        self.joint, self.low, self.home, self.high, self.turns = stretches[channel]
        self.half = (self.high - self.low) / 2
        self.value = self.default if value is None else value
        self.commands, self.measurements = interface.commands, interface.measurements
        self.easy = {f"{self.joint}.position": self.value}
        self.observe = Observation(tuple(f for c in stretches for f in _features(c, stretches[c][4])), commands=3)

    @property
    def default(self) -> float:
        """The target where the text names none: home."""
        return self.home

    def start(self, key: PRNGKeyArray, n: int) -> Signals:
        """The joint near where this task begins; all others at home."""
        keys = jax.random.split(key)
        if self.begins == "anywhere":
            return self._anywhere(key, n)
        middle = self.home if self.begins == "home" else self.value
        aside = NEAR * self.half * jax.random.uniform(keys[0], (n, 1), minval=-1.0, maxval=1.0)
        still = 0.1 * self.half * jax.random.normal(keys[1], (n, 1))
        return {f"{self.joint}.position": middle + aside, f"{self.joint}.velocity": still}

    def explore(self, key: PRNGKeyArray, n: int) -> Signals:
        """Half of the episodes from anywhere."""
        keys = jax.random.split(key, 3)
        own, anywhere = self.start(keys[0], n), self._anywhere(keys[1], n)
        free = jax.random.bernoulli(keys[2], 0.5, (n, 1))
        return {k: jnp.where(free, anywhere[k], own[k]) for k in own}

    def reward(self, before: Signals, command: Signals, after: Signals) -> Float[Array, " *world"]:
        return self.paid(before, after) - EFFORT * self._effort(command) - OTHERS * self._others(after)

    def paid(self, before: Signals, after: Signals) -> Float[Array, " *world"]:
        """Near is good, nearer and calm is better: from 0 to 1."""
        off = jnp.abs(self.off(after)) / self.half
        rate = self._change(before, after) / self.interface.period_s / self.half
        calm = 0.5 + 0.5 * jnp.exp(-(rate**2))
        return 0.5 * jnp.exp(-((off / WIDTH) ** 2)) * calm + 0.5 * jnp.maximum(1 - off / 2, 0.0)

    def off(self, measurement: Signals) -> Float[Array, " *world"]:
        """How far the joint is from the target, the shorter way round where it turns."""
        return self._wrapped(jnp.asarray(measurement[self.channel])[..., 0] - self.value)

    def finished(self, measurement: Signals) -> Bool[Array, " *world"]:
        """A joint that has ends has left them; one that turns never does."""
        place, beyond = jnp.asarray(measurement[self.channel])[..., 0], BEYOND * 2 * self.half
        left = (place < self.low - beyond) | (place > self.high + beyond)
        return jnp.zeros_like(left) if self.turns else left

    def judge(self, log: Log) -> Verdict:
        early = ended_early(log, self.seconds, f"{self.channel} left its stretch")
        if early is not None:
            return early
        times = log.measurement_time[self.channel]
        off = np.asarray(self.off({self.channel: log.measurements[self.channel]}), np.float64)
        worst = float(np.abs(off[times > times[-1] - self.judged_s]).max()) / (NEAR * self.half)
        says = "is" if worst < 1 else "is not"
        return Verdict(
            worst < 1, 1 - worst, f"{self.channel} {says} near {self.value:g}: {worst * NEAR * self.half:.3g} off"
        )

    def _anywhere(self, key: PRNGKeyArray, n: int) -> Signals:
        keys = jax.random.split(key)
        place = jax.random.uniform(keys[0], (n, 1), minval=self.low, maxval=self.high)
        return {
            f"{self.joint}.position": place,
            f"{self.joint}.velocity": self.half * jax.random.normal(keys[1], (n, 1)),
        }

    def _effort(self, command: Signals) -> Float[Array, " *world"]:
        shares = [
            ((jnp.asarray(command[c.name]) - (c.low + c.high) / 2) / ((c.high - c.low) / 2)) ** 2
            for c in self.commands
            if math.isfinite(c.low) and math.isfinite(c.high) and c.low < c.high
        ]
        return sum((s.mean(-1) for s in shares), jnp.zeros(())) / max(len(shares), 1)

    def _others(self, measurement: Signals) -> Float[Array, " *world"]:
        """How far the other joints are from home, on average and at most 1; those that turn may be anywhere."""
        far = [
            jnp.minimum(((jnp.asarray(measurement[c])[..., 0] - home) / ((high - low) / 2)) ** 2, 1.0)
            for c, (_, low, home, high, turns) in self.stretches.items()
            if c != self.channel and not turns
        ]
        return sum(far, jnp.zeros(())) / max(len(far), 1)

    def _change(self, before: Signals, after: Signals) -> Float[Array, " *world"]:
        first, then = (jnp.asarray(side[self.channel])[..., 0] for side in (before, after))
        return self._wrapped(then - first)

    def _wrapped(self, off: Any) -> Any:
        return jnp.arctan2(jnp.sin(off), jnp.cos(off)) if self.turns else off


class Reach(Goal):
    """Go to a place from home, and stay there."""

    begins, judged_s = "home", LAST_S

    @property
    def default(self) -> float:
        """Halfway to the farther end."""
        up, down = self.high - self.home, self.home - self.low
        return self.home + (0.5 * up if up >= down else -0.5 * down)


class Hold(Goal):
    """Stay at a place, beginning near it."""

    begins, judged_s = "there", 0.75 * Goal.seconds


class Recover(Goal):
    """Come back to a place from anywhere, however fast it was going."""

    begins, judged_s = "anywhere", LAST_S


class Follow(Goal):
    """Sway to and fro about home, as a sine would: on a circle of place and speed, which needs no clock to be followed."""

    begins, judged_s = "home", 0.5 * Goal.seconds
    loose: ClassVar[float] = 0.35
    """How far from the circle it may be on average, as a share of its radius."""

    @property
    def default(self) -> float:
        """How far it sways where the text does not say: a third of its stretch."""
        return min(self.high - self.home, self.home - self.low, self.half) / 1.5 or self.half / 3

    def paid(self, before: Signals, after: Signals) -> Float[Array, " *world"]:
        """Being on the circle, and more where it is fast: at the turning points a joint at rest would be on it, too."""
        speed = self._change(before, after) / self.interface.period_s / (2 * math.pi * SWAYS_HZ)
        place = self._wrapped((jnp.asarray(after[self.channel])[..., 0]) - self.home)
        radius = jnp.sqrt(place**2 + speed**2 + 1e-12) / abs(self.value)
        moving = 0.2 + 0.8 * jnp.minimum((speed / self.value) ** 2, 1.0)
        return 0.8 * jnp.exp(-((2 * (radius - 1)) ** 2)) * moving + 0.2 * jnp.minimum(radius, 1.0)

    def judge(self, log: Log) -> Verdict:
        early = ended_early(log, self.seconds, f"{self.channel} left its stretch")
        if early is not None:
            return early
        times = log.measurement_time[self.channel]
        place = log.measurements[self.channel][:, 0] - self.home
        place = np.unwrap(place) if self.turns else place
        last = times > times[-1] - self.judged_s
        speed = np.gradient(place, np.maximum(times - times[0], 0.0))[last] / (2 * math.pi * SWAYS_HZ)
        off = float(np.abs(np.hypot(place[last], speed) / abs(self.value) - 1).mean())
        path = float(np.abs(np.diff(place[last])).sum()) / (4 * abs(self.value) * SWAYS_HZ * self.judged_s)
        margin = float(min(1 - off / self.loose, 2 * path - 1))
        says = "sways" if margin > 0 else "does not sway"
        return Verdict(
            margin > 0, margin, f"{self.channel} {says}: {100 * off:.0f} % off the circle, {path:.2f} of the way"
        )


def _features(channel: str, turns: bool) -> tuple[Feature, ...]:
    if turns:
        return Feature(channel, "sin"), Feature(channel, "cos"), Feature(channel, "angle_rate")
    return Feature(channel), Feature(channel, "rate")
