"""A policy under watch: once the machine does what is not expected of it, a fallback commands until the episode ends."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PRNGKeyArray

from gapless.core import Block, Params, Signals

from .watch import Watch, Watching

PLACES = ("m", "rad")
"""Units of commands that say where to be: at rest they stay where they are."""


class Watched(Block):
    """The policy's commands, and after an alarm the fallback's: another policy, or without one rest."""

    policy: Block
    watch: Watch
    fallback: Block | None = None

    def init(self, key: PRNGKeyArray) -> Any:
        keys = jax.random.split(key)
        other = None if self.fallback is None else self.fallback.init(keys[1])
        return {"policy": self.policy.init(keys[0]), "fallback": other, "watch": self.watch.begin()}

    def step(self, params: Params, memory: Any, inputs: Signals, dt_s: float, key: PRNGKeyArray) -> tuple[Any, Signals]:
        keys = jax.random.split(key)
        watch = self.watch.see(memory["watch"], inputs)
        policy, command = self.policy.step(params, memory["policy"], inputs, dt_s, keys[0])
        other, instead = memory["fallback"], self._rest(watch)
        if (
            self.fallback is not None
        ):  # it watches from the start, so that it knows where things are when its turn comes
            other, instead = self.fallback.step(params, other, inputs, dt_s, keys[1])
        sent = {name: jnp.where(watch.alarm >= 0, instead[name], command[name]) for name in command}
        return {"policy": policy, "fallback": other, "watch": self.watch.send(watch, sent)}, sent

    def notes(self, memory: Any) -> dict[str, Any]:
        watch: Watching = memory["watch"]
        row, since = int(watch.alarm), int(watch.rising)
        if row < 0:
            return {}
        alarm_s = row * self.watch.interface.period_s
        why = f"the monitor handed over at {alarm_s:.2f} s: {self._blame(watch)}"
        return {"stopped": why, "alarm_s": alarm_s, "trusted": max(since - self.watch.longest, 0)}

    def _rest(self, watch: Watching) -> Signals:
        rest, first = {}, 0
        for c in self.watch.interface.commands:
            last = watch.sent[0, first : first + c.width]
            rest[c.name] = last if c.unit in PLACES else jnp.clip(jnp.zeros(c.width), c.low, c.high)
            first += c.width
        return rest

    def _blame(self, watch: Watching) -> str:
        """The measurement that was furthest from what was expected of it."""
        off = np.abs(np.asarray(watch.off))
        look, column = np.unravel_index(int(off.argmax()), off.shape)
        names = [c.name for c in self.watch.interface.measurements for _ in range(c.width)]
        ahead_s = self.watch.looks[look].ahead * self.watch.interface.period_s
        return f"{names[column]} is {off.max():.1f} deviations from what was expected {ahead_s:.2f} s before"
