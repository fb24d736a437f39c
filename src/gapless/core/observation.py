"""What a policy sees: features of the last measurements and commands, written as data so that they can be exported."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from .interface import Interface
from .signals import Signals

Kind = Literal["value", "sin", "cos", "rate", "angle_rate"]
MOST = 1000
"""Frames, and past commands, in a stored observation at most."""


@dataclass(frozen=True)
class Feature:
    """One function of one measured channel."""

    channel: str
    """Which measurement."""
    kind: Kind = "value"
    """The value itself, its sine or cosine, its change per second, or that of an angle across the seam at ±π."""

    @property
    def is_rate(self) -> bool:
        return self.kind in ("rate", "angle_rate")


@dataclass(frozen=True)
class Observation:
    """The features of the newest `frames` measurements, newest first, then the newest `commands` commands."""

    features: tuple[Feature, ...]
    """What is computed of each frame."""
    frames: int = 1
    """Frames that the policy sees; rates look one frame further back."""
    commands: int = 1
    """Past commands that the policy sees: with latency, they are part of the state."""

    @property
    def memory(self) -> int:
        """Measurements that must be remembered."""
        return self.frames + any(f.is_rate for f in self.features)

    def width(self, interface: Interface) -> int:
        per_frame = sum(interface.channel(f.channel).width for f in self.features)
        return self.frames * per_frame + self.commands * interface.command_width

    def features_of(
        self, history: Signals, commands: Float[Array, "past command"], period_s: float
    ) -> Float[Array, " observation"]:
        """The observation from remembered measurements, each (memory, width), and commands, both newest first."""
        parts = []
        for frame in range(self.frames):
            parts += [_feature(f.kind, history[f.channel], frame, period_s) for f in self.features]
        parts += [commands[k] for k in range(self.commands)]
        return jnp.concatenate(parts)

    def mirror(self, interface: Interface, signs: Mapping[str, float]) -> Float[np.ndarray, " observation"]:
        """What each entry is multiplied with where the channels in `signs` are, by −1: a cosine stays as it is."""
        frame = [
            np.full(
                interface.channel(f.channel).width, 1.0 if f.kind == "cos" else signs.get(f.channel, 1.0), np.float32
            )
            for f in self.features
        ]
        sent = [np.full(c.width, signs.get(c.name, 1.0), np.float32) for c in interface.commands]
        return np.concatenate(frame * self.frames + sent * self.commands)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, plain: dict[str, Any]) -> "Observation":
        """The observation that `to_dict` wrote; a ValueError for what it would not have written."""
        features = tuple(Feature(f["channel"], f["kind"]) for f in plain["features"])
        frames, commands = plain["frames"], plain["commands"]
        if not all(isinstance(f.channel, str) and f.kind in get_args(Kind) for f in features):
            raise ValueError(f"its features are not channels with one of {', '.join(get_args(Kind))}")
        if type(frames) is not int or type(commands) is not int or not (1 <= frames <= MOST >= commands >= 0):
            raise ValueError(f"it has {frames!r:.60} frames and {commands!r:.60} commands; at most {MOST} are possible")
        return cls(features, frames, commands)


def _feature(kind: Kind, past: Any, frame: int, period_s: float) -> Float[Array, " width"]:
    match kind:
        case "value":
            return past[frame]
        case "sin":
            return jnp.sin(past[frame])
        case "cos":
            return jnp.cos(past[frame])
        case "rate":
            return (past[frame] - past[frame + 1]) / period_s
        case "angle_rate":
            change = past[frame] - past[frame + 1]
            return jnp.arctan2(jnp.sin(change), jnp.cos(change)) / period_s
