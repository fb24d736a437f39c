"""Flow matching policy gradients: PPO for policies that draw commands by a flow, whose likelihood nobody knows.

`Fpo` follows McAllister et al. 2025: the likelihood ratio is replaced by exp(loss before − loss now), where the loss is that of
conditional flow matching towards the command that was sent, at noises and times drawn once per batch and kept for all epochs.
`FpoPlusPlus` follows Yi et al. 2026: each noise and time has a ratio of its own, and the trust region is asymmetric; commands
that did better than expected are clipped as in PPO, those that did worse are held by a parabola (Xie et al. 2024), whose pull
back does not vanish outside. Departures: losses are in units of twice the noise's variance, so that a field that merely shifts
the noise has exactly a Gaussian's ratio; they are matched to the command as it was cut off at its limits; the losses before
are those of the network before the first epoch under this batch's normalisation; the learning rate follows the same estimate
of the KL divergence as PPO's.
"""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from gapless.nets.flow_policy import FlowPolicy, FlowShape, new_flow, velocity
from gapless.nets.normaliser import Normaliser, new_normaliser
from gapless.nets.seeing import SeeingPolicy

from .advantage import advantages
from .batches import Batches, Criticized
from .descent import ADAM, Stride, descend, orders
from .experience import Sight, known_width
from .judged import answers, criticized, eyes_of, normal, noticed, paid
from .learning import HOLD, Learning, Place
from .on_policy import OnPolicy
from .ppo import clipped

LARGEST_CHANGE = 3.0
"""Of a loss, beyond which its ratio no longer follows: an exponential of more would outweigh all other rows."""


@dataclass(frozen=True)
class FlowMethod(OnPolicy):
    """What both ways have in common."""

    flow_steps: int = 8
    """Euler steps from noise to a command."""
    samples: int = 8
    """Noises and times at which each command's loss is measured."""
    sampled: bool = True
    """Whether the trained policy draws its commands; else it begins at zero noise, and is one command for each observation."""

    @property
    def shape(self) -> FlowShape:
        return FlowShape(self.hidden, self.flow_steps, self.noise, self.sampled, self.told)

    @abstractmethod
    def objective(
        self, change: Float[Array, "row sample"], gain: Float[Array, " row"]
    ) -> tuple[Float[Array, ""], Float[Array, ""]]:
        """The loss and the KL divergence, from how much smaller each flow-matching loss is than before."""

    def takes(self, policy: SeeingPolicy) -> bool:
        return isinstance(policy, FlowPolicy)

    def learning(self, place: Place, key: PRNGKeyArray, begin_with: SeeingPolicy | None = None) -> Learning:
        rule = FlowRule(self, place, self.going_on(begin_with, FlowPolicy))
        return Batches(place, self, rule, rule.new(key))


@dataclass(frozen=True)
class Fpo(FlowMethod):
    """Flow policy optimization: one ratio for each command."""

    word: ClassVar[str] = "fpo"

    clip: float = 0.05
    """How far a ratio may pay: not far, as nothing holds commands that lost."""

    def objective(
        self, change: Float[Array, "row sample"], gain: Float[Array, " row"]
    ) -> tuple[Float[Array, ""], Float[Array, ""]]:
        mean = jnp.clip(change.mean(-1), -LARGEST_CHANGE, LARGEST_CHANGE)
        return clipped(mean, jnp.zeros_like(mean), gain, self.clip)


@dataclass(frozen=True)
class FpoPlusPlus(FlowMethod):
    """Flow policy optimization with a ratio for each noise and time, and an asymmetric trust region."""

    word: ClassVar[str] = "fpo++"

    clip: float = 0.2
    """How far a ratio may pay."""

    def objective(
        self, change: Float[Array, "row sample"], gain: Float[Array, " row"]
    ) -> tuple[Float[Array, ""], Float[Array, ""]]:
        return asymmetric(jnp.clip(change, -LARGEST_CHANGE, LARGEST_CHANGE), gain[:, None], self.clip)


class FlowLearner(NamedTuple):
    """Everything that an update changes."""

    policy: FlowPolicy
    critic: eqx.nn.MLP
    observed: Normaliser
    critic_observed: Normaliser
    optimizer: Any
    rate: Float[Array, ""]
    taken: Float[Array, ""]
    """Share of the budget learnt from so far."""
    hold: Float[Array, ""]
    """Share of the budget in which only the critic learns."""


class FlowRule(Criticized):
    """Updates of a flow policy by ratios of its flow-matching losses, and of a critic."""

    beside = ("critic", "critic_observed", "optimizer")

    def __init__(self, recipe: FlowMethod, place: Place, begin_with: FlowPolicy | None) -> None:
        self.recipe, self.place, self._begin_with = recipe, place, begin_with
        like = begin_with or self._untrained(jax.random.key(0))
        self._static = eqx.partition(like, eqx.is_array)[1]

    def _untrained(self, key: PRNGKeyArray) -> FlowPolicy:
        return new_flow(self.place.simulator.interface, self.place.task.observe, self.recipe.shape, key)

    def new(self, key: PRNGKeyArray, told: int | None = None) -> FlowLearner:
        keys, r, begin_with = jax.random.split(key), self.recipe, self._begin_with
        policy = begin_with or self._untrained(keys[0])
        observed = eyes_of(policy, begin_with is not None)
        width = (told or known_width(self.place)) if r.asymmetric else len(policy.shift)
        critic = eqx.nn.MLP(width, 1, *r.hidden, activation=jnp.tanh, key=keys[1])
        optimizer = ADAM.init(eqx.filter((policy.network, critic), eqx.is_array))
        hold = jnp.asarray(0.0 if begin_with is None else HOLD)
        rate, taken = jnp.asarray(r.rate), jnp.zeros(())
        return FlowLearner(policy, critic, observed, new_normaliser(width), optimizer, rate, taken, hold)

    def policy(self, learner: FlowLearner) -> FlowPolicy:
        return learner.policy

    def weights(self, learner: FlowLearner) -> Any:
        return eqx.partition(learner.policy, eqx.is_array)[0]

    def decide(self, weights: Any, memory: Any, sight: Sight, key: PRNGKeyArray) -> tuple[Any, Any, dict[str, Any]]:
        policy = eqx.combine(weights, self._static)
        seen = jax.vmap(policy.with_told)(sight.observation, sight.params)
        begin = policy.noise * jax.random.normal(key, (len(seen), policy.interface.command_width))
        return memory, jax.vmap(policy.command)(seen, begin), {"seen": seen}

    def learn(
        self, learner: FlowLearner, batch: dict[str, Any], key: PRNGKeyArray
    ) -> tuple[FlowLearner, dict[str, Any]]:
        known, known_next = criticized(batch, self.recipe.asymmetric)
        learner = noticed(learner, batch["seen"], known_next)
        keys = jax.random.split(key)
        rows = self._rows(learner, batch, (known, known_next), keys[0])
        learner, kl = self._epochs(learner, rows, keys[1])
        policy = learner.policy.with_eyes(learner.observed.shift, learner.observed.scale)
        taken = learner.taken + self.recipe.per_iteration / self.recipe.budget
        notes = {"reward": batch["reward"].mean(), "kl": kl, "matching": rows["before"].mean()}
        return learner._replace(policy=policy, taken=taken), notes

    def _rows(self, learner: FlowLearner, batch: dict[str, Any], known: tuple[Any, Any], key: PRNGKeyArray) -> Any:
        """One row for each control period of each world, with the noises and times at which its losses are measured."""
        r, keys = self.recipe, jax.random.split(key)
        value, later = (answers(learner.critic, normal(learner.critic_observed, k))[..., 0] for k in known)
        reward = paid(batch, r, self.place.simulator.interface.period_s)
        gain = advantages(reward, value, later, batch["finished"], batch["cut"], r.discount, r.trace)
        drawn = (*gain.shape, r.samples)
        rows = {
            "seen": jnp.clip(normal(learner.observed, batch["seen"]), -10, 10),
            "known": normal(learner.critic_observed, known[0]), "unit": batch["unit"],
            "noise": learner.policy.noise * jax.random.normal(keys[0], (*drawn, batch["unit"].shape[-1])),
            "time": jax.random.uniform(keys[1], drawn),
            "gain": (gain - gain.mean()) / (gain.std() + 1e-8), "target": gain + value,
        }  # fmt: skip
        rows = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), rows)
        return {**rows, "before": self._matching(learner.policy.network, rows)}

    def _epochs(self, learner: FlowLearner, rows: dict[str, Any], key: PRNGKeyArray) -> tuple[FlowLearner, Any]:
        r, trained = self.recipe, (learner.policy.network, learner.critic)

        def loss(trained: Any, mine: dict[str, Any]) -> tuple[Any, Any]:
            network, critic = trained
            policy_loss, kl = r.objective(mine["before"] - self._matching(network, mine), mine["gain"])
            value = answers(critic, mine["known"])[..., 0]
            return policy_loss + 0.5 * ((value - mine["target"]) ** 2).mean(), kl

        stride = Stride(learner.optimizer, learner.rate, learner.taken, (learner.taken >= learner.hold, 1.0))
        pieces = orders(r.per_iteration, r.epochs, r.minibatches, key)
        (network, critic), paced, kl = descend(r, loss, trained, stride, rows, pieces)
        policy = eqx.tree_at(lambda p: p.network, learner.policy, network)
        return learner._replace(policy=policy, critic=critic, **paced), kl

    def _matching(self, network: eqx.nn.MLP, rows: dict[str, Any]) -> Float[Array, "row sample"]:
        noise = self.recipe.noise if self._begin_with is None else self._begin_with.noise
        one = jax.vmap(lambda *row: matching(network, *row) / (2 * noise**2), (None, None, 0, 0))
        return jax.vmap(one)(rows["seen"], rows["unit"], rows["noise"], rows["time"])


def matching(
    network: eqx.nn.MLP, seen: Float[Array, " seen"], unit: Float[Array, " command"],
    noise: Float[Array, " command"], time: Float[Array, ""],
) -> Float[Array, ""]:  # fmt: skip
    """The loss of conditional flow matching: how far the field, on the straight way from the noise to the command, is from the
    velocity of that way; squared."""
    at = time * unit + (1 - time) * noise
    return ((velocity(network, seen, at, time) - (unit - noise)) ** 2).sum()


def asymmetric(
    change: Float[Array, "*row"], gain: Float[Array, "*row"], clip: float
) -> tuple[Float[Array, ""], Float[Array, ""]]:
    """The asymmetric objective as a loss, and the KL divergence from before: what gained is clipped, what lost is held."""
    ratio = jnp.exp(change)
    gained = jnp.minimum(ratio, 1 + clip) * gain
    held = ratio * gain - jnp.abs(gain) * (ratio - 1) ** 2 / (2 * clip)
    return -jnp.where(gain > 0, gained, held).mean(), ((ratio - 1) - change).mean()
