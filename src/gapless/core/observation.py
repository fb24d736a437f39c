"""What a policy sees: features of the last measurements and commands, written as data so that they can be exported."""

from dataclasses import asdict, dataclass
from typing import Any, Literal

import jax.numpy as jnp
from jaxtyping import Array, Float

from .interface import Interface
from .signals import Signals

Kind = Literal["value", "sin", "cos", "rate", "angle_rate"]


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

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, plain: dict[str, Any]) -> "Observation":
        features = tuple(Feature(f["channel"], f["kind"]) for f in plain["features"])
        return cls(features, int(plain["frames"]), int(plain["commands"]))


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
