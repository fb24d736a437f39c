"""Blocks compose: each sees what the ones before it put out, and keeps a memory of its own."""

from typing import Any

import jax
import jax.numpy as jnp

from gapless.core import Block, Chain, Params, Signals


class Sum(Block):
    """Adds up a channel under another name, times a parameter."""

    source: str
    target: str

    def init(self, key: Any) -> Any:
        return jnp.zeros(())

    def step(self, params: Params, memory: Any, inputs: Signals, dt_s: float, key: Any) -> Any:
        memory = memory + params["weight"] * inputs[self.source]
        return memory, {self.target: memory}


def test_a_chain_hands_outputs_on_and_keeps_memories_apart() -> None:
    chain = Chain((Sum("x", "y"), Sum("y", "z")))
    memory, params = chain.init(jax.random.key(0)), {"weight": jnp.asarray(2.0)}
    for _ in range(2):
        memory, out = chain.step(params, memory, {"x": jnp.asarray(1.0)}, 0.1, jax.random.key(1))
    # y: 2, 4; z: 2·2, 4 + 2·4.
    assert {k: float(v) for k, v in out.items()} == {"x": 1.0, "y": 4.0, "z": 12.0}


def test_an_empty_chain_passes_everything_on() -> None:
    chain = Chain(())
    _, out = chain.step({}, chain.init(jax.random.key(0)), {"x": jnp.asarray(1.0)}, 0.1, jax.random.key(1))
    assert list(out) == ["x"]
