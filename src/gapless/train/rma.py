"""Rapid motor adaptation: a base policy on a latent of the params, then a guess at that latent from what was seen and sent.

Follows Kumar et al. 2021. First, an encoder of the params and a base policy on observation and latent are trained together by
PPO; then the base is left alone, drives its worlds by the guessed latent, and the guess is fitted to the encoded one where that
leads. Departures: the guess is made every period and not at a tenth of the rate, since nothing here is short of time, and a
dense network makes it.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from gapless.core import GaplessError
from gapless.nets.latent import Adapting, Encoded
from gapless.nets.policy import NetworkPolicy, Shape, new_policy
from gapless.nets.seeing import SeeingPolicy

from .batches import Batches, Rule
from .descent import fading, orders
from .experience import Sight
from .imitation import Descending, descending, imitate
from .learning import Method, Place
from .phases import Phases, share_of
from .ppo import Ppo
from .privileged import network_of, told_first


@dataclass(frozen=True)
class Guessing(Method):
    """What ways have in common that train one who is told something, and then guess it from motion."""

    basis: float = 0.5
    """Share of the budget that goes into the one who is told."""
    epochs: int = 2
    """Passes over each batch of guesses."""
    minibatches: int = 8
    """Pieces of each pass."""
    rate: float = 1e-3
    """Learning rate of the guess, which fades over the second half."""

    def __post_init__(self) -> None:
        if self.worlds * self.steps % self.minibatches:
            raise GaplessError(
                f"{self.worlds} worlds × {self.steps} steps do not divide into {self.minibatches} minibatches."
            )


@dataclass(frozen=True)
class Rma(Guessing):
    """Train a base policy on a latent of the params, then guess the latent from motion."""

    word: ClassVar[str] = "rma"

    base: Ppo = field(default_factory=Ppo)
    """How the base learns, in our worlds and steps; the encoder is told all that the belief draws, unless it names some."""

    def takes(self, policy: SeeingPolicy) -> bool:
        return isinstance(policy, NetworkPolicy) and isinstance(policy.network, Adapting)

    def learning(self, place: Place, key: PRNGKeyArray, begin_with: SeeingPolicy | None = None) -> Phases:
        """Always anew: what the latent of another policy meant, only its own encoder knew."""
        keys = jax.random.split(key)
        length, left = share_of(self.budget, self.basis, self.per_iteration)
        first = told_first(replace(self.base, network="encoded"), self, place, length, keys[0])
        second = replace(self, budget=left * self.per_iteration).adapted(place, network_of(first), keys[1])
        return Phases(first, second, length, adapts)

    def adapted(self, place: Place, base: NetworkPolicy, key: PRNGKeyArray) -> Batches:
        """The second phase of a base that is already there; the whole budget is the guess's."""
        if not isinstance(base.network, Encoded):
            raise GaplessError(
                "a base acts on a latent, and this policy has none. Train it with the network 'encoded'."
            )
        shape = Shape((base.network.trunk.width_size, base.network.trunk.depth), "adapting")
        untaught = new_policy(place.simulator.interface, place.task.observe, shape, key)
        rule = RmaRule(self, untaught, base, Guessed(latent_of, adapts))
        return Batches(place, self, rule, rule.new())


class Learner(NamedTuple):
    """The guess, which an update changes, in the policy that uses it; and the base, which none does."""

    policy: NetworkPolicy
    base: NetworkPolicy
    optimizer: Any
    taken: Float[Array, ""]
    """Share of the budget learnt from so far."""


class Guessed(NamedTuple):
    """What is to be guessed of a base, and how a policy that guesses it acts as the base would."""

    latent: Callable[[NetworkPolicy, Float[Array, " seen"]], Float[Array, " latent"]]
    """(base, all that it sees): what should be guessed there, each entry in ±1."""
    adapts: Callable[[Learner, NetworkPolicy], Learner]
    """The same learner on this base."""


class RmaRule(Rule):
    """The base drives by the guessed latent; what it is told there says which latent it should have guessed."""

    def __init__(self, recipe: Guessing, untaught: NetworkPolicy, base: NetworkPolicy, guessed: Guessed) -> None:
        self.recipe, self._untaught, self._base, self._guessed = recipe, untaught, base, guessed
        self._static = eqx.partition((untaught, base), eqx.is_array)[1]

    def new(self) -> Learner:
        """What learning begins with."""
        optimizer = descending(guess_of(self._untaught)).optimizer
        return self._guessed.adapts(Learner(self._untaught, self._base, optimizer, jnp.zeros(())), self._base)

    def policy(self, learner: Learner) -> NetworkPolicy:
        return learner.policy

    def weights(self, learner: Learner) -> Any:
        return eqx.partition((learner.policy, learner.base), eqx.is_array)[0]

    def decide(self, weights: Any, memory: Any, sight: Sight, key: PRNGKeyArray) -> tuple[Any, Any, dict[str, Any]]:
        policy, base = eqx.combine(weights, self._static)
        memory, unit = jax.vmap(policy.think)(memory, sight.observation)
        told = jax.vmap(base.with_told)(sight.observation, sight.params)
        latent = jax.vmap(lambda seen: self._guessed.latent(base, seen))(told)
        return memory, unit, {"rows": memory["hidden"]["rows"], "latent": latent}

    def learn(self, learner: Learner, batch: dict[str, Any], key: PRNGKeyArray) -> tuple[Learner, dict[str, Any]]:
        r = self.recipe
        rows, latent = (batch[k].reshape(-1, *batch[k].shape[2:]) for k in ("rows", "latent"))

        def loss(guess: eqx.nn.MLP, piece: Any) -> Float[Array, ""]:
            return missed(guess, rows[piece], latent[piece])

        now = Descending(guess_of(learner.policy), learner.optimizer)
        pieces = orders(len(rows), r.epochs, r.minibatches, key)
        now, losses = imitate(now, loss, pieces, r.rate * fading(learner.taken))
        policy = eqx.tree_at(guess_of, learner.policy, now.network)
        taken = learner.taken + r.per_iteration / r.budget
        notes = {"reward": batch["reward"].mean(), "missed": losses[-r.minibatches :].mean()}
        return Learner(policy, learner.base, now.optimizer, taken), notes


def adapts(learner: Learner, base: NetworkPolicy) -> Learner:
    """The same on this base: its trunk and its normalisation of what both see, bit by bit."""
    seen = len(learner.policy.shift)

    def shared(p: Any) -> Any:
        return p.network.trunk, p.shift, p.scale

    assert isinstance(base.network, Encoded)
    taken = base.network.trunk, base.shift[:seen], base.scale[:seen]
    return learner._replace(policy=eqx.tree_at(shared, learner.policy, taken), base=base)


def guess_of(policy: NetworkPolicy) -> eqx.nn.MLP:
    """The part of an adapting policy that learns in the second phase."""
    assert isinstance(policy.network, Adapting)
    return policy.network.guess


def latent_of(base: NetworkPolicy, seen: Float[Array, " seen"]) -> Float[Array, " latent"]:
    """What a base makes of the params among what it sees."""
    assert isinstance(base.network, Encoded)
    return base.network.latent(base.normal(seen)[-len(base.told) :])


def missed(
    guess: eqx.nn.MLP, rows: Float[Array, "row past seen"], latent: Float[Array, "row latent"]
) -> Float[Array, ""]:
    """The mean square between guessed and encoded latents."""
    guessed = jax.vmap(lambda r: jnp.tanh(guess(r.reshape(-1))))(rows)
    return ((guessed - latent) ** 2).mean()
