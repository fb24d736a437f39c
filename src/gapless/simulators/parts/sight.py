"""What a learned part sees: a short history of commands and joint states, as the numbers that a network reads."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from gapless.core import Signals


class Sight(eqx.Module):
    """Channels of one number each; features are the present frame, and how velocities and commands came to it."""

    channels: tuple[str, ...] = eqx.field(static=True)
    """What is seen, e.g. "slider.position", "slider.velocity", "motor"."""
    turns: tuple[bool, ...] = eqx.field(static=True)
    """Which of them are angles without limits: they are seen as sine and cosine."""
    history: int = eqx.field(static=True)
    """Frames of which velocities and commands are seen, the present one included."""
    recall: int = eqx.field(static=True, default=0)
    """Frames of which commands are seen beyond those, every other one."""

    @property
    def places(self) -> tuple[int, ...]:
        """Features that say where the joints are."""
        widths = [2 if turn else 1 for turn in self.turns]
        first = [sum(widths[:k]) for k in range(len(widths))]
        here = [k for k, name in enumerate(self.channels) if name.endswith(".position")]
        return tuple(i for k in here for i in range(first[k], first[k] + widths[k]))

    @property
    def late(self) -> tuple[int, ...]:
        """Features that say which commands were sent long ago; they come last."""
        return tuple(range(self.width - len(self.commands) * len(self._long_ago), self.width))

    @property
    def present(self) -> int:
        """How many features describe the present frame; they come first."""
        return len(self.channels) + sum(self.turns)

    @property
    def remembered(self) -> int:
        """Frames to be kept, the present one included."""
        return max(self.history, self.recall)

    @property
    def width(self) -> int:
        return self.present + len(self._moving) * (self.history - 1) + len(self.commands) * len(self._long_ago)

    @property
    def _moving(self) -> list[int]:
        return [k for k, name in enumerate(self.channels) if not name.endswith(".position")]

    @property
    def commands(self) -> list[int]:
        """Which channels are commands."""
        return [k for k in self._moving if not self.channels[k].endswith(".velocity")]

    @property
    def _long_ago(self) -> list[int]:
        return list(range(self.history + 1, self.recall, 2))

    def first(self, now: Float[Array, " channel"]) -> Float[Array, " channel"]:
        """What is taken to have been before anything was seen: the joints as they are, and no commands."""
        return now.at[jnp.array(self.commands, int)].set(0.0)

    def frame(self, inputs: Signals) -> Float[Array, " channel"]:
        """The present values of all channels."""
        return jnp.concatenate([jnp.reshape(inputs[name], (1,)) for name in self.channels])

    def features(self, frames: Float[Array, "history channel"]) -> Float[Array, " feature"]:
        """Features of frames that come newest first, in the units of the channels."""
        now = [
            jnp.stack([jnp.sin(v), jnp.cos(v)]) if turn else v[None]
            for v, turn in zip(frames[0], self.turns, strict=True)
        ]
        lately = (frames[:1] - frames[1 : self.history])[:, jnp.array(self._moving, int)]
        before = frames[:1] - frames[jnp.array(self._long_ago, int)]
        return jnp.concatenate([*now, lately.reshape(-1), before[:, jnp.array(self.commands, int)].reshape(-1)])
