"""Anything with memory that maps signals to signals: actuators, delays, sensors, residual forces, policies, planners."""

from abc import abstractmethod
from typing import Any

import equinox as eqx
import jax
from jaxtyping import PRNGKeyArray

from .signals import Params, Signals

Memory = Any


class Block(eqx.Module):
    """One world at a time; drivers map it over worlds. Params reach blocks as they reach physics."""

    @property
    def recalls(self) -> int:
        """Control periods before the first step of which it wants to hear the commands, where somebody knows them."""
        return 0

    def notes(self, memory: Memory) -> dict[str, Any]:
        """What the log of an episode should say of it, given the memory at its end: plain values.

        `stopped` is why it went wrong, and `trusted` how many of the first rows anybody may learn from.
        """
        return {}

    @abstractmethod
    def init(self, key: PRNGKeyArray) -> Memory:
        """The memory before the first step."""

    @abstractmethod
    def step(
        self, params: Params, memory: Memory, inputs: Signals, dt_s: float, key: PRNGKeyArray
    ) -> tuple[Memory, Signals]:
        """The memory and the outputs one step of `dt_s` later."""


class Chain(Block):
    """Blocks one after the other: each sees its inputs and everything the ones before it put out."""

    blocks: tuple[Block, ...]

    def init(self, key: PRNGKeyArray) -> Memory:
        keys = jax.random.split(key, max(len(self.blocks), 1))
        return tuple(block.init(k) for block, k in zip(self.blocks, keys, strict=False))

    def step(
        self, params: Params, memory: Memory, inputs: Signals, dt_s: float, key: PRNGKeyArray
    ) -> tuple[Memory, Signals]:
        keys = jax.random.split(key, max(len(self.blocks), 1))
        after, signals = [], dict(inputs)
        for block, held, k in zip(self.blocks, memory, keys, strict=False):
            held, outputs = block.step(params, held, signals, dt_s, k)
            after.append(held)
            signals |= outputs
        return tuple(after), signals
