"""The draw of an episode: a machine, a policy that is rarely kind, the gate's patience, and at most one fault."""

from dataclasses import dataclass, replace

import numpy as np

from gapless.core import Channel, Interface, generator_for
from gapless.robots import Limits
from safety_faults import MACHINE_FAULTS, POLICY_FAULTS

PINNED = 10.5
"""Periods for which a policy that saturates may do so."""
POLICIES = ("kind", "huge", "oscillating", "saturating", "jumping", "resting")


@dataclass(frozen=True)
class Scene:
    """One episode: the machine, the policy and the fault."""

    interface: Interface
    policy: str
    fault: str
    at: int
    """Period in which the fault begins."""
    limits: Limits
    noise: float
    """Of the sensors, in m; 0 for perfect ones."""
    kinematic: bool
    """Whether it stops dead when commands rest, so that perfect sensors repeat themselves."""
    stamped: bool
    """Whether measurements carry their time."""
    seed: int


def scene_of(seed: int, number: int) -> Scene:
    """The episode of that number; every fault comes equally often."""
    rng, faults = generator_for(seed, "scene", number), MACHINE_FAULTS + POLICY_FAULTS
    fault, interface, first = faults[number % len(faults)], _interface(rng), 0
    if fault.startswith(("frozen", "stamp", "clock", "too fast")):
        first = 10  # there must be a past that it contradicts
    at = 0 if fault == "bad start" else int(rng.integers(first, 40))
    policy = "kind" if fault == "policy saturates" else str(rng.choice(POLICIES))
    noise = 1e-3 if fault == "frozen channel" else float(rng.choice([0.0, 1e-4, 1e-3]))
    stamped, kinematic = "stamp" in fault or bool(rng.random() < 0.3), bool(rng.random() < 0.5)
    return Scene(interface, policy, fault, at, _limits(rng, fault, interface), noise, kinematic, stamped, seed + number)


def _limits(rng: np.random.Generator, fault: str, interface: Interface) -> Limits:
    drawn = Limits(late_periods=float(rng.choice([0.5, 1.0, 2.0])), frozen_samples=int(rng.choice([5, 10, 15])))
    return replace(drawn, saturated_s=PINNED * interface.period_s) if fault == "policy saturates" else drawn


def _interface(rng: np.random.Generator) -> Interface:
    commands = []
    for k in range(rng.integers(1, 4)):
        # Some ranges do not contain zero: their rest is their edge.
        low = float(rng.choice([-1.0, -0.2, 0.3])) * 10 ** rng.uniform(-2, 3)
        high = low + 10 ** rng.uniform(-1, 1) * abs(low)
        rate = float("inf") if rng.random() < 0.4 else (high - low) * 10 ** rng.uniform(0, 2)
        commands.append(Channel(f"push{k}", int(rng.integers(1, 4)), "N", low, high, rate))
    measured = [
        Channel(f"place{k}", int(rng.integers(1, 4)), "m", -5.0, 5.0, float(rng.uniform(20, 40)))
        for k in range(rng.integers(1, 4))
    ]
    return Interface("machine", float(rng.choice([0.002, 0.01, 0.02, 0.05])), tuple(commands), tuple(measured))


def nearest_to_zero(channel: Channel) -> np.ndarray:
    """Where a command channel rests."""
    return np.full(channel.width, min(max(0.0, channel.low), channel.high))
