"""The laws of policies: commands in their place and limits, a memory of constant shape, no chance but the key's."""

from collections.abc import Iterator
from typing import Any

import jax
import numpy as np

from ..block import Block
from ..interface import Interface
from ..signals import Signals
from .laws import findings, misshapen, outside, unequal


def check_policy(policy: Block, interface: Interface) -> list[str]:
    """What the policy does against its contract on a machine with this interface; empty where it conforms."""
    return findings((_commands_within_limits, _keeps_memory, _decides_alike), policy, interface)


def _commands_within_limits(policy: Block, interface: Interface) -> Iterator[str]:
    """Commands are those of the interface, finite and within the limits, whatever was measured."""
    memory = policy.init(jax.random.key(0))
    for size in (0.0, 1.0, 1e3):
        memory, command = _decide(policy, memory, interface, size)
        yield from misshapen(command, interface.commands)
        yield from outside(command, interface.commands)


def _keeps_memory(policy: Block, interface: Interface) -> Iterator[str]:
    """The memory keeps its structure, shapes and kinds of numbers."""
    before = policy.init(jax.random.key(0))
    after, _ = _decide(policy, before, interface, 1.0)
    kinds = [
        jax.tree.map(lambda x: f"{getattr(x, 'dtype', type(x))}{np.shape(x)}", memory) for memory in (before, after)
    ]
    if kinds[0] != kinds[1]:
        yield f"{kinds[0]} became {kinds[1]}"


def _decides_alike(policy: Block, interface: Interface) -> Iterator[str]:
    """The same memory, measurement and key give the same command."""
    memory = policy.init(jax.random.key(0))
    one, other = ([_decide(policy, memory, interface, 1.0)[1]] for _ in range(2))
    yield from unequal("two decisions", one, other)


def _decide(policy: Block, memory: Any, interface: Interface, size: float) -> tuple[Any, Signals]:
    rng = np.random.default_rng(0)
    seen: Signals = {c.name: rng.normal(0, size, c.width).astype(np.float32) for c in interface.measurements}
    return policy.step({}, memory, seen, interface.period_s, jax.random.key(1))
