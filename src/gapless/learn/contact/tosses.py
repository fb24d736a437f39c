"""Recorded throws side by side: padded to one length, so that all of them are simulated at once."""

from collections.abc import Sequence
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from gapless.core import GaplessError, Log
from gapless.simulators.rigid.play import Seen, Start

CHANNELS = {"position": 3, "quaternion": 4, "velocity": 3, "angular_velocity": 3}


class Tosses(NamedTuple):
    """One row per throw; after its end a throw stays as it was last seen."""

    position: Float[Array, "toss time 3"]
    quaternion: Float[Array, "toss time 4"]
    velocity: Float[Array, "toss 3"]
    """At the first sample, m/s."""
    spin: Float[Array, "toss 3"]
    """At the first sample, in the body's frame, rad/s."""
    length: Int[Array, " toss"]
    """Samples of each."""

    @property
    def start(self) -> Start:
        """All that a forecast may see."""
        return Start(self.position[:, 0].T, self.quaternion[:, 0].T, self.velocity.T, self.spin.T)

    @property
    def seen(self) -> Seen:
        """What happened."""
        return Seen(jnp.moveaxis(self.position, 0, -1), jnp.moveaxis(self.quaternion, 0, -1))

    @property
    def samples(self) -> int:
        return self.position.shape[1]

    def some(self, rows: Int[np.ndarray, " row"]) -> "Tosses":
        """These throws alone."""
        return Tosses(*(jnp.asarray(x)[rows] for x in tuple(self)))

    def first(self, samples: int) -> "Tosses":
        """Cut short."""
        kept = (self.position[:, :samples], self.quaternion[:, :samples])
        return Tosses(*kept, self.velocity, self.spin, jnp.minimum(self.length, samples))


def from_logs(logs: Sequence[Log]) -> Tosses:
    """The throws of logs that have the four channels of a tracked body."""
    if not logs:
        raise GaplessError("there are no throws to learn from. Name a recording that has some.")
    for log in logs:
        _check(log)
    lengths = np.array([len(log.measurements["position"]) for log in logs])

    def padded(name: str) -> Array:
        rows = [log.measurements[name] for log in logs]
        return jnp.asarray(
            np.stack([np.pad(r, ((0, lengths.max() - len(r)), (0, 0)), mode="edge") for r in rows]), jnp.float32
        )

    velocity, spin = (padded(name)[:, 0] for name in ("velocity", "angular_velocity"))
    return Tosses(padded("position"), padded("quaternion"), velocity, spin, jnp.asarray(lengths))


def _check(log: Log) -> None:
    for name, width in CHANNELS.items():
        if name not in log.measurements or log.measurements[name].shape[1] != width:
            raise GaplessError(
                f"a throw needs a channel {name!r} of width {width} (the log has: {', '.join(log.measurements)}). "
                "Record it or map it."
            )
        if not len(log.measurements[name]) or not np.isfinite(log.measurements[name]).all():
            raise GaplessError(f"channel {name!r} of a throw is empty or not finite. Leave that throw out.")
