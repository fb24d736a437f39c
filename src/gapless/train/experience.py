"""Experience: n worlds drawn from a belief with a policy in them, a batch of control periods at a time."""

from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from gapless.core import Params, Signals, Simulator, by_world
from gapless.nets.seeing import SeeingPolicy
from gapless.simulators import Agent, Loop, Restart, changing
from gapless.simulators.changing import as_now, changed_params

from .learning import Place


class Sight(NamedTuple):
    """What there is to decide by, world by world. Only the first is what a robot measures."""

    observation: Float[Array, "world observation"]
    known: Float[Array, "world known"]
    """The observation, what only a simulator knows, and the params: a critic's input."""
    params: Params


class Held(NamedTuple):
    """Worlds between two batches."""

    state: Any
    carry: Any
    last: Any
    doubts: Any
    """The arrays of the belief and of the starts. They travel with the worlds: a program compiled for some serves the next."""


Decide = Callable[[Any, Any, Sight, PRNGKeyArray], tuple[Any, Any, dict[str, Any]]]
"""(weights, memories, sight, key), over all worlds: the memories, commands in ±1, and what shall be noted of them."""


class Experience:
    """Worlds with a policy in them, whose memory, observations and commands are those of `policy`; `decide` says what it does.

    A batch holds, as (step, world, …): what `decide` noted, `observation` and `known` before the command, `unit`, whether the
    episode was `fresh`, the square `change` of commands; then `reward`, `doubt`, `finished`, `cut`,
    `observation_next` and `known_next`.
    """

    def __init__(self, place: Place, worlds: int, policy: SeeingPolicy, decide: Decide) -> None:
        self.place, self.worlds = place, worlds
        self.simulator = _with_changes(place).with_worlds(worlds)
        self.horizon = round(place.task.seconds / place.simulator.interface.period_s)
        self._params, self._privileged = drawn_params(place), tuple(sorted(_privileged(place)))
        self._changed = changed_params(self.simulator)
        self.observed_width, self.known_width = place.task.observe.width(place.simulator.interface), known_width(place)
        self._policy, self._decide = policy, decide
        self._static = _drawn_from(place)[1]
        self._loop = Loop(self.simulator, Agent(self._look, self._act))
        self._drawn = eqx.filter_jit(self._draw)

    def begin(self, weights: Any, key: PRNGKeyArray, place: Place | None = None) -> Held:
        """All worlds at their starts, with the belief and the starts of its place, or of another of the same form."""
        keys = jax.random.split(key, 4)
        doubts = _drawn_from(place or self.place)[0]
        drawn = params, start = self._drawn(doubts, keys[0])
        carry = {
            "memory": jax.vmap(self._policy.init)(jax.random.split(keys[1], self.worlds)), "params": params, "next": drawn,
            "age": jnp.zeros(self.worlds, int), "observation": jnp.zeros((self.worlds, self.observed_width)),
            "known": jnp.zeros((self.worlds, self.known_width)),
            "unit": jnp.zeros((self.worlds, self.simulator.interface.command_width)),
        }  # fmt: skip
        state, carry, last = self._loop.begin(weights, carry, params, start, keys[2])
        # Episodes begin at staggered ages, so that ends do not come all at once.
        carry = {**carry, "age": jax.random.randint(keys[3], (self.worlds,), 0, self.horizon)}
        held = Held(state, carry, last, doubts)
        return strong(held) if self.simulator.traceable else held

    def drive(self, weights: Any, held: Held, key: PRNGKeyArray, steps: int) -> tuple[Held, dict[str, Any]]:
        """`steps` control periods in every world."""
        keys = jax.random.split(key)
        carry = {**held.carry, "next": self._drawn(held.doubts, keys[0])}
        state, carry, last, batch = self._loop.drive(weights, held.state, carry, held.last, keys[1], steps)
        return Held(state, carry, last, held.doubts), batch

    def _draw(self, doubts: Any, key: PRNGKeyArray) -> tuple[Params, Signals]:
        """What each world begins its next episode with. Drawn once per batch: drawing at every end costs more than a step."""
        keys, task = jax.random.split(key), self.place.task
        belief, starts = eqx.combine(doubts, self._static)
        begins = task.explore(keys[1], self.worlds) if starts is None else starts.draw(task, keys[1], self.worlds)
        return belief.sample(keys[0], self.worlds), begins

    def _known(self, observation: Any, privileged: Signals, params: Params) -> Any:
        params = as_now(params, privileged, self._changed)
        parts = [observation, *(jnp.asarray(privileged[k]) for k in self._privileged)]
        return jnp.concatenate(parts + [params[k][:, None] for k in self._params], axis=-1)

    def _look(self, weights: Any, carry: Any, seen: Signals, privileged: Signals, key: PRNGKeyArray) -> Any:
        task, guard = self.place.task, self.place.guard
        memory, observation = jax.vmap(self._policy.see)(carry["memory"], seen)
        known = self._known(observation, privileged, carry["params"])
        age, finished = carry["age"] + 1, task.finished(seen)
        doubt = jnp.zeros(self.worlds) if guard is None else guard.share(privileged)
        # Where an episode is cut short for doubt, the future keeps its value: nobody gains or loses by the cut itself.
        cut = finished | (age >= self.horizon) | (doubt > 1)
        reward = task.reward(carry["measurement"], carry["command"], seen) * self.simulator.interface.period_s
        drawn, start = carry["next"]
        params = {k: jnp.where(cut, v, carry["params"][k]) for k, v in drawn.items()}
        now = {"memory": memory, "age": age, "observation": observation, "known": known, "params": params}
        came = {"reward": reward, "doubt": jnp.minimum(doubt, 1.0), "finished": finished, "cut": cut}
        came |= {"observation_next": observation, "known_next": known}
        return {**carry, **now}, Restart(cut, params, start), came

    def _act(self, weights: Any, carry: Any, seen: Signals, privileged: Signals, fresh: Any, key: PRNGKeyArray) -> Any:
        blank = jax.vmap(self._policy.init)(jax.random.split(key, self.worlds))
        begun, first = jax.vmap(self._policy.see)(blank, seen)
        memory = by_world(fresh, begun, carry["memory"])
        observation = by_world(fresh, first, carry["observation"])
        known = by_world(fresh, self._known(observation, privileged, carry["params"]), carry["known"])
        params = as_now(carry["params"], privileged, self._changed)
        memory, unit, noted = self._decide(weights, memory, Sight(observation, known, params), key)
        memory, command = jax.vmap(self._policy.send)(memory, unit)
        change = ((jnp.clip(unit, -1, 1) - carry["unit"]) ** 2).mean(-1) * ~fresh
        now = {"memory": memory, "age": jnp.where(fresh, 0, carry["age"]), "unit": jnp.clip(unit, -1, 1)}
        noted = {**noted, "observation": observation, "known": known, "unit": unit, "fresh": fresh, "change": change}
        return {**carry, **now, "command": command, "measurement": seen}, command, noted


def _drawn_from(place: Place) -> tuple[Any, Any]:
    """Belief and starts of a place: their arrays, and the rest."""
    return eqx.partition((place.belief.prepared(), place.starts), eqx.is_array)


def drawn_params(place: Place) -> tuple[str, ...]:
    """The params of the simulator that the belief draws, and those that the task changes."""
    names, changed = {p.name for p in place.simulator.parameters}, changed_params(_with_changes(place))
    return tuple(n for n in place.belief.names if n in names) + tuple(n for n in changed if n not in place.belief.names)


def known_width(place: Place) -> int:
    """Numbers that a critic may be told."""
    return len(known_names(place))


def known_names(place: Place) -> tuple[str, ...]:
    """What a critic may be told, number by number: the observation, privileged signals and params."""
    seen = [f"seen {k}" for k in range(place.task.observe.width(place.simulator.interface))]
    signals = [f"{name} {k}" for name, v in sorted(_privileged(place).items()) for k in range(v.shape[-1])]
    return (*seen, *signals, *drawn_params(place))


def _privileged(place: Place) -> Signals:
    """What only the simulator knows beside its params."""
    one = _with_changes(place).with_worlds(1)

    def begun() -> Signals:
        return one.reset(one.init(), np.ones(1, bool), {}, {}, jax.random.key(0))[2]

    found = jax.eval_shape(begun) if one.traceable else begun()
    return {name: values for name, values in found.items() if name not in changed_params(one)}


def _with_changes(place: Place) -> Simulator:
    return changing(place.simulator, place.task)


def strong(tree: Any) -> Any:
    """The same arrays without weak types: what comes back has none, and would be compiled for a second time."""
    arrays, rest = eqx.partition(tree, eqx.is_array)
    return eqx.combine(jax.tree.map(lambda x: jax.lax.convert_element_type(x, x.dtype), arrays), rest)
