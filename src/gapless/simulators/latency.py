"""Latency to a fraction of a step: what a delayed, held command is worth on average over each substep."""

import math
from typing import Any

import mujoco
import numpy as np
from jaxtyping import Float


def integrator_lead_s(model: mujoco.MjModel) -> float:
    """How far a first-order integrator runs ahead of the continuous motion: half a time step, nothing for RK4.

    From rest under a constant acceleration a, semi-implicit Euler gives a/2 (t + h/2)² at time t. Commands are delayed by as
    much, so that `command.latency` is the machine's latency whatever the time step.
    """
    return 0.0 if model.opt.integrator == mujoco.mjtIntegrator.mjINT_RK4 else float(model.opt.timestep) / 2


def commands_remembered(longest_s: float, period_s: float) -> int:
    """How many commands, the current one included, can still act within a period."""
    return math.ceil(longest_s / period_s - 1e-9) + 1


def hold_weights(
    latency_s: Float[Any, " world"], period_s: float, substeps: int, remembered: int, xp: Any = np
) -> Float[Any, "world substep past"]:
    """The share of each substep in which each remembered command (newest first) acts; rows sum to one.

    `xp` is NumPy, or JAX's inside a compiled program.
    """
    step_s = period_s / substeps
    begin = np.arange(substeps) * step_s - latency_s[:, None]
    sent = -np.arange(remembered) * period_s
    until = np.append(np.inf, sent[:-1])  # the newest command holds until further notice
    since = np.append(sent[:-1], -np.inf)  # the oldest one held since ever
    overlap = xp.minimum(begin[..., None] + step_s, until) - xp.maximum(begin[..., None], since)
    return xp.clip(overlap, 0, None) / step_s
