"""Whether a machine does what is expected of it: measurements against predictions from a little while before, added up over time.

Each look predicts all measurements one horizon ahead, with a deviation, from a short history and the commands in between. It is a
small network fitted to simulated episodes of the belief, sensor noise included, so that it knows how far apart healthy machines
are; it costs microseconds, compiles with the policy, and needs no estimate of the state, which a step of physics would. What is
off is counted in those deviations and summed over time, until a sum crosses its threshold. What is summed is the kind of the
watch: all together (`watch_together.py`) or each number apart (`watch_apart.py`). A reading that repeats itself bit for bit, as
none does that is alive, is off as well, however well it was expected.
"""

from abc import abstractmethod
from dataclasses import replace
from typing import NamedTuple, Self

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from gapless.core import Interface, Signals

from .watch_lean import Lean, blank_lean

LEAST, MOST = -7.0, 3.0
"""Logarithms of the smallest and largest deviation of a look, in typical changes of its measurement."""


class Past(eqx.Module):
    """A short history of a machine, newest first, as the numbers that a network reads."""

    turns: tuple[bool, ...] = eqx.field(static=True)
    """Which measurements are angles without limits: they are seen as sine and cosine, their changes across the seam."""
    frames: int = eqx.field(static=True)
    """Measurements that a look sees, the one it begins from included."""

    def change(self, after: Float[Array, "*n width"], before: Float[Array, "*n width"]) -> Float[Array, "*n width"]:
        """What was added, the short way round for angles."""
        off = after - before
        return jnp.where(np.array(self.turns), jnp.arctan2(jnp.sin(off), jnp.cos(off)), off)

    def features(
        self, seen: Float[Array, "past width"], sent: Float[Array, "past command"], ahead: int
    ) -> Float[Array, " feature"]:
        """What a look sees that begins `ahead` periods ago: where things were, how they moved, and all commands since."""
        turns, first = np.array(self.turns), seen[ahead]
        moved = self.change(seen[ahead : ahead + self.frames - 1], seen[ahead + 1 : ahead + self.frames])
        places = [first[~turns], jnp.sin(first[turns]), jnp.cos(first[turns])]
        return jnp.concatenate([*places, moved.reshape(-1), sent[: ahead + self.frames].reshape(-1)])


class Look(eqx.Module):
    """What is expected so many periods ahead, and how surely."""

    ahead: int = eqx.field(static=True)
    shift: Float[Array, " feature"]
    scale: Float[Array, " feature"]
    size: Float[Array, " width"]
    """Typical change of each measurement over the horizon."""
    widen: Float[Array, " width"]
    """What real logs make of the deviations; 1 where they are as simulated."""
    straight: eqx.nn.Linear
    bent: eqx.nn.MLP
    lean: Lean | None = None
    """What one robot adds to what is expected of all; none where it has not been asked."""

    def __call__(self, features: Float[Array, " feature"]) -> tuple[Float[Array, " width"], Float[Array, " width"]]:
        """The expected change and the logarithm of its deviation, both in typical changes."""
        normal, width = self.normal(features), self.size.shape[0]
        out = self.bent(normal)
        return self.straight(normal) + out[:width], jnp.clip(out[width:], LEAST, MOST)

    def normal(self, features: Float[Array, " feature"]) -> Float[Array, " feature"]:
        return jnp.clip((features - self.shift) * self.scale, -10, 10)

    def basis(self, features: Float[Array, " feature"]) -> Float[Array, " basis"]:
        """What it reads, its last hidden layer and a one: all that a robot may lean on."""
        hidden = normal = self.normal(features)
        for layer in self.bent.layers[:-1]:
            hidden = jnp.tanh(layer(hidden))
        return jnp.concatenate([normal, hidden, jnp.ones(1)])

    def missed(self, features: Float[Array, " feature"], came: Float[Array, " width"]) -> Float[Array, " width"]:
        """What came of it against what was expected, in deviations."""
        mean, spread = self(features)
        off = (came / self.size - mean) / jnp.exp(spread)
        if self.lean is not None:
            off = self.lean(off, self.basis(features) / jnp.exp(spread)[:, None])
        return off / self.widen

    def off(self, past: Past, seen: Array, sent: Array) -> Float[Array, " width"]:
        """The newest measurement against what was expected of it, in deviations."""
        return self.missed(past.features(seen, sent, self.ahead), past.change(seen[0], seen[self.ahead]))


class Watching(NamedTuple):
    """What a watch remembers."""

    seen: Float[Array, "past width"]
    sent: Float[Array, "past command"]
    count: Array
    """Measurements until now."""
    still: Float[Array, " width"]
    """For how many measurements in a row each number has repeated itself; until the alarm."""
    total: Float[Array, "*sum"]
    """What each sum has come to; until the alarm."""
    rising: Float[Array, "*sum"]
    """The measurement since which it is above zero."""
    alarm: Array
    """The measurement at which it was too much; −1 while it is not."""
    offs: Float[Array, "recent look width"]
    """What was off lately, in deviations, newest first; until the alarm."""


class Blame(NamedTuple):
    """Which expectation was not met."""

    look: int
    column: int
    """The measured number that was off."""
    since: int
    """The measurement since which it was."""


class Watch(eqx.Module):
    """Looks over several horizons, and when what they see is too much; what is summed, each kind says for itself."""

    interface: Interface = eqx.field(static=True)
    past: Past
    looks: tuple[Look, ...]
    patience: Float[Array, " width"]
    """How often in a row each number may repeat itself bit for bit."""
    threshold: eqx.AbstractVar[Float[Array, "*sum"]]
    """What each sum may come to."""

    @classmethod
    @abstractmethod
    def blank(cls, interface: Interface, past: Past, looks: tuple[Look, ...]) -> Self:
        """A watch that is alarmed by nothing."""

    @property
    @abstractmethod
    def recent(self) -> int:
        """Periods whose offs it remembers."""

    @abstractmethod
    def summed(self, total: Float[Array, "*sum"], offs: Float[Array, "recent look width"]) -> Float[Array, "*sum"]:
        """The sums after a period, from those before it and what was off lately."""

    @abstractmethod
    def blame(self, memory: Watching) -> Blame:
        """What was wrong where a sum was too high."""

    @property
    def longest(self) -> int:
        return max(look.ahead for look in self.looks)

    def begin(self) -> Watching:
        rows, none, sums = self.longest + self.past.frames, jnp.zeros((), int), jnp.zeros_like(self.threshold)
        width, sent = self.interface.measurement_width, jnp.zeros((rows, self.interface.command_width))
        offs = jnp.zeros((self.recent, len(self.looks), width))
        still = jnp.zeros(width)
        return Watching(jnp.zeros((rows, width)), sent, none, still, sums, sums, none - 1, offs)

    def see(self, memory: Watching, measurement: Signals) -> Watching:
        """Take a measurement; the first one is taken to have been before it, too."""
        now = jnp.concatenate([jnp.asarray(measurement[n]) for n in self.interface.measurement_names])
        seen = jnp.where(memory.count > 0, jnp.concatenate([now[None], memory.seen[:-1]]), now)
        off = jnp.stack([look.off(self.past, seen, memory.sent) for look in self.looks])
        off = jnp.where(memory.count >= self.longest, jnp.nan_to_num(off, nan=1e3), 0.0)
        offs = jnp.concatenate([off[None], memory.offs[:-1]])
        total = self.summed(memory.total, offs)
        still = jnp.where((memory.count > 0) & (now == memory.seen[0]), memory.still + 1, 0.0)
        well = memory.alarm < 0
        over = well & ((total > self.threshold).any() | (still > self.patience).any())
        return Watching(
            seen,
            memory.sent,
            memory.count + 1,
            jnp.where(well, still, memory.still),
            jnp.where(well, total, memory.total),
            jnp.where(well & (total <= 0), memory.count + 1.0, memory.rising),
            jnp.where(over, memory.count, memory.alarm),
            jnp.where(well, offs, memory.offs),
        )

    def send(self, memory: Watching, command: Signals) -> Watching:
        """Take the command that is sent now, as far as its limits let it pass."""
        limited = [jnp.clip(jnp.asarray(command[c.name]), c.low, c.high) for c in self.interface.commands]
        return memory._replace(sent=jnp.concatenate([jnp.concatenate(limited)[None], memory.sent[:-1]]))


def new_look(past: Past, interface: Interface, ahead: int, hidden: tuple[int, int], key: PRNGKeyArray) -> Look:
    """A look that knows nothing yet."""
    width, keys = interface.measurement_width, jax.random.split(key)
    features = width + sum(past.turns) + width * (past.frames - 1)
    features += (ahead + past.frames) * interface.command_width
    return Look(
        ahead,
        jnp.zeros(features),
        jnp.ones(features),
        jnp.ones(width),
        jnp.ones(width),
        eqx.nn.Linear(features, width, key=keys[0]),
        eqx.nn.MLP(features, 2 * width, *hidden, activation=jnp.tanh, key=keys[1]),
    )


def leaning(look: Look) -> Look:
    """The look with a correction of nothing."""
    basis = len(look.shift) + look.bent.width_size + 1
    return replace(look, lean=blank_lean(len(look.size), basis))


def turning(interface: Interface) -> tuple[bool, ...]:
    """Which numbers of all measurements are angles without limits."""
    return tuple(
        c.unit == "rad" and not (np.isfinite(c.low) or np.isfinite(c.high))
        for c in interface.measurements
        for _ in range(c.width)
    )
