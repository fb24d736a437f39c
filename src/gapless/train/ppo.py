"""Proximal policy optimization over n worlds whose parameters are drawn from a belief.

Follows Schulman et al. 2017 with the value of the last state where time ran out (Pardo et al. 2018), a critic that sees
what only a simulator knows (Pinto et al. 2018), a learning rate that follows the KL divergence (Rudin et al. 2022) and, for
networks with memory, whole stretches in place of single rows. Mirrored observations ask for mirrored commands by a term of
the loss (Mittal et al. 2024 call it so and prefer it to augmentation where the robot itself is not quite symmetric).
"""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, PRNGKeyArray

from gapless.core import GaplessError
from gapless.nets.normaliser import Normaliser, new_normaliser, update
from gapless.nets.policy import NetworkPolicy, Shape, new_policy
from gapless.nets.recall import Kind, Recall, unrolled

from .advantage import advantages
from .batches import Batches, Rule
from .experience import Experience, Sight
from .learning import Learning, Method, Place

HOLD = 0.15


@dataclass(frozen=True)
class Ppo(Method):
    """Proximal policy optimization."""

    word: ClassVar[str] = "ppo"

    epochs: int = 6
    """Passes over each batch."""
    minibatches: int = 4
    """Pieces of each pass."""
    hidden: tuple[int, int] = (64, 2)
    """Width and number of hidden layers, of policy and critic alike."""
    network: Kind = "mlp"
    """The policy's network: feed-forward, or with memory."""
    told: tuple[str, ...] = ()
    """Params that the policy is told: a privileged teacher, which no robot can run."""
    asymmetric: bool = True
    """Whether the critic sees params and privileged signals, too; else only what the policy sees."""
    rate: float = 2e-3
    """Largest learning rate; below it, the rate follows the KL divergence."""
    discount: float = 0.985
    """Weight of the next period's reward."""
    trace: float = 0.95
    """Lambda of the advantage estimate."""
    clip: float = 0.3
    """How far a probability ratio may pay."""
    kl_target: float = 0.03
    """KL divergence per update that the learning rate aims at. It fades out over the second half of the budget."""
    entropy: float = 0.0
    """Weight of the entropy bonus."""
    noise: float = 0.5
    """Deviation of the first exploration, as a share of half the command range."""
    symmetry: float = 0.0
    """Weight of the loss on commands that are not mirrored where the observation is; the task must name its mirror."""
    smooth: float = 0.0
    """Price per second of commands that jump by half their range every period."""
    energy: float = 0.0
    """Price per second of commands at their limit."""

    def __post_init__(self) -> None:
        if self.worlds * self.steps % self.minibatches:
            raise GaplessError(
                f"{self.worlds} worlds × {self.steps} steps do not divide into {self.minibatches} minibatches."
            )
        if self.network not in ("mlp", "encoded") and self.worlds % self.minibatches:
            raise GaplessError(
                f"a network with memory learns whole stretches: {self.worlds} worlds do not divide into "
                f"{self.minibatches} minibatches."
            )

    @property
    def shape(self) -> Shape:
        return Shape(self.hidden, self.network, self.told)

    def learning(self, place: Place, key: PRNGKeyArray, begin_with: NetworkPolicy | None = None) -> Learning:
        rule = PpoRule(self, place, begin_with)
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


class PpoRule(Rule):
    """Clipped updates of a policy with Gaussian exploration, and of a critic."""

    def __init__(self, recipe: Ppo, place: Place, begin_with: NetworkPolicy | None) -> None:
        self.recipe, self.place, self._begin_with = recipe, place, begin_with
        interface, observe = place.simulator.interface, place.task.observe
        self._adam = optax.chain(optax.clip_by_global_norm(0.5), optax.scale_by_adam(eps=1e-5))
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

    def new(self, key: PRNGKeyArray) -> Learner:
        """What learning begins with: untrained, or a policy with a fresh critic."""
        keys, r, begin_with = jax.random.split(key), self.recipe, self._begin_with
        interface = self.place.simulator.interface
        policy = begin_with or new_policy(interface, self.place.task.observe, r.shape, keys[0])
        observed = new_normaliser(len(policy.shift))
        if begin_with is not None:
            # A policy that already knows its world keeps its normalisation; new data moves it slowly.
            observed = Normaliser(jnp.asarray(1e5), policy.shift, 1 / policy.scale**2 - 1e-6)
        width = Experience(self.place, 1, policy, self.decide).known_width if r.asymmetric else len(policy.shift)
        critic = eqx.nn.MLP(width, 1, *r.hidden, activation=jnp.tanh, key=keys[1])
        noise = jnp.full((interface.command_width,), np.log(r.noise * (0.5 if begin_with is not None else 1.0)))
        optimizer = self._adam.init(eqx.filter((policy.network, noise, critic), eqx.is_array))
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
        known, known_next = self._criticized(batch)
        learner = learner._replace(
            observed=update(learner.observed, batch["seen"].reshape(-1, batch["seen"].shape[-1])),
            critic_observed=update(learner.critic_observed, known_next.reshape(-1, learner.critic.in_size)),
        )
        value, next_value = (_values(learner, rows) for rows in (known, known_next))
        gain = advantages(self._paid(batch), value, next_value, batch["finished"], batch["cut"], r.discount, r.trace)
        rows = {
            "seen": _normal(learner.observed, batch["seen"]), "known": _normal(learner.critic_observed, known),
            "mirrored": _normal(learner.observed, batch["seen"] * self._mirror), "fresh": batch["fresh"],
            "unit": batch["unit"], "old": -0.5 * (batch["noise"] ** 2).sum(-1) - learner.log_noise.sum(),
            "gain": (gain - gain.mean()) / (gain.std() + 1e-8), "target": gain + value,
        }  # fmt: skip
        if not r.symmetry:
            del rows["mirrored"]
        begun = jax.tree.map(lambda x: x[0], batch["hidden"])
        learner, kl = self._epochs(learner, rows, begun, key)
        policy = eqx.tree_at(
            lambda p: (p.shift, p.scale), learner.policy, (learner.observed.shift, learner.observed.scale)
        )
        taken = learner.taken + r.per_iteration / r.budget
        notes = {"reward": batch["reward"].mean(), "kl": kl, "noise": jnp.exp(learner.log_noise).mean()}
        return learner._replace(policy=policy, taken=taken), notes

    def _criticized(self, batch: dict[str, Any]) -> tuple[Any, Any]:
        """What the critic sees before and after each period."""
        if self.recipe.asymmetric:
            return batch["known"], batch["known_next"]
        told = batch["seen"][..., batch["observation"].shape[-1] :]
        return batch["seen"], jnp.concatenate([batch["observation_next"], told], axis=-1)

    def _paid(self, batch: dict[str, Any]) -> Float[Array, "step world"]:
        """The reward, less what doubt, jumps and effort cost."""
        period_s = self.place.simulator.interface.period_s
        effort = (jnp.clip(batch["unit"], -1, 1) ** 2).mean(-1)
        price = period_s * (self.recipe.smooth * batch["change"] + self.recipe.energy * effort)
        return batch["reward"] - batch["doubt"] * jnp.abs(batch["reward"]).mean() - price

    def _epochs(self, learner: Learner, rows: dict[str, Any], begun: Any, key: PRNGKeyArray) -> tuple[Learner, Any]:
        r = self.recipe
        trained = (learner.policy.network, learner.log_noise, learner.critic)
        moving = learner.taken >= learner.hold
        fading = jnp.clip(2 * (1 - learner.taken), 0.05, 1.0)
        arrays, static = eqx.partition(trained, eqx.is_array)
        whole = isinstance(learner.policy.network, Recall)
        count = r.worlds if whole else r.worlds * r.steps
        rows = rows if whole else jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), rows)

        def one(held: Any, piece: Any) -> Any:
            arrays, optimizer, rate = held
            mine = jax.tree.map(lambda x: x[:, piece] if whole else x[piece], rows)
            memory = jax.tree.map(lambda x: x[piece], begun)
            grads, kl = jax.grad(lambda a: self._loss(eqx.combine(a, static), mine, memory), has_aux=True)(arrays)
            changes, optimizer = self._adam.update(grads, optimizer)
            network, noise, critic = changes  # type: ignore[misc]
            changes = (*jax.tree.map(lambda c: moving * c, (network, noise)), critic)
            arrays = jax.tree.map(lambda a, c: a - fading * rate * c, arrays, changes)
            return (arrays, optimizer, rate), kl

        orders = jax.vmap(lambda k: jax.random.permutation(k, count))(jax.random.split(key, r.epochs))
        pieces = orders.reshape(r.epochs * r.minibatches, -1)
        (arrays, optimizer, rate), kl = jax.lax.scan(one, (arrays, learner.optimizer, learner.rate), pieces)
        last = kl[-r.minibatches :].mean()
        rate = jnp.where(last > 2 * r.kl_target, rate / 1.5, jnp.where(last < r.kl_target / 2, rate * 1.2, rate))
        rate = jnp.clip(rate, r.rate / 100, r.rate)
        network, noise, critic = eqx.combine(arrays, static)
        policy = eqx.tree_at(lambda p: p.network, learner.policy, network)
        return learner._replace(policy=policy, log_noise=noise, critic=critic, optimizer=optimizer, rate=rate), last

    def _loss(self, trained: Any, rows: dict[str, Any], memory: Any) -> tuple[Any, Any]:
        (network, log_noise, critic), r = trained, self.recipe
        centre = _centres(network, memory, rows["seen"], rows["fresh"])
        policy_loss, kl = clipped(log_likelihood(rows["unit"], centre, log_noise), rows["old"], rows["gain"], r.clip)
        value = _each(critic, rows["known"])[..., 0]
        loss = policy_loss + 0.5 * ((value - rows["target"]) ** 2).mean() - r.entropy * log_noise.sum()
        if r.symmetry:
            mirrored = _centres(network, memory, rows["mirrored"], rows["fresh"])
            loss += r.symmetry * ((mirrored - self._mirror_command * centre) ** 2).mean()
        return loss, kl


def log_likelihood(
    unit: Float[Array, "*row command"], centre: Float[Array, "*row command"], log_noise: Float[Array, " command"]
) -> Float[Array, "*row"]:
    """Of commands under a Gaussian, up to a constant."""
    return -0.5 * (((unit - centre) * jnp.exp(-log_noise)) ** 2).sum(-1) - log_noise.sum()


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


def _each(network: Any, rows: Any) -> Any:
    """A network's answers to rows, of any number of leading axes, kept within ten deviations."""
    flat = jax.vmap(network)(jnp.clip(rows, -10, 10).reshape(-1, rows.shape[-1]))
    return flat.reshape(*rows.shape[:-1], -1)


def _normal(seen: Normaliser, rows: Any) -> Any:
    return (rows - seen.shift) * seen.scale


def _values(learner: Learner, known: Any) -> Any:
    return _each(learner.critic, _normal(learner.critic_observed, known))[..., 0]
