"""Whether a policy keeps up with its robot: how long a decision takes, against the control period."""

import time
from dataclasses import dataclass

import equinox as eqx
import jax
import numpy as np

from gapless.core import Block, Interface


@dataclass(frozen=True)
class Pace:
    """Seconds per decision."""

    median_s: float
    worst_s: float
    period_s: float
    """Seconds that there are."""
    cpu_s: float
    """Processor time of a decision, on average: what it would take if nothing else ran on the machine, on one core."""

    @property
    def keeps_up(self) -> bool:
        return self.worst_s < self.period_s

    def __str__(self) -> str:
        says = "keeps up" if self.keeps_up else "does not keep up"
        return (
            f"{1e3 * self.median_s:.1f} ms per decision (at worst {1e3 * self.worst_s:.1f} ms) "
            f"of {1e3 * self.period_s:.0f} ms: {says}"
        )


def pace(policy: Block, interface: Interface, decisions: int = 20) -> Pace:
    """The time that decisions take on this machine, without the first, which compiles."""
    step = eqx.filter_jit(policy.step) if getattr(policy, "traceable", True) else policy.step
    memory, seen = (
        policy.init(jax.random.key(0)),
        {c.name: np.zeros(c.width, np.float32) for c in interface.measurements},
    )
    taken, busy_s = [], 0.0
    for k, key in enumerate(jax.random.split(jax.random.key(1), decisions + 1)):
        busy_s = time.process_time() if k == 1 else busy_s
        began = time.perf_counter()
        memory, command = step({}, memory, seen, interface.period_s, key)
        jax.block_until_ready(command)
        taken.append(time.perf_counter() - began)
    cpu_s = (time.process_time() - busy_s) / decisions
    return Pace(float(np.median(taken[1:])), float(np.max(taken[1:])), interface.period_s, cpu_s)
