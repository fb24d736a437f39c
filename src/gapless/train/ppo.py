"""Proximal policy optimization over n worlds whose parameters are drawn from a belief.

Follows Schulman et al. 2017 with the value of the last state where time ran out (Pardo et al. 2018), a critic that sees
what only a simulator knows (Pinto et al. 2018), a learning rate that follows the KL divergence (Rudin et al. 2022) and, for
networks with memory, whole stretches in place of single rows. Mirrored observations ask for mirrored commands by a term of
the loss (Mittal et al. 2024 call it so and prefer it to augmentation where the robot itself is not quite symmetric).
"""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from gapless.core import GaplessError
from gapless.nets.normaliser import Normaliser, new_normaliser
from gapless.nets.policy import NetworkPolicy, Shape, new_policy
from gapless.nets.recall import Kind, Recall, unrolled
from gapless.nets.seeing import SeeingPolicy

from .advantage import advantages
from .batches import Batches, Criticized
from .descent import ADAM, Stride, descend, orders
from .experience import Sight, known_width
from .judged import answers, criticized, eyes_of, normal, noticed, paid
from .learning import HOLD, Learning, Place
from .on_policy import OnPolicy

GOES_ON = 0.25
"""Deviation of the first exploration around a policy that was trained before, where nobody knows what it had come to."""


@dataclass(frozen=True)
class Ppo(OnPolicy):
    """Proximal policy optimization."""

    word: ClassVar[str] = "ppo"

    network: Kind = "mlp"
    """The policy's network: feed-forward, or with memory."""
    noise: float = 1.5
    """Deviation of the first exploration, as a share of half the command range: at first most commands are at a limit. With 0.5,
    every third swing-up ends in a way of moving that is only half as good."""
    entropy: float = 0.0
    """Weight of the entropy bonus."""
    symmetry: float = 0.0
    """Weight of the loss on commands that are not mirrored where the observation is; the task must name its mirror."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.network not in ("mlp", "encoded") and self.worlds % self.minibatches:
            raise GaplessError(
                f"a network with memory learns whole stretches: {self.worlds} worlds do not divide into "
                f"{self.minibatches} minibatches."
            )

    def further(self) -> "Ppo":
        return replace(self, budget=self.budget * 3 // 8, rate=self.rate / 4)

    @property
    def shape(self) -> Shape:
        return Shape(self.hidden, self.network, self.told)

    def learning(self, place: Place, key: PRNGKeyArray, begin_with: SeeingPolicy | None = None) -> Learning:
        rule = PpoRule(self, place, self.going_on(begin_with, NetworkPolicy))
        return Batches(place, self, rule, rule.new(key))


class Learner(NamedTuple):
    """Everything that an update changes."""

    policy: NetworkPolicy
    log_noise: Float[Array, " command"]
    critic: eqx.nn.MLP
    observed: Normaliser
    critic_observed: Normaliser
    optimizer: Any
    rate: Float[Array, ""]
    taken: Float[Array, ""]
    """Share of the budget learnt from so far."""
    hold: Float[Array, ""]
    """Share of the budget in which only the critic learns, so that a fresh critic does not spoil a trained policy."""


class PpoRule(Criticized):
    """Clipped updates of a policy with Gaussian exploration, and of a critic."""

    beside = ("log_noise", "critic", "critic_observed", "optimizer")

    def __init__(self, recipe: Ppo, place: Place, begin_with: NetworkPolicy | None) -> None:
        self.recipe, self.place, self._begin_with = recipe, place, begin_with
        interface, observe = place.simulator.interface, place.task.observe
        like = begin_with or new_policy(interface, observe, recipe.shape, jax.random.key(0))
        self._static = eqx.partition(like, eqx.is_array)[1]
        if recipe.symmetry and not place.task.mirror:
            raise GaplessError(
                f"task {place.task.name!r} names no mirror, so symmetry cannot be asked for. Set it to 0."
            )
        told = np.ones(len(like.told), np.float32)
        self._mirror = np.concatenate([observe.mirror(interface, place.task.mirror), told])
        self._mirror_command = np.concatenate(
            [np.full(c.width, place.task.mirror.get(c.name, 1.0), np.float32) for c in interface.commands]
        )

    def new(self, key: PRNGKeyArray, told: int | None = None) -> Learner:
        keys, r, begin_with = jax.random.split(key), self.recipe, self._begin_with
        interface = self.place.simulator.interface
        policy = begin_with or new_policy(interface, self.place.task.observe, r.shape, keys[0])
        observed = eyes_of(policy, begin_with is not None)
        width = (told or known_width(self.place)) if r.asymmetric else len(policy.shift)
        critic = eqx.nn.MLP(width, 1, *r.hidden, activation=jnp.tanh, key=keys[1])
        noise = jnp.full((interface.command_width,), np.log(r.noise if begin_with is None else min(r.noise, GOES_ON)))
        optimizer = ADAM.init(eqx.filter((policy.network, noise, critic), eqx.is_array))
        hold = jnp.asarray(0.0 if begin_with is None else HOLD)
        rate, taken = jnp.asarray(r.rate), jnp.zeros(())
        return Learner(policy, noise, critic, observed, new_normaliser(width), optimizer, rate, taken, hold)

    def policy(self, learner: Learner) -> NetworkPolicy:
        return learner.policy

    def weights(self, learner: Learner) -> Any:
        return eqx.partition(learner.policy, eqx.is_array)[0], learner.log_noise

    def decide(self, weights: Any, memory: Any, sight: Sight, key: PRNGKeyArray) -> tuple[Any, Any, dict[str, Any]]:
        policy = eqx.combine(weights[0], self._static)
        seen = jax.vmap(policy.with_told)(sight.observation, sight.params)
        before = memory.get("hidden", ())
        memory, centre = jax.vmap(policy.think)(memory, seen)
        noise = jax.random.normal(key, centre.shape)
        unit = centre + jnp.exp(weights[1]) * noise
        return memory, unit, {"seen": seen, "noise": noise, "hidden": before}

    def learn(self, learner: Learner, batch: dict[str, Any], key: PRNGKeyArray) -> tuple[Learner, dict[str, Any]]:
        r = self.recipe
        known, known_next = criticized(batch, r.asymmetric)
        learner = noticed(learner, batch["seen"], known_next)
        value, next_value = (_values(learner, rows) for rows in (known, known_next))
        reward = paid(batch, r, self.place.simulator.interface.period_s)
        gain = advantages(reward, value, next_value, batch["finished"], batch["cut"], r.discount, r.trace)
        rows = {
            "seen": normal(learner.observed, batch["seen"]), "known": normal(learner.critic_observed, known),
            "mirrored": normal(learner.observed, batch["seen"] * self._mirror), "fresh": batch["fresh"],
            "unit": batch["unit"], "old": -0.5 * (batch["noise"] ** 2).sum(-1) - learner.log_noise.sum(),
            "gain": (gain - gain.mean()) / (gain.std() + 1e-8), "target": gain + value,
        }  # fmt: skip
        if not r.symmetry:
            del rows["mirrored"]
        begun = jax.tree.map(lambda x: x[0], batch["hidden"])
        learner, kl = self._epochs(learner, rows, begun, key)
        policy = learner.policy.with_eyes(learner.observed.shift, learner.observed.scale)
        taken = learner.taken + r.per_iteration / r.budget
        notes = {"reward": batch["reward"].mean(), "kl": kl, "noise": jnp.exp(learner.log_noise).mean()}
        return learner._replace(policy=policy, taken=taken), notes

    def _epochs(self, learner: Learner, rows: dict[str, Any], begun: Any, key: PRNGKeyArray) -> tuple[Learner, Any]:
        r, moving = self.recipe, learner.taken >= learner.hold
        whole = isinstance(learner.policy.network, Recall)
        # What has a memory learns stretches, world by world; else every period of every world is a row.
        rows = jax.tree.map(lambda x: x.swapaxes(0, 1) if whole else x.reshape(-1, *x.shape[2:]), rows)
        count = r.worlds if whole else r.worlds * r.steps

        def loss(trained: Any, mine: Any) -> tuple[Any, Any]:
            rows, memory = mine
            return self._loss(trained, jax.tree.map(lambda x: x.swapaxes(0, 1), rows) if whole else rows, memory)

        trained = (learner.policy.network, learner.log_noise, learner.critic)
        stride = Stride(learner.optimizer, learner.rate, learner.taken, (moving, moving, 1.0))
        pieces = orders(count, r.epochs, r.minibatches, key)
        (network, noise, critic), paced, kl = descend(r, loss, trained, stride, (rows, begun), pieces)
        policy = eqx.tree_at(lambda p: p.network, learner.policy, network)
        return learner._replace(policy=policy, log_noise=noise, critic=critic, **paced), kl

    def _loss(self, trained: Any, rows: dict[str, Any], memory: Any) -> tuple[Any, Any]:
        (network, log_noise, critic), r = trained, self.recipe
        centre = _centres(network, memory, rows["seen"], rows["fresh"])
        policy_loss, kl = clipped(log_likelihood(rows["unit"], centre, log_noise), rows["old"], rows["gain"], r.clip)
        value = answers(critic, rows["known"])[..., 0]
        loss = policy_loss + 0.5 * ((value - rows["target"]) ** 2).mean() - r.entropy * log_noise.sum()
        if r.symmetry:
            mirrored = _centres(network, memory, rows["mirrored"], rows["fresh"])
            loss += r.symmetry * ((mirrored - self._mirror_command * centre) ** 2).mean()
        return loss, kl


def log_likelihood(
    unit: Float[Array, "*row command"], centre: Float[Array, "*row command"], log_noise: Float[Array, "*#row command"]
) -> Float[Array, "*row"]:
    """Of commands under Gaussians, up to a constant; their deviations are the same for all rows or each row's own."""
    return -0.5 * (((unit - centre) * jnp.exp(-log_noise)) ** 2).sum(-1) - log_noise.sum(-1)


def clipped(
    now: Float[Array, "*row"], before: Float[Array, "*row"], gain: Float[Array, "*row"], clip: float
) -> tuple[Float[Array, ""], Float[Array, ""]]:
    """The clipped objective as a loss, and the KL divergence from before (Schulman's estimator that is never negative)."""
    change = now - before
    ratio = jnp.exp(change)
    kept = jnp.clip(ratio, 1 - clip, 1 + clip)
    return -jnp.minimum(ratio * gain, kept * gain).mean(), ((ratio - 1) - change).mean()


def _centres(network: Any, memory: Any, seen: Any, fresh: Any) -> Any:
    rows = jnp.clip(seen, -10, 10)
    return jnp.tanh(unrolled(network, memory, rows, fresh) if isinstance(network, Recall) else jax.vmap(network)(rows))


def _values(learner: Learner, known: Any) -> Any:
    return answers(learner.critic, normal(learner.critic_observed, known))[..., 0]
