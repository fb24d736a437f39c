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
        row = int(watch.alarm)
        if row < 0:
            return {}
        alarm_s = row * self.watch.interface.period_s
        said, since = self._blame(watch)
        return {"stopped": f"the monitor handed over at {alarm_s:.2f} s: {said}", "alarm_s": alarm_s, "trusted": since}

    def _rest(self, watch: Watching) -> Signals:
        rest, first = {}, 0
        for c in self.watch.interface.commands:
            last = watch.sent[0, first : first + c.width]
            rest[c.name] = last if c.unit in PLACES else jnp.clip(jnp.zeros(c.width), c.low, c.high)
            first += c.width
        return rest

    def _blame(self, memory: Watching) -> tuple[str, int]:
        """What was wrong, and the first row that may be spoiled by it."""
        watch = self.watch
        names = [c.name for c in watch.interface.measurements for _ in range(c.width)]
        if not (np.asarray(memory.total) > np.asarray(watch.threshold)).any():  # a reading had stood still for too long
            column = int(np.argmax(np.asarray(memory.still) - np.asarray(watch.patience)))
            since = int(memory.alarm) - int(memory.still[column])
            return f"{names[column]} repeats itself bit for bit", max(since, 0)
        look, column, since = watch.blame(memory)
        off, ahead_s = abs(float(memory.offs[0, look, column])), watch.looks[look].ahead * watch.interface.period_s
        said = f"{names[column]} is {off:.1f} deviations from what was expected {ahead_s:.2f} s before"
        return said, max(since - watch.longest, 0)
