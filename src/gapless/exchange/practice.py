"""Worlds for a learner from elsewhere: commands in ±1 go in; what a policy sees and earns, and which episodes end, come out."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float

from gapless.core import Belief, GaplessError, Interface, Observation, Params, Signals, Simulator, Task
from gapless.nets.policy import NetworkPolicy, Shape, new_policy
from gapless.simulators import changing
from gapless.simulators.changing import changed_params


@dataclass(frozen=True)
class Practice:
    """How a task is practised."""

    worlds: int = 64
    """Worlds stepped side by side."""
    explore: bool = True
    """Begin where training episodes begin (`Task.explore`); if not, where the robot's do (`Task.start`)."""

    def __post_init__(self) -> None:
        if self.worlds < 1:
            raise GaplessError(f"{self.worlds} worlds cannot be practised in; use 1 or more.")


class Sight(NamedTuple):
    """All worlds at one moment: what a policy sees, and what only a simulator knows."""

    observation: Float[np.ndarray, "world observation"]
    privileged: Signals
    """Each (world, width)."""
    params: Params
    """What the belief said for this episode, and what has changed since, each (world,)."""

    def known(self) -> Float[np.ndarray, "world known"]:
        """Everything side by side, as a critic may see it; signals and params each in the order of their names."""
        signals = [self.privileged[k] for k in sorted(self.privileged)]
        params = [np.asarray(self.params[k], np.float32)[:, None] for k in sorted(self.params)]
        return np.concatenate([self.observation, *signals, *params], axis=1)


class Turn(NamedTuple):
    """What came of one command."""

    sight: Sight
    reward: Float[np.ndarray, " world"]
    """Times the period, so that an episode's sum is what `Task.score` says of its log."""
    finished: Bool[np.ndarray, " world"]
    """The task ended the episode."""
    timed_out: Bool[np.ndarray, " world"]
    """The time was up, and nothing else."""

    @property
    def ended(self) -> Bool[np.ndarray, " world"]:
        return self.finished | self.timed_out


class Worlds:
    """Episodes of one task side by side, each with parameters and a start of its own. Nothing begins anew unless told to."""

    def __init__(self, simulator: Simulator, belief: Belief, task: Task, practice: Practice) -> None:
        interface = simulator.interface
        self.simulator = changing(simulator, task).with_worlds(practice.worlds)
        self.task, self.practice, self._changed = task, practice, changed_params(self.simulator)
        self.horizon = round(task.seconds / interface.period_s)
        self.age = np.zeros(practice.worlds, int)
        """Periods since each episode began."""
        self._eyes, self._belief = eyes(interface, task.observe), belief.prepared()
        self._blank = jax.vmap(self._eyes.init)(jax.random.split(jax.random.key(0), practice.worlds))
        self._send, self._look = jax.jit(jax.vmap(self._eyes.send)), jax.jit(self._looked)
        self._fresh, self._draw = jax.jit(self._begun), eqx.filter_jit(self._drawn)
        self._advance, self._reset = self._advanced, self._restarted
        if simulator.traceable:
            self._advance, self._reset = jax.jit(self._advanced), jax.jit(self._restarted)
        self._state: Any = None
        self._memory, self._seen, self._params = self._blank, {}, {}
        self._observation: Any = np.zeros((practice.worlds, self.observation_width), np.float32)
        self._noise: np.random.Generator | None = None

    @property
    def observation_width(self) -> int:
        return self.task.observe.width(self.simulator.interface)

    @property
    def command_width(self) -> int:
        return self.simulator.interface.command_width

    def begin(self, noise: np.random.Generator) -> Sight:
        """All worlds anew; every draw from here on comes from this generator."""
        everywhere = np.ones(self.practice.worlds, bool)
        self._noise, self._state, self._spent = noise, self.simulator.init(), everywhere.copy()
        return self.restart(everywhere)

    def restart(self, where: Bool[np.ndarray, " world"]) -> Sight:
        """New episodes in the masked worlds; the others are as they were."""
        params, start = self._next(where)
        self._params = {k: np.where(where, v, self._params.get(k, v)) for k, v in params.items()}
        self._state, seen, privileged = self._reset(self._state, where, params, start, self._key())
        self.age[where] = 0
        before = self._memory, self._seen or seen, self._observation
        self._memory, self._seen, self._observation = self._fresh(where, seen, before)
        return self._sight(privileged)

    def step(self, unit: Float[np.ndarray, "world command"]) -> Turn:
        """One control period later, under commands of which ±1 are the limits; beyond them they are cut off."""
        unit = self._checked(unit)
        self._state, self._memory, self._seen, privileged, looked = self._advance(
            self._state, self._memory, self._seen, unit, self._key()
        )
        self._observation, reward, finished = looked
        self.age += 1
        finished = np.array(finished)
        return Turn(self._sight(privileged), np.array(reward), finished, (self.age >= self.horizon) & ~finished)

    def _sight(self, privileged: Signals) -> Sight:
        copied = {k: np.array(v, np.float32) for k, v in privileged.items()}
        params = {k: v.copy() for k, v in self._params.items()} | {k: copied.pop(k)[:, 0] for k in self._changed}
        return Sight(np.array(self._observation), copied, params)

    def _key(self) -> np.ndarray:
        if self._noise is None:
            raise GaplessError("these worlds have not begun. Call reset first.")
        return self._noise.integers(0, 2**32, 2, np.uint32)

    def _next(self, where: np.ndarray) -> tuple[Params, Signals]:
        """What each world begins its next episode with. Drawn for all at once, and again as soon as one has used its own."""
        if (self._spent & where).any():
            params, start = self._draw(self._belief, self._key())
            self._drawn_next = {k: np.asarray(v) for k, v in params.items()}, start
            self._spent[:] = False
        self._spent |= where
        return self._drawn_next

    def _drawn(self, belief: Belief, key: Any) -> tuple[Params, Signals]:
        keys, worlds = jax.random.split(jax.random.wrap_key_data(key)), self.practice.worlds
        begins = self.task.explore if self.practice.explore else self.task.start
        return belief.sample(keys[0], worlds), begins(keys[1], worlds)

    def _advanced(self, state: Any, memory: Any, before: Signals, unit: Any, key: Any) -> Any:
        memory, command = self._send(memory, unit)
        state, seen, privileged = self._single(self.simulator.step(state, command, self._for_simulator(key)))
        memory, *looked = self._look(memory, before, command, seen)
        return state, memory, seen, privileged, looked

    def _restarted(self, state: Any, where: Any, params: Params, start: Signals, key: Any) -> Any:
        return self._single(self.simulator.reset(state, where, params, start, self._for_simulator(key)))

    def _looked(self, memory: Any, before: Signals, command: Signals, seen: Signals) -> Any:
        memory, observation = jax.vmap(self._eyes.see)(memory, seen)
        reward = self.task.reward(before, command, seen) * self.simulator.interface.period_s
        return memory, observation, reward, self.task.finished(seen)

    def _begun(self, where: Any, seen: Signals, before: tuple[Any, Signals, Any]) -> Any:
        """Memory, measurement and observation; worlds that go on keep theirs, as a reset reads their sensors once more."""
        memory, observation = jax.vmap(self._eyes.see)(self._blank, seen)
        return _mixed(where, (memory, seen, observation), before)

    def _for_simulator(self, key: Any) -> Any:
        return jax.random.wrap_key_data(key) if self.simulator.traceable else key

    def _single(self, moved: tuple[Any, Signals, Signals]) -> tuple[Any, Signals, Signals]:
        """Signals of simulators stepped from Python as compiled ones have them, and as copies."""
        if self.simulator.traceable:
            return moved
        state, *signals = moved
        seen, privileged = ({k: np.array(v, np.float32) for k, v in side.items()} for side in signals)
        return state, seen, privileged

    def _checked(self, unit: Any) -> Float[np.ndarray, "world command"]:
        unit, wanted = np.asarray(unit, np.float32), (self.practice.worlds, self.command_width)
        if unit.shape != wanted:
            raise GaplessError(
                f"commands for {wanted[0]} worlds are {wanted}, one row per world; these are {unit.shape}."
            )
        strange = np.flatnonzero(~np.isfinite(unit).all(axis=1))
        if strange.size:
            raise GaplessError(
                f"the command of world {strange[0]} is {unit[strange[0]]}, not finite: the learner has diverged. "
                "Lower its learning rate."
            )
        return unit


def eyes(interface: Interface, observe: Observation) -> NetworkPolicy:
    """A policy of which only the history, the features and the limits are used, so that all learners see and send alike."""
    return new_policy(interface, observe, Shape((1, 0)), jax.random.key(0))


def _mixed(where: Any, new: Any, old: Any) -> Any:
    return jax.tree.map(lambda a, b: jnp.where(jnp.reshape(where, (-1, *[1] * (a.ndim - 1))), a, b), new, old)
