"""Trials: one episode in each of n worlds, where every world has weights and params of its own."""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from gapless.core import Params, Signals
from gapless.nets.policy import NetworkPolicy
from gapless.nets.seeing import SeeingPolicy
from gapless.simulators import Agent, Loop, Restart

from ..learning import Place


class Rows(NamedTuple):
    """Transitions of episodes, as (…, step, …)."""

    seen: Float[Array, "*episode step seen"]
    """What was observed before each command."""
    unit: Float[Array, "*episode step command"]
    """Commands, each limit at ±1."""
    seen_next: Float[Array, "*episode step seen"]
    reward: Float[Array, "*episode step"]
    """Of the period that the command began."""
    alive: Bool[Array, "*episode step"]
    """Whether the episode was still going on; nothing else counts where it was not."""

    @property
    def returns(self) -> Float[Array, "*episode"]:
        """What each episode was worth."""
        return (self.reward * self.alive).sum(-1)


class Actors(NamedTuple):
    """Who acts: in each world a network of its own, through the same eyes."""

    networks: Any
    """Arrays of networks of one form, each with a leading world axis."""
    shift: Float[Array, " seen"]
    scale: Float[Array, " seen"]
    log_noise: Float[Array, " command"]
    """Of the Gaussian added to commands; −∞ where nobody explores."""


class Trials:
    """Episodes of one task in one simulator, from the task's own starts; compiled whole where the simulator is."""

    def __init__(self, place: Place, worlds: int, like: NetworkPolicy, alike: int = 1) -> None:
        """With `alike` groups of worlds, the groups begin their episodes alike: then they can be compared."""
        self.place, self.worlds, self._alike = place, worlds, alike
        self.simulator = place.simulator.with_worlds(worlds)
        self.steps = horizon(place)
        self._static, self._policy = eqx.partition(like.network, eqx.is_array)[1], like
        self._loop = Loop(self.simulator, Agent(self._look, self._act))
        self._begun = eqx.filter_jit(self._begin)

    def run(self, actors: Actors, params: Params, key: PRNGKeyArray) -> Rows:
        """One episode in every world, as (world, step, …)."""
        keys = jax.random.split(key, 3)
        carry, start = self._begun(keys[0])
        state, carry, last = self._loop.begin(actors, carry, params, start, keys[1])
        *_, records = self._loop.drive(actors, state, carry, last, keys[2], self.steps)
        found = jax.tree.map(lambda x: jnp.moveaxis(x, 0, 1), records)
        over = jnp.cumsum(found.pop("finished"), axis=1)
        before = jnp.concatenate([jnp.zeros_like(over[:, :1]), over[:, :-1]], axis=1)
        return Rows(**found, alive=before == 0)

    def _begin(self, key: PRNGKeyArray) -> tuple[Any, Signals]:
        keys = jax.random.split(key)
        memory = jax.vmap(self._policy.init)(jax.random.split(keys[0], self.worlds))
        start = self.place.task.start(keys[1], self.worlds // self._alike)
        return {"memory": memory}, {k: jnp.tile(v, (self._alike, 1)) for k, v in start.items()}

    def _look(self, actors: Actors, carry: Any, seen: Signals, privileged: Signals, key: PRNGKeyArray) -> Any:
        task = self.place.task
        memory, observation = jax.vmap(self._policy.see)(carry["memory"], seen)
        reward = task.reward(carry["measurement"], carry["command"], seen) * self.simulator.interface.period_s
        came = {"reward": reward, "finished": task.finished(seen), "seen_next": observation}
        carry = {**carry, "memory": memory, "observation": observation}
        return carry, Restart(jnp.zeros(self.worlds, bool), {}, {}), came

    def _act(self, actors: Actors, carry: Any, seen: Signals, privileged: Signals, fresh: Any, key: Any) -> Any:
        if "observation" not in carry:  # the first command of all
            memory, observation = jax.vmap(self._policy.see)(carry["memory"], seen)
            carry = {**carry, "memory": memory, "observation": observation}
        observation = carry["observation"]
        networks = eqx.combine(actors.networks, self._static)
        normal = jnp.clip((observation - actors.shift) * actors.scale, -10, 10)
        centre = jnp.tanh(eqx.filter_vmap(lambda network, row: network(row))(networks, normal))
        noise = jnp.exp(actors.log_noise) * jax.random.normal(key, centre.shape)
        unit = jnp.clip(centre + noise, -1, 1)
        memory, command = jax.vmap(self._policy.send)(carry["memory"], unit)
        carry = {**carry, "memory": memory, "command": command, "measurement": seen}
        return carry, command, {"seen": observation, "unit": unit}


def horizon(place: Place) -> int:
    """Control periods of an episode."""
    return round(place.task.seconds / place.simulator.interface.period_s)


def spread(tree: Any, times: int) -> Any:
    """Every row of arrays `times` times in a row: what each of a task's worlds gets."""
    return jax.tree.map(lambda x: jnp.repeat(x, times, axis=0), tree)


def everywhere(tree: Any, worlds: int) -> Any:
    """The same arrays in all worlds."""
    return jax.tree.map(lambda x: jnp.broadcast_to(x, (worlds, *x.shape)), tree)


def together(rows: Rows, each: int) -> Rows:
    """Rows of worlds as (task, episode, step, …), where `each` worlds in a row belong to one task."""
    return Rows(*(x.reshape(-1, each, *x.shape[1:]) for x in rows))


def normal(policy: SeeingPolicy, rows: Rows) -> Rows:
    """Rows whose observations are in deviations, as the policy's network sees them."""
    seen, seen_next = ((x - policy.shift) * policy.scale for x in (rows.seen, rows.seen_next))
    return rows._replace(seen=jnp.clip(seen, -10, 10), seen_next=jnp.clip(seen_next, -10, 10))


def quiet(policy: SeeingPolicy) -> Float[Array, " command"]:
    """The exploration of somebody who does not explore."""
    return jnp.full((policy.interface.command_width,), -jnp.inf)
