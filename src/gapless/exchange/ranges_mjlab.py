"""Ranges in mjlab's words: events that call its `dr` functions, and delays for its actuators (names as of mjlab 1.6)."""

import math

from gapless.simulators.log_cholesky import DEVIATIONS
from gapless.simulators.mujoco_cpu import MujocoSimulator
from gapless.simulators.servos import servo_gains

from .ranges import COM, Range, com_shifts, delay_steps
from .terms import Term, Terms, call, not_carried, settings_source

FIELDS = {
    ("joint", "damping"): "dr.joint_damping",
    ("joint", "friction"): "dr.joint_friction",
    ("joint", "armature"): "dr.joint_armature",
    ("joint", "stiffness"): "dr.joint_stiffness",
    ("geom", "sliding"): "dr.geom_friction",
}
REASONS = {
    ("geom", "softness"): "dr has no function for how soft a contact is",
    ("actuator", "gain"): "dr has no function for the gain of an actuator that is no position servo",
    ("body", "inertia"): "dr scales inertia with mass only",
    ("gravity", "tilt_x"): "dr has no function for gravity",
    ("gravity", "tilt_y"): "dr has no function for gravity",
    **{("body", d): "dr stretches a body about its origin, not about its centre" for d in DEVIATIONS[1:7]},
}
LIGHTEST = 1e-3
"""Share of its mass that a body keeps at least."""
AXES = ("t1_range", "t2_range", "t3_range")
HEAD = '''"""Randomization ranges for mjlab, written by Gapless: EVENTS goes into the events of an environment's configuration.

Ranges are what the belief leaves open (mean and two deviations either way), drawn independently of each other.
ACTUATOR_DELAY, where it is given, is for the configuration of the actuators, in physics steps. A model that
`gapless export model` wrote delays its commands already: remove `delay` from its actuators, or leave this out.
"""

from mjlab.envs.mdp import dr
from mjlab.managers.event_manager import EventTermCfg
from mjlab.managers.scene_entity_config import SceneEntityCfg

'''


def mjlab_terms(simulator: MujocoSimulator, ranges: list[Range], base: dict[str, float]) -> Terms:
    """The terms; what is relative is relative to a model with the values of `base`."""
    events = [
        Term(
            (r.name,),
            FIELDS[r.kind, r.quantity],
            "reset",
            {f"{r.kind}_names": r.thing},
            {"ranges": r.limits, "operation": "abs", "distribution": "uniform"},
        )
        for r in ranges
        if (r.kind, r.quantity) in FIELDS and r.thing
    ]
    events += _bodies(simulator, ranges, base) + _servos(simulator, ranges)
    settings = {}
    for r in ranges:
        if r.name == "command.latency":
            low, high = delay_steps(simulator, r)
            settings["ACTUATOR_DELAY"] = {"delay_min_lag": low, "delay_max_lag": high}
        elif r.name == "measurement.latency":
            period_s = simulator.interface.period_s
            low, high = math.floor(r.low / period_s + 1e-9), math.ceil(r.high / period_s - 1e-9)
            settings["OBSERVATION_DELAY"] = {"delay_min_lag": low, "delay_max_lag": high}
    return Terms(events, settings, not_carried(ranges, events, {"command.latency", "measurement.latency"}, REASONS))


def mjlab_source(terms: Terms, asset: str) -> str:
    """A Python file that needs nothing but mjlab."""
    events = "".join(f"    {t.name!a}: {call(t, 'EventTermCfg', asset)},\n" for t in terms.events)
    return f"{HEAD}EVENTS = {{\n{events}}}\n{settings_source(terms)}"


def _bodies(simulator: MujocoSimulator, ranges: list[Range], base: dict[str, float]) -> list[Term]:
    """Mass with its inertia, and centre of mass: one term a body, as two would undo each other."""
    events = []
    for index in sorted({r.index for r in ranges if r.kind == "body" and r.thing}):
        mine = {r.quantity: r for r in ranges if r.kind == "body" and r.index == index}
        params = {}
        dense = [mine[q] for q in ("mass", "alpha") if q in mine]
        if dense:
            params["alpha_range"] = _alphas(dense[0], base[dense[0].name])
        centre = [mine[q] for q in COM if q in mine]
        if centre:
            params |= dict(zip(AXES, com_shifts(simulator, centre, base), strict=True))
        if params:
            names = [r.name for r in (*dense, *centre)]
            select = {"body_names": mine[next(iter(mine))].thing}
            events.append(Term(tuple(names), "dr.pseudo_inertia", "reset", select, params))
    return events


def _alphas(dense: Range, own: float) -> tuple[float, float]:
    """Half the logarithm of how many times heavier than in the base model a body may be."""
    if dense.quantity == "alpha":
        return dense.low - own, dense.high - own
    low, high = (0.5 * math.log(max(limit / own, LIGHTEST)) for limit in dense.limits)
    return low, high


def _servos(simulator: MujocoSimulator, ranges: list[Range]) -> list[Term]:
    events = []
    doubted = [r for r in ranges if r.kind == "actuator" and r.thing and r.quantity in ("gain", "damping")]
    for index in sorted({r.index for r in doubted}):
        mine = {r.quantity: r for r in doubted if r.index == index}
        gains = servo_gains(simulator.model, index)
        if gains is None:
            continue
        stiffness, damping = (
            mine[q].limits if q in mine else (own, own) for q, own in zip(("gain", "damping"), gains, strict=True)
        )
        params = {"kp_range": stiffness, "kd_range": damping, "operation": "abs", "distribution": "uniform"}
        select = {"actuator_names": next(iter(mine.values())).thing}
        events.append(Term(tuple(r.name for r in mine.values()), "dr.pd_gains", "reset", select, params))
    return events
