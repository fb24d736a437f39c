"""What every planner shares: the worlds that it plans in, the commands of its candidates there, and what they return."""

from dataclasses import dataclass, field

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from gapless.core import Belief, GaplessError, Params, Signals, Simulator, Task, unstack
from gapless.nets.policy import command_scale

from .cem import Cem
from .following import Follow
from .knots import one_period_later, unrolled
from .mppi import Mppi
from .plan import Candidates, Plan, advanced
from .worth import Value, horizon_returns, over_draws


@dataclass(frozen=True)
class Planning:
    """Plan anew at every control period, and send the plan's first command."""

    method: Mppi | Cem = field(default_factory=Mppi)
    """How plans are searched for."""
    horizon: int = 50
    """Control periods that are looked ahead."""
    knots: int = 12
    """Numbers per command that make up a plan, with straight lines between them; as many as the horizon at most."""
    samples: int = 128
    """Candidates in each round."""
    draws: int = 1
    """Draws from the belief in which each candidate is tried; with one, the belief's mean."""
    caution: float = 0.0
    """Deviations between its draws that are taken off a candidate's mean return."""
    linger_s: float = 0.2
    """How long the last reward of the horizon is taken to go on."""
    follow: Follow = field(default_factory=Follow)
    """How much is believed of a measurement."""

    def __post_init__(self) -> None:
        if self.horizon < 1 or not 1 <= self.knots <= self.horizon or self.samples < 2 or self.draws < 1:
            raise GaplessError("planning needs 1 ≤ knots ≤ horizon, at least two samples and one draw.")

    @property
    def worlds(self) -> int:
        """Worlds that are simulated side by side."""
        return self.samples * self.draws


class Lookahead:
    """A simulator, a task and a recipe; its methods are pure and can be traced."""

    def __init__(self, simulator: Simulator, task: Task, recipe: Planning, value: Value | None = None) -> None:
        _require_plannable(simulator)
        self.simulator, self.task, self.recipe, self.value = simulator.with_worlds(recipe.worlds), task, recipe, value
        self._later = one_period_later(recipe.knots, recipe.horizon)
        self._unrolled = unrolled(recipe.knots, recipe.horizon)
        self._middle, self._half = command_scale(simulator.interface)
        self.period_s = simulator.interface.period_s

    def params(self, belief: Belief, key: PRNGKeyArray) -> Params:
        """Parameters of all worlds: the belief's mean or draws from it, and sensors without noise."""
        known = {p.name for p in self.simulator.parameters}
        drawn = belief.mean() if self.recipe.draws == 1 else belief.sample(key, self.recipe.draws)
        rows = {k: np.broadcast_to(np.asarray(v), (self.recipe.draws,)) for k, v in drawn.items() if k in known}
        silent = {k: np.zeros(self.recipe.draws) for k in known if k.endswith(".noise")}
        # Draws vary fastest: world i tries candidate i // draws in draw i % draws.
        return {k: np.tile(v, self.recipe.samples) for k, v in (rows | silent).items()}

    def fresh(self) -> Plan:
        """The plan before anything is known."""
        return self.recipe.method.begin(self.recipe.knots, self.simulator.interface.command_width)

    def later(self, plan: Plan) -> Plan:
        """The plan one control period later."""
        return advanced(plan, self.fresh(), self._later)

    def proposed(self, plan: Plan, key: PRNGKeyArray) -> tuple[Candidates, Signals]:
        """Candidates, and their commands in all worlds, each (period, world, width)."""
        candidates = self.recipe.method.propose(plan, self.recipe.samples, key)
        units = jnp.einsum("pk,skc->psc", jnp.asarray(self._unrolled, jnp.float32), candidates)
        rows = self._middle + self._half * jnp.repeat(units, self.recipe.draws, axis=1)
        return candidates, unstack(rows, self.simulator.interface.command_widths)

    def refitted(self, plan: Plan, candidates: Candidates, measured: Signals, commands: Signals) -> Plan:
        """The plan after its candidates were tried; measurements are (period + 1, world, width)."""
        r = self.recipe
        each = horizon_returns(self.task, measured, commands, self.period_s, r.linger_s, self.value)
        return r.method.refit(plan, candidates, over_draws(each, r.draws, r.caution))

    def first(self, plan: Plan) -> Float[Array, " command"]:
        """The command to send now."""
        return jnp.asarray(self._middle) + self._half * jnp.clip(plan.best[0], -1, 1)


def _require_plannable(simulator: Simulator) -> None:
    endless = [c.name for c in simulator.interface.commands if not (np.isfinite(c.low) and np.isfinite(c.high))]
    if endless:
        raise GaplessError(f"command {endless[0]!r} has no limits, so nothing can be planned. Set low and high.")
    if not simulator.sensed:
        raise GaplessError("no channel reads a joint, so a planner cannot tell where the robot is. Add a joint sensor.")


def mapped(measurement: Signals, worlds: int) -> Signals:
    """One measurement in all worlds, each (world, width)."""
    return {k: jnp.broadcast_to(jnp.asarray(v), (worlds, np.shape(v)[-1])) for k, v in measurement.items()}


def stacked(first: Signals, rest: Signals) -> Signals:
    """A measurement before those of all periods."""
    return {k: jnp.concatenate([jnp.asarray(first[k])[None], jnp.asarray(rest[k])]) for k in rest}


KEY = jax.random.key(0)
"""For worlds whose sensors have no noise, chance has nothing to do."""
