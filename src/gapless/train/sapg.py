"""Split and aggregate policy gradients, for more worlds than one policy's exploration fills.

Follows Singla, Agarwal and Pathak 2024: the worlds are split into blocks, each with a policy of its own, which are one network
told by a learned embedding whose turn it is. The first block's policy is the leader; the others, its followers, explore with
entropy bonuses that grow from one to the next. All learn from their own rows as in PPO; the leader also learns from as many of
the followers' rows, weighted by how likely it was to do the same, with advantages one step long. What is deployed is the
leader as a plain policy, its embedding folded into the first layer's bias. Departures: a weight is ten at most, own
advantages are traced (PPO's lambda) in place of three steps, and others' rows count less than own ones.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray

from gapless.core import GaplessError
from gapless.nets.normaliser import Normaliser, new_normaliser
from gapless.nets.policy import NetworkPolicy, Shape, new_policy
from gapless.nets.seeing import SeeingPolicy

from .advantage import advantages
from .batches import Batches, Rule
from .descent import ADAM, Stride, descend, orders
from .experience import Sight, known_width
from .judged import answers, criticized, eyes_of, normal, noticed, paid
from .learning import HOLD, Learning, Place
from .on_policy import OnPolicy
from .ppo import log_likelihood

LARGEST_WEIGHT = 10.0
LEADER = 0


@dataclass(frozen=True)
class Sapg(OnPolicy):
    """Split and aggregate policy gradients."""

    word: ClassVar[str] = "sapg"

    worlds: int = 1024
    """Worlds stepped side by side."""
    steps: int = 16
    """Control periods per world between two updates."""
    blocks: int = 4
    """Policies, the leader among them, that share the worlds."""
    embedding: int = 8
    """Numbers that tell the network whose turn it is."""
    entropy: float = 0.005
    """Weight of the first follower's entropy bonus; the second has twice as much, and so on, the leader none."""
    aggregate: float = 0.3
    """Weight of what the leader learns from its followers' rows; the paper has 1."""

    def __post_init__(self) -> None:
        if self.blocks < 2 or self.worlds % self.blocks:
            raise GaplessError(f"{self.worlds} worlds do not divide into {self.blocks} blocks; two are the fewest.")
        rows = self.per_iteration + self.per_iteration // self.blocks
        if rows % self.minibatches:
            raise GaplessError(
                f"{rows} rows, a block's worth of them others', do not divide into {self.minibatches} minibatches."
            )

    @property
    def shape(self) -> Shape:
        return Shape(self.hidden, "mlp", self.told)

    def takes(self, policy: SeeingPolicy) -> bool:
        return isinstance(policy, NetworkPolicy) and isinstance(policy.network, eqx.nn.MLP)

    def learning(self, place: Place, key: PRNGKeyArray, begin_with: SeeingPolicy | None = None) -> Learning:
        rule = SapgRule(self, place, self.going_on(begin_with, NetworkPolicy))
        return Batches(place, self, rule, rule.new(key))


class SapgLearner(NamedTuple):
    """Everything that an update changes."""

    network: eqx.nn.MLP
    embeddings: Float[Array, "block embedding"]
    log_noise: Float[Array, "block command"]
    critic: eqx.nn.MLP
    observed: Normaliser
    critic_observed: Normaliser
    optimizer: Any
    rate: Float[Array, ""]
    taken: Float[Array, ""]
    """Share of the budget learnt from so far."""
    hold: Float[Array, ""]
    """Share of the budget in which only the critic learns."""


class SapgRule(Rule):
    """A leader and its followers in one network, and one critic for all."""

    def __init__(self, recipe: Sapg, place: Place, begin_with: NetworkPolicy | None) -> None:
        self.recipe, self.place, self._begin_with = recipe, place, begin_with
        interface, observe = place.simulator.interface, place.task.observe
        self._like = begin_with or new_policy(interface, observe, recipe.shape, jax.random.key(0))
        if not isinstance(self._like.network, eqx.nn.MLP):
            raise GaplessError("the recipe 'sapg' goes on from feed-forward policies only. Begin anew, or use 'ppo'.")
        wide = widened(self._like.network, recipe.embedding, jax.random.key(0))
        self._static = eqx.partition(wide, eqx.is_array)[1]
        self._blocks = np.repeat(np.arange(recipe.blocks), recipe.worlds // recipe.blocks)
        self._bonus = recipe.entropy * np.arange(recipe.blocks, dtype=np.float32)

    def new(self, key: PRNGKeyArray) -> SapgLearner:
        """What learning begins with: a leader that is the policy to go on from, or untrained."""
        keys, r, begin_with = jax.random.split(key, 4), self.recipe, self._begin_with
        interface = self.place.simulator.interface
        policy = begin_with or new_policy(interface, self.place.task.observe, r.shape, keys[0])
        observed = eyes_of(policy, begin_with is not None)
        width = known_width(self.place) if r.asymmetric else len(policy.shift)
        network, critic = (
            widened(policy.network, r.embedding, keys[1]),
            eqx.nn.MLP(width + r.embedding, 1, *r.hidden, activation=jnp.tanh, key=keys[2]),
        )
        embeddings = jax.random.normal(keys[3], (r.blocks, r.embedding)).at[LEADER].set(0.0)
        noise = jnp.full((r.blocks, interface.command_width), np.log(r.noise * (0.5 if begin_with is not None else 1)))
        optimizer = ADAM.init(eqx.filter((network, embeddings, noise, critic), eqx.is_array))
        hold, rate = jnp.asarray(0.0 if begin_with is None else HOLD), jnp.asarray(r.rate)
        moments = observed, new_normaliser(width)
        return SapgLearner(network, embeddings, noise, critic, *moments, optimizer, rate, jnp.zeros(()), hold)

    def policy(self, learner: SapgLearner) -> NetworkPolicy:
        """The leader."""
        network = folded(learner.network, learner.embeddings[LEADER], self._like.network)
        whole = network, learner.observed.shift, learner.observed.scale
        return eqx.tree_at(lambda p: (p.network, p.shift, p.scale), self._like, whole)

    def weights(self, learner: SapgLearner) -> Any:
        return eqx.partition((learner.network, learner.embeddings, learner.log_noise, learner.observed), eqx.is_array)[
            0
        ]

    def decide(self, weights: Any, memory: Any, sight: Sight, key: PRNGKeyArray) -> tuple[Any, Any, dict[str, Any]]:
        arrays, embeddings, log_noise, observed = weights
        seen = jax.vmap(self._like.with_told)(sight.observation, sight.params)
        block = self._blocks[: len(seen)]
        centre = centres(eqx.combine(arrays, self._static), embeddings[block], normal(observed, seen))
        noise = jax.random.normal(key, centre.shape)
        return memory, centre + jnp.exp(log_noise[block]) * noise, {"seen": seen, "noise": noise}

    def learn(
        self, learner: SapgLearner, batch: dict[str, Any], key: PRNGKeyArray
    ) -> tuple[SapgLearner, dict[str, Any]]:
        r, keys = self.recipe, jax.random.split(key)
        known = criticized(batch, r.asymmetric)
        learner = noticed(learner, batch["seen"], known[1])
        own = self._own(learner, batch, known)
        others = self._others(learner, batch, known, own)
        leading = r.worlds // r.blocks
        flat = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), own)
        flat_others = jax.tree.map(lambda x: x[:, leading:].reshape(-1, *x.shape[2:]), others)
        # As many of the followers' rows as the leader has of its own: more would make it learn from others only.
        taken = jax.random.choice(keys[0], len(flat_others["gain"]), (leading * r.steps,), replace=False)
        rows = jax.tree.map(lambda a, b: jnp.concatenate([a, b[taken]]), flat, flat_others)
        rows["gain"] = (rows["gain"] - rows["gain"].mean()) / (rows["gain"].std() + 1e-8)
        learner, kl = self._epochs(learner, rows, keys[1])
        notes = {"reward": batch["reward"].mean(), "kl": kl, "noise": jnp.exp(learner.log_noise[LEADER]).mean()}
        notes["leader"] = batch["reward"][:, :leading].mean()
        return learner._replace(taken=learner.taken + r.per_iteration / r.budget), notes

    def _own(self, learner: SapgLearner, batch: dict[str, Any], known: tuple[Any, Any]) -> dict[str, Any]:
        """Rows by which each policy learns from what it did itself, (step, world)."""
        r, shape = self.recipe, batch["reward"].shape
        block = jnp.broadcast_to(self._blocks, shape)
        value, later = (self._values(learner, k, block) for k in known)
        reward = paid(batch, r, self.place.simulator.interface.period_s)
        gain = advantages(reward, value, later, batch["finished"], batch["cut"], r.discount, r.trace)
        done = -0.5 * (batch["noise"] ** 2).sum(-1) - learner.log_noise[block].sum(-1)
        return {
            "seen": normal(learner.observed, batch["seen"]), "known": normal(learner.critic_observed, known[0]),
            "unit": batch["unit"], "block": block, "doer": done, "before": done, "own": jnp.ones(shape),
            "gain": gain, "target": gain + value,
        }  # fmt: skip

    def _others(
        self, learner: SapgLearner, batch: dict[str, Any], known: tuple[Any, Any], own: dict[str, Any]
    ) -> dict[str, Any]:
        """The same rows as the leader learns from them, where somebody else did it."""
        r, block = self.recipe, jnp.full_like(own["block"], LEADER)
        value, later = (self._values(learner, k, block) for k in known)
        reward = paid(batch, r, self.place.simulator.interface.period_s)
        gain = reward + r.discount * later * (1 - batch["finished"]) - value
        before = self._likelihood((learner.network, learner.embeddings, learner.log_noise), own | {"block": block})
        doer = jnp.maximum(own["doer"], before - np.log(LARGEST_WEIGHT))
        told = {"block": block, "before": before, "doer": doer, "own": jnp.zeros_like(gain)}
        return own | told | {"gain": gain, "target": gain + value}

    def _epochs(self, learner: SapgLearner, rows: dict[str, Any], key: PRNGKeyArray) -> tuple[SapgLearner, Any]:
        r, moving = self.recipe, learner.taken >= learner.hold
        trained = (learner.network, learner.embeddings, learner.log_noise, learner.critic)
        stride = Stride(learner.optimizer, learner.rate, learner.taken, (moving, moving, moving, 1.0))
        pieces = orders(len(rows["gain"]), r.epochs, r.minibatches, key)

        def loss(trained: Any, mine: dict[str, Any]) -> tuple[Any, Any]:
            weight = jnp.where(mine["own"] > 0, 1.0, r.aggregate)
            now = self._likelihood(trained[:3], mine)
            value = _valued(trained[3], trained[1], mine["known"], mine["block"])
            # Others' rows may have been all but impossible before: what was not nearly done says nothing about the change.
            change = jnp.where(mine["own"] > 0, now - mine["before"], 0.0)
            kl = (jnp.exp(change) - 1 - change).sum() / jnp.maximum(mine["own"].sum(), 1.0)
            gained = aggregated(now, mine["before"], mine["doer"], mine["gain"], r.clip)
            losses = weight * (0.5 * (value - mine["target"]) ** 2 - gained)
            return losses.mean() - (self._bonus @ trained[2].sum(-1)) / r.blocks, kl

        (network, embeddings, noise, critic), paced, kl = descend(r, loss, trained, stride, rows, pieces)
        return learner._replace(network=network, embeddings=embeddings, log_noise=noise, critic=critic, **paced), kl

    def _likelihood(self, actor: tuple[Any, Any, Any], rows: dict[str, Any]) -> Float[Array, "*row"]:
        network, embeddings, log_noise = actor
        centre = centres(network, embeddings[rows["block"]], rows["seen"])
        return log_likelihood(rows["unit"], centre, log_noise[rows["block"]])

    def _values(self, learner: SapgLearner, known: Any, block: Any) -> Float[Array, "*row"]:
        return _valued(learner.critic, learner.embeddings, normal(learner.critic_observed, known), block)


def aggregated(
    now: Float[Array, "*row"], before: Float[Array, "*row"], doer: Float[Array, "*row"],
    gain: Float[Array, "*row"], clip: float,
) -> Float[Array, "*row"]:  # fmt: skip
    """The clipped objective of each row, from log-likelihoods: of the learning policy now and before, and of whoever did it.
    The trust region lies about the weight that the row had before; where one learns from one's own rows, that is 1 and PPO."""
    ratio, weight = jnp.exp(now - doer), jnp.exp(before - doer)
    kept = jnp.clip(ratio, weight * (1 - clip), weight * (1 + clip))
    return jnp.minimum(ratio * gain, kept * gain)


def centres(
    network: eqx.nn.MLP, embedding: Float[Array, "*row embedding"], seen: Float[Array, "*row seen"]
) -> Float[Array, "*row command"]:
    """Commands without exploration of policies that are told apart by their embeddings."""
    return jnp.tanh(answers(network, jnp.concatenate([jnp.clip(seen, -10, 10), embedding], -1)))


def widened(network: Any, extra: int, key: PRNGKeyArray) -> eqx.nn.MLP:
    """A network that answers as this one does where `extra` further inputs are zero."""
    first = network.layers[0]
    wide = eqx.nn.MLP(
        network.in_size + extra, network.out_size, network.width_size, network.depth, activation=jnp.tanh, key=key
    )
    weight = jnp.concatenate([first.weight, wide.layers[0].weight[:, network.in_size :]], axis=1)
    return eqx.tree_at(_arrays, wide, [weight, *_arrays(network)[1:]])


def folded(network: eqx.nn.MLP, last: Float[Array, " extra"], like: Any) -> eqx.nn.MLP:
    """A network without the last inputs, shaped like `like`, that answers as this one does where they are `last`."""
    weight, bias, *rest = _arrays(network)
    seen = weight.shape[1] - len(last)
    return eqx.tree_at(_arrays, like, [weight[:, :seen], bias + weight[:, seen:] @ last, *rest])


def _arrays(network: Any) -> list[Any]:
    return [array for layer in network.layers for array in (layer.weight, layer.bias)]


def _valued(
    critic: eqx.nn.MLP, embeddings: Any, known: Float[Array, "*row known"], block: Int[Array, "*row"]
) -> Float[Array, "*row"]:
    return answers(critic, jnp.concatenate([jnp.clip(known, -10, 10), embeddings[block]], -1))[..., 0]
