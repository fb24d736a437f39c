"""A table seen from above with a robot on it: joints, bodies and channels, and what of them is in doubt."""

from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from gapless.core import GaplessError, Interface, Parameter, Params, Signals, complete

from . import matter
from .scene import Motion, Scene

SUBSTEPS = 3
"""Steps in a control period."""


@dataclass(frozen=True, eq=False)
class Tabletop:
    """Joints and places of bodies depend on each other linearly; all are measured from home."""

    interface: Interface
    parameters: tuple[Parameter, ...]
    scene: Scene
    home: Float[np.ndarray, "body 3"]
    """Place and angle of each body where all joints are zero."""
    axes: Float[np.ndarray, "joint body 3"]
    """How a joint moves the bodies; those that are commanded come first. No two joints move anything the same way."""
    range_m: Float[np.ndarray, "command 2"]
    """How far the commanded joints go."""
    parts: dict[str, int]
    """Where each thing stands in the scene."""

    @property
    def joints(self) -> tuple[str, ...]:
        return self.interface.joints

    @property
    def step_s(self) -> float:
        return self.interface.period_s / SUBSTEPS

    def motion(self, start: Signals, worlds: int) -> Motion:
        """Where everything begins, with a leading world axis."""
        strange = [name for name in start if name.rpartition(".")[0] not in self.joints]
        if strange:
            raise GaplessError(f"a start names {strange[0]!r}; the joints are {', '.join(self.joints)}.")
        place, speed = (self._moved(start, side, worlds) for side in ("position", "velocity"))
        place = place + self.home.astype(np.float32)
        return Motion(place[..., :2], place[..., 2], speed[..., :2], speed[..., 2])

    def read(self, motion: Motion) -> tuple[Any, Any]:
        """Positions and velocities of all joints, joints last."""
        place, speed = _rows(motion.position, motion.angle), _rows(motion.velocity, motion.spin)
        return _flat(place - self.home.astype(np.float32)) @ self._reader, _flat(speed) @ self._reader

    def commanded(self, motion: Motion, speeds: Float[Array, "*world command"]) -> Any:
        """Velocities of all bodies for one step at these speeds of the driven joints, which stop at the ends of their range."""
        driven = len(self.range_m)
        low, high = self.range_m.T.astype(np.float32)
        position = self.read(motion)[0][..., :driven]
        kept = speeds.clip((low - position) / self.step_s, (high - position) / self.step_s)
        moves = _flat(self.axes[:driven]).astype(np.float32)
        return (kept @ moves).reshape(*speeds.shape[:-1], *self.home.shape)

    def embeddings(self, params: Params) -> Float[Array, "world part embedding"]:
        """What every part is made of in every world."""
        worlds = len(next(iter(params.values())))
        z = jnp.broadcast_to(jnp.asarray(self.scene.z), (worlds, *self.scene.z.shape))
        for thing, part in self.parts.items():
            for k, name in enumerate(matter.NAMED):
                if f"{thing}.{name}" in params:
                    value = jnp.asarray(params[f"{thing}.{name}"], jnp.float32)
                    z = z.at[:, part, k].set(matter.coordinate(name, value))
        return z

    def complete(self, given: Params, worlds: int) -> Params:
        """All parameters; those that are not given are nominal."""
        self.check(given)
        return {k: jnp.asarray(v, jnp.float32) for k, v in complete(given, self.parameters, worlds).items()}

    def check(self, given: Params) -> None:
        unknown = sorted(set(given) - {p.name for p in self.parameters})
        if unknown:
            known = ", ".join(p.name for p in self.parameters)
            raise GaplessError(f"the table has no parameter {unknown[0]!r} (it has: {known}).")

    @property
    def _reader(self) -> Float[np.ndarray, "place joint"]:
        flat = _flat(self.axes)
        return (flat / (flat**2).sum(1, keepdims=True)).T.astype(np.float32)

    def _moved(self, start: Signals, side: str, worlds: int) -> Float[Array, "world body 3"]:
        given = [
            jnp.broadcast_to(jnp.asarray(start.get(f"{j}.{side}", 0.0), jnp.float32), (worlds, 1)) for j in self.joints
        ]
        return jnp.tensordot(jnp.concatenate(given, 1), self.axes.astype(np.float32), 1)


def _rows(straight: Any, turn: Any) -> Any:
    """Both coordinates and the angle of each body, side by side."""
    library = np if isinstance(straight, np.ndarray) else jnp
    return library.concatenate([straight, turn[..., None]], -1)


def _flat(places: Any) -> Any:
    return places.reshape(*places.shape[:-2], -1)
