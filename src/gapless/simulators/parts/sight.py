"""What a learned part sees: a joint, the commands that drive it, and what is left of their past, as the numbers that it reads."""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from gapless.core import Signals

WIDTHS = (0.01, 0.03, 0.1, 0.3)
"""Shares of its span that a joint goes before what it drags along slips."""
LASTING_S = (0.3, 1.0, 3.0)
"""Time constants with which the size of commands is remembered."""
PACES = (0.1, 0.3, 1.0)
"""Speeds, in typical ones, up to which a direction counts by degrees only."""
CREEPS = 0.2
"""The same for the direction as such."""


class Sight(eqx.Module):
    """One joint and its commands: where it is, how it moves, what was sent lately, what it dragged along, what lasts."""

    joint: str = eqx.field(static=True)
    commands: tuple[str, ...] = eqx.field(static=True)
    turns: bool = eqx.field(static=True)
    """Whether its position is an angle without limits: then it is seen as sine and cosine."""
    history: int = eqx.field(static=True)
    """Periods over which changes of its velocity are seen, the present one included."""
    recall: int = eqx.field(static=True)
    """Periods over which changes of commands are seen, likewise."""
    span: Float[Array, ""]
    """How far the joint went where it was learned from."""
    speed: Float[Array, ""]
    """How fast, typically."""

    @property
    def remembered(self) -> int:
        """Frames to be kept, the present one included."""
        return max(self.history, self.recall)

    @property
    def widths(self) -> dict[str, int]:
        """How many numbers there are of each kind, in their order."""
        n = len(self.commands)
        return {
            "place": 2 if self.turns else 1, "velocity": 1, "command": n, "direction": 1, "pace": len(PACES) + 1,
            "lately": self.history - 1, "lags": n * (self.recall - 1), "wound": len(WIDTHS), "lasting": n * len(LASTING_S),
        }  # fmt: skip

    @property
    def width(self) -> int:
        return sum(self.widths.values())

    @property
    def present(self) -> int:
        """How many numbers describe the present frame; they come first."""
        return sum(self.widths[kind] for kind in ("place", "velocity", "command"))

    def columns(self, kind: str) -> range:
        """Where the numbers of a kind stand."""
        kinds = list(self.widths)
        first = sum(self.widths[k] for k in kinds[: kinds.index(kind)])
        return range(first, first + self.widths[kind])

    def fresh(self) -> dict[str, Any]:
        """The memory of a joint that has not been looked at."""
        n = len(self.commands)
        return {
            "frames": jnp.zeros((self.remembered, 2 + n)),
            "wound": jnp.zeros(len(WIDTHS)),
            "lasting": jnp.zeros((n, len(LASTING_S))),
            "begun": jnp.zeros((), bool),
        }

    def look(self, memory: dict[str, Any], inputs: Signals, dt_s: float) -> dict[str, Any]:
        """The memory after this moment; before the first, the joint was where it is and nothing was sent."""
        names = (f"{self.joint}.position", f"{self.joint}.velocity", *self.commands)
        now = jnp.concatenate([jnp.reshape(inputs[name], (1,)) for name in names])
        past = jnp.where(memory["begun"], memory["frames"], now.at[2:].set(0.0))
        slips = self.span * jnp.array(WIDTHS)
        # Elements that stretch with the joint and slip when they can stretch no further: hysteresis of any shape is a sum.
        wound = jnp.clip(memory["wound"] + now[0] - past[0, 0], -slips, slips)
        share = 1 - jnp.exp(-dt_s / jnp.array(LASTING_S))
        lasting = memory["lasting"] + share * (jnp.abs(past[0, 2:, None]) - memory["lasting"])
        frames = jnp.concatenate([now[None], past[:-1]])
        return {"frames": frames, "wound": wound, "lasting": lasting, "begun": jnp.ones((), bool)}

    def numbers(self, memory: dict[str, Any]) -> Float[Array, " number"]:
        """All that is seen, in the order of `widths`."""
        frames = memory["frames"]
        position, velocity, commands = frames[0, 0], frames[0, 1], frames[0, 2:]
        place = jnp.stack([jnp.sin(position), jnp.cos(position)]) if self.turns else position[None]
        pace = velocity / self.speed
        return jnp.concatenate(
            [
                place,
                velocity[None],
                commands,
                jnp.tanh(pace / CREEPS)[None],
                jnp.tanh(pace / jnp.array(PACES)),
                (pace * jnp.abs(pace))[None],
                velocity - frames[1 : self.history, 1],
                (commands - frames[1 : self.recall, 2:]).reshape(-1),
                memory["wound"],
                (commands[:, None] * memory["lasting"]).reshape(-1),
            ]
        )
