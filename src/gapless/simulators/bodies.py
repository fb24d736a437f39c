"""Bodies whose whole inertia is in doubt: all that is said of one is written together, the ten deviations last."""

from collections.abc import Iterable
from dataclasses import dataclass

import mujoco
import numpy as np
from jaxtyping import Int
from mujoco.batch import Batch

from gapless.core import GaplessError, Parameter

from .binding import Binding, index_of
from .log_cholesky import DEVIATIONS, FIELDS, deformed, read_inertia, write_inertia

TWICE = {
    "mass": ("alpha",),
    "inertia": ("d1", "d2", "d3"),
    "com": ("t1", "t2", "t3"),
    "com_x": ("t1",),
    "com_y": ("t2",),
    "com_z": ("t3",),
}
"""Quantity of a body → the deviations that say the same."""


@dataclass(frozen=True)
class Body:
    """One body, what its parameters make of it, and how it deviates from that."""

    index: int
    nominal: mujoco.MjModel
    before: dict[str, Binding]
    """Its mass, its centre and the scale of its inertia, where they are parameters."""
    deviations: dict[str, int]
    """Parameter → place among DEVIATIONS."""

    @property
    def names(self) -> set[str]:
        return {*self.before, *self.deviations}

    def write(self, batch: Batch, worlds: Int[np.ndarray, " some"], params: dict[str, np.ndarray]) -> None:
        """Put the body into the given worlds, from the parameters of all worlds."""
        for field in FIELDS:
            batch.expand(field)[worlds, self.index] = getattr(self.nominal, field)[self.index]
        for name, binding in self.before.items():
            binding.write(batch, worlds, params[name][worlds])
        by = np.zeros((len(worlds), len(DEVIATIONS)))
        for name, place in self.deviations.items():
            by[:, place] = params[name][worlds]
        moved = by.any(axis=1)  # the others are the body itself, to the last bit
        if moved.any():
            whole = read_inertia(batch, worlds[moved], self.index)
            write_inertia(batch, worlds[moved], self.index, deformed(whole, by[moved]))


def take_bodies(model: mujoco.MjModel, bindings: dict[str, Binding]) -> list[Body]:
    """Bodies with deviations among the parameters; their bindings are taken out of the others."""
    things = {name.rpartition(".")[0] for name in bindings if name.rpartition(".")[2] in DEVIATIONS}
    found = []
    for thing in sorted(things):
        deviations = {n: k for k, d in enumerate(DEVIATIONS) if (n := f"{thing}.{d}") in bindings}
        before = {n: bindings[n] for q in TWICE if (n := f"{thing}.{q}") in bindings}
        found.append(Body(index_of(model, mujoco.mjtObj.mjOBJ_BODY, thing), model, before, deviations))
    for name in (name for body in found for name in body.names):
        del bindings[name]
    return found


def refuse_doubles(parameters: Iterable[Parameter]) -> None:
    """Two free parameters that say the same of one body could drift apart for ever."""
    free = {p.name for p in parameters if p.free}
    for name in sorted(free):
        thing, _, quantity = name.rpartition(".")
        for other in (f"{thing}.{d}" for d in TWICE.get(quantity, ())):
            if other in free:
                raise GaplessError(
                    f"parameters {name!r} and {other!r} are both free and say the same of one body. "
                    "Set free = false for one of them in params.toml."
                )
