"""All parameters of the physics, written into worlds of a batch in the order that they need."""

from collections.abc import Iterable

import mujoco
import numpy as np
from jaxtyping import Int
from mujoco.batch import Batch

from .binding import bind
from .bodies import take_bodies


class BoundParams:
    """Where each named parameter of a model is written."""

    def __init__(self, model: mujoco.MjModel, names: Iterable[str]) -> None:
        self._bindings = {name: bind(model, name) for name in names}
        self._bodies = take_bodies(model, self._bindings)

    def write(
        self, batch: Batch, worlds: Int[np.ndarray, " some"], names: Iterable[str], params: dict[str, np.ndarray]
    ) -> None:
        """Put the named ones into the given worlds, from the parameters of all worlds."""
        names, constants = list(names), False
        # An armature that is a parameter itself comes last: it is what it says, whatever damping it would have held.
        for name in sorted(names, key=lambda name: name.endswith(".armature")):
            binding = self._bindings.get(name)
            if binding is not None:
                binding.write(batch, worlds, params[name][worlds])
                constants |= binding.constants
        for body in self._bodies:
            if not body.names.isdisjoint(names):
                body.write(batch, worlds, params)
                constants = True
        if constants:
            batch.set_const(worlds)
