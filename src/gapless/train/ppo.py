"""Proximal policy optimization over n worlds whose parameters are drawn from a belief.

Follows Schulman et al. 2017 with the value of the last state where time ran out (Pardo et al. 2018), a critic that sees
what only a simulator knows (Pinto et al. 2018) and a learning rate that follows the KL divergence (Rudin et al. 2022).
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, PRNGKeyArray

from gapless.core import Belief, GaplessError, Params, Signals, Simulator, Task
from gapless.nets.normaliser import Normaliser, new_normaliser, update
from gapless.nets.policy import NetworkPolicy, new_policy
from gapless.simulators import Agent, Loop, Restart

from .advantage import advantages
from .guard import Guard

HOLD = 0.15


@dataclass(frozen=True)
class Ppo:
    """Proximal policy optimization."""

    worlds: int = 64
    """Worlds stepped side by side."""
    steps: int = 32
    """Control periods per world between two updates."""
    epochs: int = 6
    """Passes over each batch."""
    minibatches: int = 4
    """Pieces of each pass."""
    hidden: tuple[int, int] = (64, 2)
    """Width and number of hidden layers, of policy and critic alike."""
    rate: float = 2e-3
    """Largest learning rate; below it, the rate follows the KL divergence."""
    discount: float = 0.985
    """Weight of the next period's reward."""
    trace: float = 0.95
    """Lambda of the advantage estimate."""
    clip: float = 0.3
    """How far a probability ratio may pay."""
    kl_target: float = 0.03
    """KL divergence per update that the learning rate aims at."""
    budget: int = 500_000
    """Control periods over all worlds after which the learning rate has faded out, beginning at half of them."""
    entropy: float = 0.0
    """Weight of the entropy bonus."""
    noise: float = 0.5
    """Deviation of the first exploration, as a share of half the command range."""

    def __post_init__(self) -> None:
        if self.worlds * self.steps % self.minibatches:
            raise GaplessError(
                f"{self.worlds} worlds × {self.steps} steps do not divide into {self.minibatches} minibatches."
            )


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
    per_batch: Float[Array, ""]
    """Share of the budget that one batch is."""
    hold: Float[Array, ""]
    """Share of the budget in which only the critic learns, so that a fresh critic does not spoil a trained policy."""


class Training:
    """PPO on one simulator, belief and task; call `iterate` until satisfied."""

    def __init__(
        self, simulator: Simulator, belief: Belief, task: Task, recipe: Ppo, key: PRNGKeyArray,
        begin_with: NetworkPolicy | None = None, guard: Guard | None = None,
    ) -> None:  # fmt: skip
        self._guard = guard
        self.simulator, self.belief, self.task, self.recipe = simulator.with_worlds(recipe.worlds), belief, task, recipe
        keys = jax.random.split(key, 5)
        self.horizon = round(task.seconds / simulator.interface.period_s)
        names = tuple(p.name for p in simulator.parameters)
        self._known = tuple(n for n in belief.names if n in names)
        self._adam = optax.chain(optax.clip_by_global_norm(0.5), optax.scale_by_adam(eps=1e-5))
        self.learner = _strong(self._new_learner(keys[0], begin_with))
        self._static = eqx.partition(self.learner.policy, eqx.is_array)[1]
        self._doubts, self._belief_static = eqx.partition(belief.prepared(), eqx.is_array)
        self._loop = Loop(self.simulator, Agent(self._look, self._act))
        self._update = eqx.filter_jit(self._learn)
        self._drawn = eqx.filter_jit(self._next)
        self._traced = eqx.filter_jit(self._traced_iterations)
        self.steps_done = 0
        self._state, self._carry, self._last = self._begin(keys[1])
        if simulator.traceable:
            self._state, self._carry, self._last = _strong((self._state, self._carry, self._last))

    def iterate(self, key: PRNGKeyArray, times: int = 1) -> dict[str, float]:
        """Collect and learn, `times` times; what the last ones looked like."""
        self.steps_done += times * self.recipe.worlds * self.recipe.steps
        if self.simulator.traceable:
            held = self.learner, self._state, self._carry, self._last
            held, notes = self._traced(held, jax.random.split(key, times))
            self.learner, self._state, self._carry, self._last = held
        else:
            collected = [self._iterate_stepped(k) for k in jax.random.split(key, times)]
            notes = jax.tree.map(lambda *x: jnp.stack(x), *collected)
        return {k: float(jnp.nanmean(v)) for k, v in notes.items()}

    def _iterate_stepped(self, key: PRNGKeyArray) -> dict[str, Any]:
        collect, learn, draw = jax.random.split(key, 3)
        weights = self._weights(self.learner)
        carry = {**self._carry, "next": self._drawn(self._doubts, draw)}
        self._state, self._carry, self._last, batch = self._loop.drive(
            weights, self._state, carry, self._last, collect, self.recipe.steps
        )
        self.learner, notes = self._update(self.learner, batch, learn)
        return notes

    def _traced_iterations(self, held: Any, keys: PRNGKeyArray) -> Any:
        arrays, static = eqx.partition(held, eqx.is_array)

        def once(arrays: Any, key: PRNGKeyArray) -> Any:
            learner, state, carry, last = eqx.combine(arrays, static)
            collect, learn, draw = jax.random.split(key, 3)
            weights = self._weights(learner)
            carry = {**carry, "next": self._next(weights[2], draw)}
            state, carry, last, batch = self._loop.drive(weights, state, carry, last, collect, self.recipe.steps)
            learner, notes = self._learn(learner, batch, learn)
            return eqx.partition((learner, state, carry, last), eqx.is_array)[0], notes

        arrays, notes = jax.lax.scan(once, arrays, keys)
        return eqx.combine(arrays, static), notes

    def _new_learner(self, key: PRNGKeyArray, begin_with: NetworkPolicy | None) -> Learner:
        keys = jax.random.split(key, 2)
        interface, r = self.simulator.interface, self.recipe
        policy = begin_with or new_policy(interface, self.task.observe, r.hidden, keys[0])
        observed = new_normaliser(self.task.observe.width(interface))
        if begin_with is not None:
            # A policy that already knows its world keeps its normalisation; new data moves it slowly.
            observed = Normaliser(jnp.asarray(1e5), policy.shift, 1 / policy.scale**2 - 1e-6)
        width = self.task.observe.width(interface) + self._privileged_width() + len(self._known)
        critic = eqx.nn.MLP(width, 1, *r.hidden, activation=jnp.tanh, key=keys[1])
        noise = jnp.full((interface.command_width,), np.log(r.noise * (0.5 if begin_with is not None else 1.0)))
        per_batch = jnp.asarray(r.worlds * r.steps / r.budget)
        hold = jnp.asarray(0.0 if begin_with is None else HOLD)
        optimizer = self._adam.init(eqx.filter((policy.network, noise, critic), eqx.is_array))
        return Learner(
            policy,
            noise,
            critic,
            observed,
            new_normaliser(width),
            optimizer,
            jnp.asarray(r.rate),
            jnp.zeros(()),
            per_batch,
            hold,
        )

    def _privileged_width(self) -> int:
        one = self.simulator.with_worlds(1)
        _, _, privileged = one.reset(one.init(), np.ones(1, bool), {}, {}, jax.random.key(0))
        self._privileged = tuple(sorted(privileged))
        return sum(privileged[k].shape[-1] for k in self._privileged)

    def _begin(self, key: PRNGKeyArray) -> tuple[Any, Any, Any]:
        keys = jax.random.split(key, 5)
        worlds = self.recipe.worlds
        params = self.belief.sample(keys[0], worlds)
        memory = jax.vmap(self.learner.policy.init)(jax.random.split(keys[1], worlds))
        # Episodes begin at staggered ages, so that ends do not come all at once.
        age = jax.random.randint(keys[2], (worlds,), 0, self.horizon)
        carry = {
            "memory": memory, "age": age, "params": params,
            "seen": jnp.zeros((worlds, self.task.observe.width(self.simulator.interface))),
            "known": jnp.zeros((worlds, self.learner.critic.in_size)), "next": self._drawn(self._doubts, keys[3]),
        }  # fmt: skip
        start = carry["next"][1]
        state, carry, last = self._loop.begin(self._weights(self.learner), carry, params, start, keys[4])
        return state, {**carry, "age": age}, last

    def _weights(self, learner: Learner) -> Any:
        policy = eqx.tree_at(
            lambda p: (p.shift, p.scale), learner.policy, (learner.observed.shift, learner.observed.scale)
        )
        # The belief travels with the weights: a program compiled for one belief then serves the next.
        return eqx.partition(policy, eqx.is_array)[0], learner.log_noise, self._doubts

    def _critic_input(self, observation: Any, privileged: Signals, params: Params) -> Any:
        parts = [observation, *(jnp.asarray(privileged[k]) for k in self._privileged)]
        return jnp.concatenate(parts + [params[k][:, None] for k in self._known], axis=-1)

    def _look(self, weights: Any, carry: Any, seen: Signals, privileged: Signals, key: PRNGKeyArray) -> Any:
        policy = eqx.combine(weights[0], self._static)
        memory, observation = jax.vmap(policy.see)(carry["memory"], seen)
        known = self._critic_input(observation, privileged, carry["params"])
        age = carry["age"] + 1
        finished = self.task.finished(seen)
        doubt = jnp.zeros(self.recipe.worlds) if self._guard is None else self._guard.share(privileged)
        # Where an episode is cut short for doubt, the future keeps its value: nobody gains or loses by the cut itself.
        cut = finished | (age >= self.horizon) | (doubt > 1)
        reward = self.task.reward(carry["measurement"], carry["command"], seen) * self.simulator.interface.period_s
        drawn, start = carry["next"]
        params = {k: jnp.where(cut, v, carry["params"][k]) for k, v in drawn.items()}
        carry = {**carry, "memory": memory, "age": age, "seen": observation, "known": known, "params": params}
        return (
            carry,
            Restart(cut, params, start),
            {"reward": reward, "doubt": jnp.minimum(doubt, 1.0), "finished": finished, "cut": cut, "known_next": known},
        )

    def _next(self, doubts: Any, key: PRNGKeyArray) -> tuple[Params, Signals]:
        """What each world begins its next episode with. Drawn once per batch: drawing at every end costs more than a step."""
        keys, worlds = jax.random.split(key), self.recipe.worlds
        belief = eqx.combine(doubts, self._belief_static)
        return belief.sample(keys[0], worlds), self.task.explore(keys[1], worlds)

    def _act(self, weights: Any, carry: Any, seen: Signals, privileged: Signals, fresh: Any, key: PRNGKeyArray) -> Any:
        policy = eqx.combine(weights[0], self._static)
        worlds = self.recipe.worlds
        blank = jax.vmap(policy.init)(jax.random.split(key, worlds))
        begun, first = jax.vmap(policy.see)(blank, seen)
        memory = jax.tree.map(lambda a, b: _where(fresh, a, b), begun, carry["memory"])
        observation = _where(fresh, first, carry["seen"])
        centre = jax.vmap(policy.centre)(observation)
        noise = jax.random.normal(key, centre.shape)
        unit = centre + jnp.exp(weights[1]) * noise
        memory, command = jax.vmap(policy.send)(memory, unit)
        known = _where(fresh, self._critic_input(observation, privileged, carry["params"]), carry["known"])
        age = jnp.where(fresh, 0, carry["age"])
        carry = {**carry, "memory": memory, "age": age, "command": command, "measurement": seen}
        return carry, command, {"seen": observation, "known": known, "unit": unit, "noise": noise}

    def _learn(self, learner: Learner, batch: Any, key: PRNGKeyArray) -> tuple[Learner, dict[str, Any]]:
        r = self.recipe
        learner = learner._replace(
            observed=update(learner.observed, batch["seen"].reshape(-1, batch["seen"].shape[-1])),
            critic_observed=update(learner.critic_observed, batch["known_next"].reshape(-1, learner.critic.in_size)),
        )
        value, next_value = (_values(learner, batch[k]) for k in ("known", "known_next"))
        reward = batch["reward"] - batch["doubt"] * jnp.abs(batch["reward"]).mean()
        gain = advantages(reward, value, next_value, batch["finished"], batch["cut"], r.discount, r.trace)
        old = -0.5 * (batch["noise"] ** 2).sum(-1) - learner.log_noise.sum()
        rows = {
            "seen": (batch["seen"] - learner.observed.shift) * learner.observed.scale,
            "known": (batch["known"] - learner.critic_observed.shift) * learner.critic_observed.scale,
            "unit": batch["unit"], "old": old, "gain": (gain - gain.mean()) / (gain.std() + 1e-8), "target": gain + value,
        }  # fmt: skip
        rows = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), rows)
        learner, kl = self._epochs(learner, rows, key)
        policy = eqx.tree_at(
            lambda p: (p.shift, p.scale), learner.policy, (learner.observed.shift, learner.observed.scale)
        )
        notes = {"reward": batch["reward"].mean(), "kl": kl, "noise": jnp.exp(learner.log_noise).mean()}
        return learner._replace(policy=policy, taken=learner.taken + learner.per_batch), notes

    def _epochs(self, learner: Learner, rows: dict[str, Any], key: PRNGKeyArray) -> tuple[Learner, Any]:
        r, count = self.recipe, self.recipe.worlds * self.recipe.steps
        trained = (learner.policy.network, learner.log_noise, learner.critic)
        moving = learner.taken >= learner.hold
        fading = jnp.clip(2 * (1 - learner.taken), 0.05, 1.0)
        arrays, static = eqx.partition(trained, eqx.is_array)

        def one(held: Any, piece: Any) -> Any:
            arrays, optimizer, rate = held
            piece = jax.tree.map(lambda x: x[piece], rows)
            grads, kl = jax.grad(lambda a: _loss(eqx.combine(a, static), piece, r), has_aux=True)(arrays)
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


def _strong(tree: Any) -> Any:
    """The same arrays without weak types: what comes back has none, and would be compiled for a second time."""
    arrays, rest = eqx.partition(tree, eqx.is_array)
    return eqx.combine(jax.tree.map(lambda x: jax.lax.convert_element_type(x, x.dtype), arrays), rest)


def _where(mask: Any, a: Any, b: Any) -> Any:
    return jnp.where(mask.reshape(-1, *[1] * (a.ndim - 1)), a, b)


def _values(learner: Learner, known: Any) -> Any:
    normal = (known - learner.critic_observed.shift) * learner.critic_observed.scale
    return jax.vmap(jax.vmap(learner.critic))(jnp.clip(normal, -10, 10))[..., 0]


def _loss(trained: Any, rows: dict[str, Any], r: Ppo) -> tuple[Any, Any]:
    network, log_noise, critic = trained
    centre = jnp.tanh(jax.vmap(network)(jnp.clip(rows["seen"], -10, 10)))
    z = (rows["unit"] - centre) * jnp.exp(-log_noise)
    change = -0.5 * (z**2).sum(-1) - log_noise.sum() - rows["old"]
    ratio = jnp.exp(change)
    kept = jnp.clip(ratio, 1 - r.clip, 1 + r.clip)
    policy_loss = -jnp.minimum(ratio * rows["gain"], kept * rows["gain"]).mean()
    value = jax.vmap(critic)(jnp.clip(rows["known"], -10, 10))[..., 0]
    value_loss = 0.5 * ((value - rows["target"]) ** 2).mean()
    kl = ((ratio - 1) - change).mean()
    return policy_loss + value_loss - r.entropy * log_noise.sum(), kl
