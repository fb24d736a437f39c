"""Short-horizon actor-critic: the return of short windows, differentiated through the physics itself.

Follows Xu et al. 2022 (SHAC): windows are short enough for gradients to stay tame, a slow critic says what comes after them
and learns by TD(λ), and gradients end where episodes do. Departures: the policy climbs λ-returns, too (as in Hafner et al.
2020), the critic sees what only a simulator knows, time that ran out is told apart from a real end, and a window's first
command was chosen by the policy of the window before.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from gapless.core import GaplessError
from gapless.nets.normaliser import Normaliser, new_normaliser
from gapless.nets.policy import NetworkPolicy, Shape, new_policy
from gapless.nets.seeing import SeeingPolicy
from gapless.simulators import compiled

from .advantage import advantages
from .critics import followed_by
from .descent import orders
from .experience import Experience, Held, Sight, strong
from .judged import answers, eyes_of, normal, noticed, undoubted
from .learning import Learning, Method, Place
from .squash import before_tanh, is_feed_forward, require_feed_forward

HOLD = 0.1
"""Share of the budget in which only the critic learns, so that a fresh one does not spoil a trained policy."""


@dataclass(frozen=True)
class ShortHorizon(Method):
    """Short-horizon actor-critic; needs a traceable simulator."""

    word: ClassVar[str] = "shac"
    through_physics: ClassVar[bool] = True

    hidden: tuple[int, int] = (64, 2)
    """Width and number of hidden layers, of policy and critic alike."""
    rate: float = 5e-3
    """Learning rate of the policy at the beginning; it falls to nothing at the end of the budget."""
    critic_rate: float = 2e-3
    """Learning rate of the critic."""
    epochs: int = 6
    """Passes of the critic over each window."""
    minibatches: int = 4
    """Pieces of each pass."""
    discount: float = 0.985
    """Weight of the next period's reward."""
    trace: float = 0.95
    """Lambda of what the critic learns."""
    blend: float = 0.9
    """Lambda of what the policy climbs. At 1, the paper's, the critic is asked at the end of a window alone; below it, also on
    the way, and so tells the policy of ends, of which no gradient of the physics speaks."""
    follow: float = 0.5
    """Share of the way that the slow critic follows with each window."""
    noise: float = 0.3
    """Deviation of the first exploration, before commands are squashed into ±1."""
    steepest: float = 1.0
    """Norm at which gradients are cut off."""

    def __post_init__(self) -> None:
        if self.per_iteration % self.minibatches:
            raise GaplessError(
                f"{self.worlds} worlds × {self.steps} steps do not divide into {self.minibatches} minibatches."
            )

    def takes(self, policy: SeeingPolicy) -> bool:
        return is_feed_forward(policy)

    def learning(self, place: Place, key: PRNGKeyArray, begin_with: SeeingPolicy | None = None) -> Learning:
        return Windows(self, place, key, self.going_on(begin_with, NetworkPolicy))


class Learner(NamedTuple):
    """Everything that a window changes."""

    policy: NetworkPolicy
    log_noise: Float[Array, " command"]
    critic: eqx.nn.MLP
    slow: eqx.nn.MLP
    optimizers: tuple[Any, Any]
    observed: Normaliser
    critic_observed: Normaliser
    taken: Float[Array, ""]
    """Share of the budget so far."""


class Windows(Learning):
    """Windows of all worlds, one after the other, each a step up its own gradient."""

    def __init__(self, recipe: ShortHorizon, place: Place, key: PRNGKeyArray, begin_with: NetworkPolicy | None) -> None:
        interface = place.simulator.interface
        recipe.require_place(place.simulator)
        place = place._replace(simulator=compiled(place.simulator, place.belief.names))
        self.recipe, self.steps_done = recipe, 0
        like = begin_with or new_policy(interface, place.task.observe, Shape(recipe.hidden), key)
        require_feed_forward(like, recipe.word)
        self._static = eqx.partition(like, eqx.is_array)[1]
        self._hold = 0.0 if begin_with is None else HOLD
        self._experience = Experience(place, recipe.worlds, like, self._decide)
        # The paper's betas: gradients of one window say little about those of ten windows ago.
        self._climb = optax.chain(optax.clip_by_global_norm(recipe.steepest), optax.scale_by_adam(0.7, 0.95))
        self._adam = optax.adam(recipe.critic_rate)
        self.learner = strong(self._new(like, begin_with is not None, key))
        self._held: Held | None = None
        self._traced = eqx.filter_jit(self._scan)

    @property
    def policy(self) -> NetworkPolicy:
        return self.learner.policy

    def begin(self, key: PRNGKeyArray, place: Place | None = None) -> None:
        self._held = self._experience.begin(_acting(self.learner.policy, self.learner.log_noise), key, place)

    def iterate(self, key: PRNGKeyArray, times: int = 1) -> dict[str, float]:
        if self._held is None:
            begins, key = jax.random.split(key)
            self.begin(begins)
        self.steps_done += times * self.recipe.per_iteration
        (self.learner, self._held), notes = self._traced((self.learner, self._held), jax.random.split(key, times))
        return {k: float(jnp.nanmean(v)) for k, v in notes.items()}

    def _new(self, policy: NetworkPolicy, trained: bool, key: PRNGKeyArray) -> Learner:
        r, known = self.recipe, self._experience.known_width
        critic = eqx.nn.MLP(known, 1, *r.hidden, activation=jnp.tanh, key=jax.random.fold_in(key, 1))
        noise = jnp.full((policy.interface.command_width,), np.log(r.noise * (0.5 if trained else 1.0)))
        moved = eqx.filter((policy.network, noise), eqx.is_array)
        optimizers = self._climb.init(moved), self._adam.init(eqx.filter(critic, eqx.is_array))
        moments = eyes_of(policy, trained), new_normaliser(known)
        return Learner(policy, noise, critic, critic, optimizers, *moments, jnp.zeros(()))

    def _decide(self, weights: Any, memory: Any, sight: Sight, key: PRNGKeyArray) -> tuple[Any, Any, dict[str, Any]]:
        centre = before_tanh(eqx.combine(weights[0], self._static), sight.observation)
        # Squashed after the noise and not cut off: beyond a limit there would be no gradient.
        return memory, jnp.tanh(centre + jnp.exp(weights[1]) * jax.random.normal(key, centre.shape)), {}

    def _scan(self, both: Any, keys: PRNGKeyArray) -> Any:
        arrays, static = eqx.partition(both, eqx.is_array)

        def once(arrays: Any, key: PRNGKeyArray) -> Any:
            learner, held = eqx.combine(arrays, static)
            learner, held, notes = self._window(learner, held, key)
            return eqx.partition((learner, held), eqx.is_array)[0], notes

        arrays, notes = jax.lax.scan(once, arrays, keys)
        return eqx.combine(arrays, static), notes

    def _window(self, learner: Learner, held: Held, key: PRNGKeyArray) -> tuple[Learner, Held, dict[str, Any]]:
        keys = jax.random.split(key)
        moved = learner.policy.network, learner.log_noise
        grads, (held, batch) = eqx.filter_grad(self._loss, has_aux=True)(moved, learner, held, keys[0])
        norm = jnp.sqrt(sum(jnp.sum(g**2) for g in jax.tree.leaves(grads)))
        # One window that ran away says nothing about the way up.
        grads = jax.tree.map(lambda g: jnp.where(jnp.isfinite(norm), g, 0.0), grads)
        changes, climb = self._climb.update(grads, learner.optimizers[0])
        rate = self.recipe.rate * jnp.maximum(1 - learner.taken, 0.02) * (learner.taken >= self._hold)
        network, noise = eqx.apply_updates(moved, jax.tree.map(lambda c: -rate * c, changes))
        learner = self._observing(learner, batch, network)
        learner = learner._replace(log_noise=noise, optimizers=(climb, learner.optimizers[1]))
        learner, surprise = self._critic(learner, batch, keys[1])
        return learner, held, {"reward": batch["reward"].mean(), "steepness": norm, "surprise": surprise}

    def _loss(self, moved: Any, learner: Learner, held: Held, key: PRNGKeyArray) -> Any:
        """What the windows of all worlds lost, per period; the worlds after it, and what happened."""
        r, policy = self.recipe, eqx.tree_at(lambda p: p.network, learner.policy, moved[0])
        held, batch = self._experience.drive(_acting(policy, moved[1]), held, key, r.steps)
        value = _values(learner.slow, learner.critic_observed, batch["known_next"])
        gained = windowed(undoubted(batch), value, batch["finished"], batch["cut"], (r.discount, r.blend))
        return -gained.mean() / r.steps, (held, batch)

    def _observing(self, learner: Learner, batch: dict[str, Any], network: Any) -> Learner:
        learner = noticed(learner, batch["observation"], batch["known_next"])
        policy = eqx.tree_at(lambda p: p.network, learner.policy, network)
        policy = policy.with_eyes(learner.observed.shift, learner.observed.scale)
        return learner._replace(policy=policy, taken=learner.taken + self.recipe.per_iteration / self.recipe.budget)

    def _critic(self, learner: Learner, batch: dict[str, Any], key: PRNGKeyArray) -> tuple[Learner, Any]:
        r, seen = self.recipe, learner.critic_observed
        value, after = (_values(learner.slow, seen, batch[k]) for k in ("known", "known_next"))
        gain = advantages(undoubted(batch), value, after, batch["finished"], batch["cut"], r.discount, r.trace)
        known, target = batch["known"].reshape(-1, batch["known"].shape[-1]), (gain + value).reshape(-1)
        arrays, static = eqx.partition(learner.critic, eqx.is_array)

        def loss(arrays: Any, piece: Any) -> Any:
            return ((_values(eqx.combine(arrays, static), seen, known[piece]) - target[piece]) ** 2).mean()

        def one(both: Any, piece: Any) -> Any:
            off, grads = jax.value_and_grad(loss)(both[0], piece)
            changes, state = self._adam.update(grads, both[1])
            return (optax.apply_updates(both[0], changes), state), off

        pieces = orders(len(target), r.epochs, r.minibatches, key)
        (arrays, state), off = jax.lax.scan(one, (arrays, learner.optimizers[1]), pieces)
        critic = eqx.combine(arrays, static)
        slow = eqx.combine(followed_by(eqx.filter(learner.slow, eqx.is_array), arrays, r.follow), static)
        return learner._replace(critic=critic, slow=slow, optimizers=(learner.optimizers[0], state)), off.mean()


def windowed(
    reward: Float[Array, "step world"],
    next_value: Float[Array, "step world"],
    finished: Bool[Array, "step world"],
    cut: Bool[Array, "step world"],
    weights: tuple[float, float],
) -> Float[Array, " world"]:
    """What each world's window is worth: the λ-returns of all episodes in it, each from its own beginning, with the value of
    what comes after the window and where time ran out. `weights` are the discount and λ."""
    discount, blend = weights
    last = jnp.zeros_like(cut).at[-1].set(True)
    asked = jnp.where(cut | last, 1.0, 1 - blend) * next_value * ~finished

    def back(later: Float[Array, " world"], now: tuple) -> tuple:
        paid, value, stops = now
        total = paid + discount * (value + jnp.where(stops, 0.0, blend * later))
        return total, total

    _, worth = jax.lax.scan(back, jnp.zeros_like(reward[0]), (reward, asked, cut | last), reverse=True)
    begins = jnp.concatenate([jnp.ones_like(cut[:1]), cut[:-1]])
    return (begins * worth).sum(0)


def _acting(policy: NetworkPolicy, log_noise: Float[Array, " command"]) -> Any:
    return eqx.partition(policy, eqx.is_array)[0], log_noise


def _values(critic: eqx.nn.MLP, seen: Normaliser, known: Float[Array, "*row known"]) -> Float[Array, "*row"]:
    return answers(critic, normal(seen, known))[..., 0]
