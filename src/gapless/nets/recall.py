"""Networks with memory, gated cells or attention over the last inputs: what is remembered and seen → memory and answer."""

from abc import abstractmethod
from typing import Any, ClassVar, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PRNGKeyArray

Kind = Literal["mlp", "gru", "lstm", "attention", "encoded", "adapting"]
"""Feed-forward, gated cells, attention over the last inputs; and on a latent, which is encoded or guessed (latent.py)."""
HEADS, LAST = 4, 16
"""Heads of an attention layer, and inputs that it looks back on."""


class Recall(eqx.Module):
    """A network that remembers: `blank` is its memory before the first input."""

    kind: ClassVar[Kind]

    @abstractmethod
    def blank(self) -> Any:
        """The memory of somebody who has seen nothing."""

    @abstractmethod
    def __call__(self, memory: Any, x: Float[Array, " seen"]) -> tuple[Any, Float[Array, " answer"]]:
        """The memory after this input, and the answer to it."""


class Gru(Recall):
    """A gated recurrent unit (Cho et al. 2014) behind one dense layer."""

    kind: ClassVar[Kind] = "gru"
    into: eqx.nn.Linear
    cell: eqx.nn.GRUCell
    out: eqx.nn.Linear

    def blank(self) -> Float[Array, " width"]:
        return jnp.zeros(self.cell.hidden_size)

    def __call__(self, memory: Any, x: Float[Array, " seen"]) -> tuple[Any, Float[Array, " answer"]]:
        memory = self.cell(jnp.tanh(self.into(x)), memory)
        return memory, self.out(memory)


class Lstm(Recall):
    """Long short-term memory (Hochreiter and Schmidhuber 1997) behind one dense layer."""

    kind: ClassVar[Kind] = "lstm"
    into: eqx.nn.Linear
    cell: eqx.nn.LSTMCell
    out: eqx.nn.Linear

    def blank(self) -> tuple[Float[Array, " width"], Float[Array, " width"]]:
        return jnp.zeros(self.cell.hidden_size), jnp.zeros(self.cell.hidden_size)

    def __call__(self, memory: Any, x: Float[Array, " seen"]) -> tuple[Any, Float[Array, " answer"]]:
        memory = self.cell(jnp.tanh(self.into(x)), memory)
        return memory, self.out(memory[0])


class Layer(eqx.Module):
    """One layer of a transformer, normalised before each of its halves (Xiong et al. 2020)."""

    attention: eqx.nn.MultiheadAttention
    dense: eqx.nn.MLP
    before: eqx.nn.LayerNorm
    between: eqx.nn.LayerNorm

    def __call__(self, rows: Float[Array, "past width"], known: Bool[Array, " past"]) -> Float[Array, "past width"]:
        calm = jax.vmap(self.before)(rows)
        seen = jnp.broadcast_to(known, (len(rows), len(rows)))
        rows = rows + self.attention(calm, calm, calm, mask=seen)
        return rows + jax.vmap(self.dense)(jax.vmap(self.between)(rows))


class Attention(Recall):
    """A short transformer over the last inputs, newest first, each with a learned mark of its age. It remembers inputs and
    nothing else, so that what it knows never outlasts them."""

    kind: ClassVar[Kind] = "attention"
    into: eqx.nn.Linear
    ages: Float[Array, "past width"]
    layers: tuple[Layer, ...]
    out: eqx.nn.Linear

    def blank(self) -> dict[str, Array]:
        last = len(self.ages)
        return {"inputs": jnp.zeros((last, int(self.into.in_features))), "known": jnp.zeros(last, bool)}

    def __call__(self, memory: Any, x: Float[Array, " seen"]) -> tuple[Any, Float[Array, " answer"]]:
        inputs = jnp.concatenate([x[None], memory["inputs"][:-1]])
        known = jnp.concatenate([jnp.ones(1, bool), memory["known"][:-1]])
        rows = jax.vmap(self.into)(inputs) + self.ages
        for layer in self.layers:
            rows = layer(rows, known)
        return {"inputs": inputs, "known": known}, self.out(jnp.tanh(rows[0]))


Network = eqx.nn.MLP | Recall


def new_network(kind: Kind, sizes: tuple[int, int], hidden: tuple[int, int], key: PRNGKeyArray) -> Network:
    """An untrained network from `sizes[0]` inputs to `sizes[1]` outputs; `hidden` is its width and depth (of gated cells: 1)."""
    keys = jax.random.split(key, 5)
    (seen, answer), (width, depth) = sizes, hidden
    if kind == "mlp":
        return eqx.nn.MLP(seen, answer, width, depth, activation=jnp.tanh, key=key)
    into, out = eqx.nn.Linear(seen, width, key=keys[0]), eqx.nn.Linear(width, answer, key=keys[1])
    match kind:
        case "gru":
            return Gru(into=into, cell=eqx.nn.GRUCell(width, width, key=keys[2]), out=out)
        case "lstm":
            return Lstm(into=into, cell=eqx.nn.LSTMCell(width, width, key=keys[2]), out=out)
        case "attention":
            layers = tuple(_layer(width, k) for k in jax.random.split(keys[2], depth))
            ages = 0.1 * jax.random.normal(keys[3], (LAST, width))
            return Attention(into=into, ages=ages, layers=layers, out=out)
        case _:
            raise ValueError(f"a network of the kind {kind!r} is not made here")


def _layer(width: int, key: PRNGKeyArray) -> Layer:
    keys = jax.random.split(key)
    heads = next(h for h in range(min(HEADS, width), 0, -1) if width % h == 0)
    return Layer(
        eqx.nn.MultiheadAttention(heads, width, key=keys[0]),
        eqx.nn.MLP(width, width, 2 * width, 1, key=keys[1]),
        eqx.nn.LayerNorm(width),
        eqx.nn.LayerNorm(width),
    )


def faint(network: Any, share: float = 0.01) -> Any:
    """The same network with answers that begin near zero."""

    def last(n: Any) -> Any:
        layer = n.layers[-1] if isinstance(n, eqx.nn.MLP) else n.out
        return layer.weight, layer.bias

    return eqx.tree_at(last, network, replace_fn=lambda w: share * w)


def kind_of(network: Any) -> Kind:
    """Which kind of network this is."""
    return getattr(network, "kind", "mlp")


def blank(network: Any) -> Any:
    """What a network remembers before its first input; a feed-forward one remembers nothing."""
    return network.blank() if isinstance(network, Recall) else ()


def advance(network: Any, memory: Any, x: Float[Array, " seen"]) -> tuple[Any, Float[Array, " answer"]]:
    """What it remembers after an input, and its answer."""
    return network(memory, x) if isinstance(network, Recall) else (memory, network(x))


def unrolled(
    network: Network, memory: Any, rows: Float[Array, "step world seen"], fresh: Bool[Array, "step world"]
) -> Float[Array, "step world answer"]:
    """Answers to sequences side by side; `memory` is what each remembers before its first row, `fresh` where it has nothing."""
    nothing = blank(network)

    def one(memory: Any, row: Any) -> Any:
        x, new = row
        held = jax.tree.map(lambda a, b: jnp.where(new, a, b), nothing, memory)
        return advance(network, held, x)

    def step(memory: Any, row: Any) -> Any:
        return jax.vmap(one)(memory, row)

    return jax.lax.scan(step, memory, (rows, fresh))[1]
