"""The frame of a twin: hidden physics drawn by seed, with tiers of effects that no simulator here was told about."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Literal

import numpy as np
from jaxtyping import PRNGKeyArray

from gapless.core import GaplessError, Interface, Signals, generator_for

Tier = Literal["A", "B", "C"]
Hidden = dict[str, Any]
State = Any


class Reality(ABC):
    """Pure functions of one world in JAX. Only the twin's own process and the judge may hold one."""

    interface: ClassVar[Interface]
    joints: ClassVar[tuple[str, ...]]
    """Everything that moves, by the names that the nominal model has for it."""
    tick_s: ClassVar[float]
    """Time step of the hidden physics."""
    named: ClassVar[tuple[str, ...]]
    """Tier B: effects that our models name, written with other equations."""
    unnamed: ClassVar[tuple[str, ...]]
    """Tier C: effects for which no model here has a parameter."""

    def __init__(self, seed: int, tier: Tier = "A", effects: tuple[str, ...] = ()) -> None:
        unknown = sorted(set(effects) - set(self.named) - set(self.unnamed))
        if unknown:
            known = ", ".join(self.named + self.unnamed)
            raise GaplessError(f"{self.interface.robot!r} has no effect {unknown[0]!r} (it has: {known}).")
        if tier not in ("A", "B", "C"):
            raise GaplessError(f"there is no tier {tier!r}; choose A, B or C.")
        rng = generator_for(seed, "hidden", self.interface.robot)
        self.seed = seed
        self.hidden = self.draw(rng)
        drawn = tuple(rng.permutation(self.unnamed)[:2])  # always drawn, so that tiers share the rest
        self.effects = frozenset(effects) | frozenset(
            {"A": (), "B": self.named, "C": self.named + drawn}[tier] if not effects else ()
        )

    @abstractmethod
    def draw(self, rng: np.random.Generator) -> Hidden:
        """The hidden numbers, for all effects whether active or not."""

    @abstractmethod
    def start(self, hidden: Hidden, key: PRNGKeyArray) -> State:
        """Where an episode begins."""

    def undisturbed(self, state: State) -> State:
        """The start of the same episode, in which nobody changes anything around the robot."""
        return state

    @abstractmethod
    def place(self, state: State, start: Signals) -> State:
        """The state with some joints elsewhere: `<joint>.position` and `<joint>.velocity`, as tasks name starts."""

    @abstractmethod
    def joint_states(self, state: State) -> Signals:
        """Where all joints really are and how fast they move."""

    @abstractmethod
    def send(self, hidden: Hidden, state: State, command: Signals, key: PRNGKeyArray) -> State:
        """A command leaves the host now."""

    @abstractmethod
    def tick(self, hidden: Hidden, state: State) -> State:
        """`tick_s` later."""

    @abstractmethod
    def measure(self, hidden: Hidden, state: State, key: PRNGKeyArray) -> Signals:
        """What the sensors answer now."""
