"""A policy that is never trained: at every control period it plans over a horizon in the simulator and sends the first command.

The worlds that it plans in follow the robot (`following.py`) and remember the commands under way, so that latency is a part
of what it knows. It never looks at the parameters of the world that it acts in, only at its own belief.
"""

from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PRNGKeyArray

from gapless.core import Belief, Block, Params, Signals, Simulator, Task, unstack

from .following import begun, corrected
from .lookahead import KEY, Lookahead, Planning, mapped, stacked
from .plan import Plan
from .worth import Value


def planner(
    simulator: Simulator,
    belief: Belief,
    task: Task,
    recipe: Planning | None = None,
    key: PRNGKeyArray = KEY,
    value: Value | None = None,
) -> "TracedPlanner | SteppedPlanner":
    """The planner for a simulator: compiled whole where that can be traced, else stepped from Python."""
    look = Lookahead(simulator, task, recipe or Planning(), value)
    params = look.params(belief, key)
    if simulator.traceable:
        return TracedPlanner(look, {k: jnp.asarray(v, jnp.float32) for k, v in params.items()})
    return SteppedPlanner(look, params, _Compiled(look))


class TracedPlanner(Block):
    """Plans in a simulator that compiles; runs wherever policies run."""

    look: Lookahead = eqx.field(static=True)
    params: Params

    def init(self, key: PRNGKeyArray) -> dict[str, Any]:
        simulator = self.look.simulator
        worlds, _, _ = simulator.reset(simulator.init(), self._all(), self.params, {}, KEY)
        still = jnp.zeros(simulator.interface.command_width)
        return _strong({"worlds": worlds, "plan": self.look.fresh(), "sent": still, "begun": jnp.zeros((), bool)})

    def step(self, params: Params, memory: Any, inputs: Signals, dt_s: float, key: PRNGKeyArray) -> tuple[Any, Signals]:
        seen = mapped(inputs, self.look.recipe.worlds)
        worlds = self._followed(memory, seen)
        later = self.look.later(memory["plan"])
        plan = jax.tree.map(lambda a, b: jnp.where(memory["begun"], a, b), later, self.look.fresh())

        def turn(plan: Plan, key: PRNGKeyArray) -> tuple[Plan, None]:
            candidates, commands = self.look.proposed(plan, key)
            measured = self._rolled(worlds, seen, commands)
            return self.look.refitted(plan, candidates, measured, commands), None

        plan, _ = jax.lax.scan(turn, _strong(plan), jax.random.split(key, self.look.recipe.method.iterations))
        sent = self.look.first(plan)
        memory = {"worlds": worlds, "plan": plan, "sent": sent, "begun": jnp.ones((), bool)}
        return _strong(memory), unstack(sent, self.look.simulator.interface.command_widths)

    def _followed(self, memory: Any, seen: Signals) -> Any:
        """The worlds as they are now, from those of the last period and what has been measured since."""
        look, simulator = self.look, self.look.simulator
        sent = jnp.broadcast_to(memory["sent"], (look.recipe.worlds, len(memory["sent"])))
        stepped, *told = simulator.step(memory["worlds"], unstack(sent, simulator.interface.command_widths), KEY)
        joints = corrected(simulator, look.recipe.follow, self.params, (told[0], told[1]), seen)
        gone_on = simulator.place(stepped, joints)
        first, _, _ = simulator.reset(
            memory["worlds"], self._all(), self.params, begun(simulator, self.params, seen), KEY
        )
        return jax.tree.map(lambda a, b: jnp.where(memory["begun"], a, b), gone_on, first)

    def _rolled(self, worlds: Any, seen: Signals, commands: Signals) -> Signals:
        def period(worlds: Any, command: Signals) -> tuple[Any, Signals]:
            worlds, measured, _ = self.look.simulator.step(worlds, command, KEY)
            return worlds, measured

        _, after = jax.lax.scan(period, _strong(worlds), commands)
        return stacked(seen, after)

    def _all(self) -> np.ndarray:
        return np.ones(self.look.recipe.worlds, bool)


class _Compiled:
    """The parts of a stepped planner's period that are compiled."""

    def __init__(self, look: Lookahead) -> None:
        self.later, self.first = jax.jit(look.later), jax.jit(look.first)
        self.proposed, self.refitted = jax.jit(look.proposed), jax.jit(look.refitted)


class SteppedPlanner(Block):
    """Plans in a simulator that is stepped from Python, such as MuJoCo: one batch of worlds, used again for every candidate."""

    traceable: ClassVar[bool] = False
    look: Lookahead = eqx.field(static=True)
    params: Params
    compiled: _Compiled = eqx.field(static=True)

    def init(self, key: PRNGKeyArray) -> dict[str, Any]:
        simulator = self.look.simulator
        state, _, _ = simulator.reset(simulator.init(), self._all(), self.params, {}, _STILL)
        still = np.zeros(simulator.interface.command_width, np.float32)
        return {
            "worlds": simulator.snapshot(state),
            "plan": self.look.fresh(),
            "sent": still,
            "begun": np.zeros((), bool),
        }

    def step(self, params: Params, memory: Any, inputs: Signals, dt_s: float, key: PRNGKeyArray) -> tuple[Any, Signals]:
        look = self.look
        seen: Signals = {
            k: np.broadcast_to(np.asarray(v, np.float32), (look.recipe.worlds, len(v))) for k, v in inputs.items()
        }
        worlds = self._followed(memory, seen)
        later = self.compiled.later(memory["plan"])  # also in the first period: what compiles should compile then
        plan = later if memory["begun"] else look.fresh()
        for turn in jax.random.split(key, look.recipe.method.iterations):
            candidates, commands = self.compiled.proposed(plan, turn)
            measured = self._rolled(worlds, seen, {k: np.asarray(v, np.float64) for k, v in commands.items()})
            plan = self.compiled.refitted(plan, candidates, measured, commands)
        sent = np.asarray(self.compiled.first(plan))
        memory = {"worlds": worlds, "plan": plan, "sent": sent, "begun": np.ones((), bool)}
        return memory, unstack(sent, look.simulator.interface.command_widths)

    def _followed(self, memory: Any, seen: Signals) -> Any:
        """A snapshot of the worlds as they are now."""
        look, simulator = self.look, self.look.simulator
        state = simulator.restore(memory["worlds"])
        if memory["begun"]:
            sent = np.broadcast_to(memory["sent"], (look.recipe.worlds, len(memory["sent"])))
            state, *told = simulator.step(state, unstack(sent, simulator.interface.command_widths), _STILL)
            joints = corrected(simulator, look.recipe.follow, self.params, (told[0], told[1]), seen)
            state = simulator.place(state, joints)
        else:
            start = begun(simulator, self.params, seen)
            state, _, _ = simulator.reset(state, self._all(), self.params, start, _STILL)
        return simulator.snapshot(state)

    def _rolled(self, worlds: Any, seen: Signals, commands: Signals) -> Signals:
        state, rows = self.look.simulator.restore(worlds), [seen]
        for k in range(self.look.recipe.horizon):
            state, measured, _ = self.look.simulator.step(state, {n: v[k] for n, v in commands.items()}, _STILL)
            rows.append(measured)
        return {name: np.stack([row[name] for row in rows]).astype(np.float32) for name in seen}

    def _all(self) -> np.ndarray:
        return np.ones(self.look.recipe.worlds, bool)


_STILL = np.zeros(2, np.uint32)


def _strong(tree: Any) -> Any:
    """The same numbers of no weaker type than arrays have, as loops want them."""
    return jax.tree.map(lambda x: jax.lax.convert_element_type(x, jnp.asarray(x).dtype), tree)
