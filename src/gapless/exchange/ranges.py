"""What a belief leaves open, as ranges that other tools can randomize over."""

from dataclasses import asdict, dataclass
from typing import Any

import jax
import mujoco
import numpy as np

from gapless.core import Belief, GaplessError, Gaussian, Uniform
from gapless.simulators.binding import COUNTS, QUANTITIES
from gapless.simulators.latency import integrator_lead_s
from gapless.simulators.model import object_name
from gapless.simulators.mujoco_cpu import MujocoSimulator

COM = {"com": None, "com_x": 0, "com_y": 1, "com_z": 2, "t1": 0, "t2": 1, "t3": 2}
"""A centre of mass and the axis along which it moves: away from the origin, or one of the frame's."""
DEVIATIONS = 2.0
DRAWS = 8192


@dataclass(frozen=True)
class Range:
    """One parameter with its plausible interval, and the object of the model that it belongs to."""

    name: str
    kind: str
    """body, joint, actuator or geom; gravity, command or measurement for what belongs to none."""
    thing: str
    """The object's name; empty where the model file gives it none."""
    index: int
    """The object's number in the model, −1 for none."""
    quantity: str
    unit: str
    nominal: float
    mean: float
    deviation: float
    low: float
    high: float

    @property
    def limits(self) -> tuple[float, float]:
        return self.low, self.high

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def ranges_of(simulator: MujocoSimulator, belief: Belief) -> list[Range]:
    """Every parameter that the belief doubts, with mean ± 2 deviations inside its limits; noise is no such parameter."""
    mean, deviation, limits = belief.mean(), belief.deviation(), _limits(belief)
    found = []
    for p in simulator.parameters:
        if p.name not in mean or p.name.endswith(".noise") or not float(deviation[p.name]) > 0:
            continue
        kind, thing, index = _located(simulator.model, p.name)
        low, high = (float(np.clip(limit, p.low, p.high)) for limit in limits[p.name])
        numbers = (p.nominal, float(mean[p.name]), float(deviation[p.name]), low, high)
        found.append(Range(p.name, kind, thing, index, p.name.rpartition(".")[2], p.unit, *numbers))
    if not found:
        raise GaplessError(
            "the belief doubts no parameter, so there is nothing to randomize. Learn it from logs first."
        )
    return found


def delay_steps(simulator: MujocoSimulator, latency: Range) -> tuple[int, int]:
    """Whole time steps that surround the latency's range, the integrator's lead included."""
    lead_s, step_s = integrator_lead_s(simulator.model), float(simulator.model.opt.timestep)
    low, high = ((limit + lead_s) / step_s for limit in latency.limits)
    return int(np.floor(low + 1e-9)), int(np.ceil(high - 1e-9))


def com_shifts(simulator: MujocoSimulator, mine: list[Range], base: dict[str, float]) -> list[tuple[float, float]]:
    """By how much a body's centre of mass moves along x, y and z, from where the base model has it."""
    shifts = np.zeros((2, 3))
    for com in mine:
        offset, axis = simulator.model.body_ipos[com.index], COM[com.quantity]
        along = offset / np.linalg.norm(offset) if axis is None else np.eye(3)[axis]
        ends = np.outer(np.array(com.limits) - base[com.name], along)
        shifts += np.sort(ends, axis=0)
    return [(float(low) + 0.0, float(high) + 0.0) for low, high in shifts.T]


def _limits(belief: Belief) -> dict[str, tuple[float, float]]:
    if isinstance(belief, Uniform):
        return dict(zip(belief.names, zip(belief.low, belief.high, strict=True), strict=True))
    mean, deviation = belief.mean(), belief.deviation()
    if isinstance(belief, Gaussian):
        bounds = zip(belief.names, belief.low, belief.high, strict=True)
        return {
            n: (
                max(low, float(mean[n] - DEVIATIONS * deviation[n])),
                min(high, float(mean[n] + DEVIATIONS * deviation[n])),
            )
            for n, low, high in bounds
        }
    draws = belief.sample(jax.random.key(0), DRAWS)
    edges = {n: np.quantile(np.asarray(v), [0.025, 0.975]) for n, v in draws.items()}
    return {n: (float(low), float(high)) for n, (low, high) in edges.items()}


def _located(model: mujoco.MjModel, name: str) -> tuple[str, str, int]:
    thing, _, quantity = name.rpartition(".")
    for kind, _ in QUANTITIES.get(quantity, []):
        for index in range(getattr(model, COUNTS[kind])):
            if object_name(model, kind, index) == thing:
                own = mujoco.mj_id2name(model, kind, index) or ""
                return kind.name.removeprefix("mjOBJ_").lower(), own, index
    return thing, "", -1
