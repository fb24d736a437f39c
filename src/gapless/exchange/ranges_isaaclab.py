"""Ranges in Isaac Lab's words: event terms of `isaaclab.envs.mdp`, and delays for its actuators (names as of 2026)."""

import math

import mujoco

from gapless.simulators.binding import TILTS
from gapless.simulators.log_cholesky import DEVIATIONS
from gapless.simulators.mujoco_cpu import MujocoSimulator
from gapless.simulators.servos import driven_joint, servo_gains

from .ranges import COM, Range, com_shifts, delay_steps
from .terms import Literal, Term, Terms, call, identifiers, not_carried, settings_source

GAINS = ("gain", "damping")
DRAWN = {"operation": "abs", "distribution": "uniform"}
REASONS = {
    ("geom", "softness"): "the geom belongs to the world, which is no part of the asset",
    ("actuator", "gain"): "Isaac Lab has no term for the strength of an actuator that is no position servo",
    ("joint", "stiffness"): "Isaac Lab has no term for a joint's own spring",
    ("body", "inertia"): "Isaac Lab's inertia term would undo its mass term",
    ("body", "alpha"): "Isaac Lab's mass term wants kilograms. Free the mass in place of it",
    **{("body", d): "Isaac Lab has no term that stretches a body" for d in DEVIATIONS[1:7]},
    ("geom", "sliding"): "the geom belongs to the world, which is no part of the asset",
    ("measurement", "latency"): "Isaac Lab has no delay of observations",
}
HEAD = '''"""Randomization ranges for Isaac Lab, written by Gapless: EventCfg is for the events of an environment's configuration.

Ranges are what the belief leaves open (mean and two deviations either way), drawn independently of each other.
DELAYED_PD, where it is given, is for DelayedPDActuatorCfg, in physics steps of the model that was calibrated.
"""

import isaaclab.envs.mdp as mdp
from isaaclab.managers import EventTermCfg, SceneEntityCfg
from isaaclab.utils import configclass


@configclass
class EventCfg:
    """One term for each parameter."""

'''


def isaaclab_terms(simulator: MujocoSimulator, ranges: list[Range], base: dict[str, float]) -> Terms:
    """The terms; what is relative is relative to a model with the values of `base`."""
    events = [t for r in ranges if r.thing for t in _of_object(simulator, r, ranges, base)]
    events += _of_joints(simulator, ranges) + _gravity(simulator, ranges)
    settings: dict[str, dict[str, Literal]] = {}
    for r in ranges:
        if r.name == "command.latency":
            low, high = delay_steps(simulator, r)
            settings["DELAYED_PD"] = {"min_delay": low, "max_delay": high}
    return Terms(events, settings, not_carried(ranges, events, {"command.latency"}, REASONS))


def isaaclab_source(terms: Terms, asset: str) -> str:
    """A Python file that needs nothing but Isaac Lab."""
    words = identifiers([t.name for t in terms.events])
    events = "".join(f"    {words[t.name]} = {call(t, 'EventTermCfg', asset)}\n" for t in terms.events)
    return f"{HEAD}{events or '    pass'}\n{settings_source(terms)}"


def _of_object(simulator: MujocoSimulator, r: Range, ranges: list[Range], base: dict[str, float]) -> list[Term]:
    """The term of a parameter of a body or a geom, or of a joint's friction or armature."""
    names = {f"{r.kind}_names": r.thing}
    with_mass = any((o.kind, o.index, o.quantity) == ("body", r.index, "mass") for o in ranges)
    match r.kind, r.quantity:
        case "body", "mass":
            drawn = {"mass_distribution_params": r.limits, **DRAWN, "recompute_inertia": True}
            return [Term((r.name,), "mdp.randomize_rigid_body_mass", "startup", names, drawn)]
        case "body", quantity if quantity in COM:
            centre = [o for o in ranges if o.kind == "body" and o.index == r.index and o.quantity in COM]
            shifts = dict(zip("xyz", com_shifts(simulator, centre, base), strict=True))
            drawn = {"com_range": shifts}
            term = Term(tuple(o.name for o in centre), "mdp.randomize_rigid_body_com", "startup", names, drawn)
            return [term] if centre[0] == r else []
        case "body", "inertia" if not with_mass:
            limits = (r.low / base[r.name], r.high / base[r.name])
            drawn = {"inertia_distribution_params": limits, **DRAWN, "operation": "scale", "diagonal_only": False}
            return [Term((r.name,), "mdp.randomize_rigid_body_inertia", "startup", names, drawn)]
        case "geom", "sliding":
            return _material(simulator.model, r)
        case "joint", "friction" | "armature":
            drawn = {f"{r.quantity}_distribution_params": r.limits, **DRAWN}
            return [Term((r.name,), "mdp.randomize_joint_parameters", "startup", names, drawn)]
    return []


def _material(model: mujoco.MjModel, r: Range) -> list[Term]:
    body = int(model.geom_bodyid[r.index])
    name = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_BODY, body)
    if body == 0 or not name:
        return []
    drawn: dict[str, Literal] = {"static_friction_range": r.limits, "dynamic_friction_range": r.limits}
    drawn |= {"restitution_range": (0.0, 0.0), "num_buckets": 64, "make_consistent": True}
    return [Term((r.name,), "mdp.randomize_rigid_body_material", "startup", {"body_names": name}, drawn)]


def _of_joints(simulator: MujocoSimulator, ranges: list[Range]) -> list[Term]:
    """Stiffness and damping of each joint: its servo's, and what it damps itself."""
    model, events = simulator.model, []
    for joint in range(model.njnt):
        name = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_JOINT, joint)
        servos = [i for i in range(model.nu) if driven_joint(model, i) == joint and servo_gains(model, i)]
        mine = {r.quantity: r for r in ranges if r.kind == "actuator" and servos == [r.index] and r.quantity in GAINS}
        own = [r for r in ranges if (r.kind, r.index, r.quantity) == ("joint", joint, "damping")]
        if not name or len(servos) > 1 or not (mine or own):
            continue
        params: dict[str, Literal] = {}
        # A servo's units are those of its length, gear times the joint's angle.
        geared = float(model.actuator_gear[servos[0], 0]) ** 2 if servos else 1.0
        if "gain" in mine:
            params["stiffness_distribution_params"] = tuple(geared * v for v in mine["gain"].limits)
        if own or "damping" in mine:
            _, damping = (servo_gains(model, servos[0]) if servos else None) or (0.0, 0.0)
            still = float(model.dof_damping[model.jnt_dofadr[joint]])
            first = mine["damping"].limits if "damping" in mine else (damping, damping)
            second = own[0].limits if own else (still, still)
            params["damping_distribution_params"] = tuple(geared * a + b for a, b in zip(first, second, strict=True))
        drawn, select = tuple(r.name for r in (*mine.values(), *own)), {"joint_names": name}
        events.append(Term(drawn, "mdp.randomize_actuator_gains", "reset", select, params | DRAWN))
    return events


def _gravity(simulator: MujocoSimulator, ranges: list[Range]) -> list[Term]:
    tilts = {r.quantity: r for r in ranges if r.name in TILTS}
    if not tilts:
        return []
    strength = math.hypot(*simulator.model.opt.gravity)
    sides = [tilts[q].limits if q in tilts else (0.0, 0.0) for q in ("tilt_x", "tilt_y")]
    low, high = ([strength * math.sin(side[k]) for side in sides] + [-strength] for k in (0, 1))
    drawn = {"gravity_distribution_params": (low, high), **DRAWN}
    return [Term(tuple(r.name for r in tilts.values()), "mdp.randomize_physics_scene_gravity", "reset", {}, drawn)]
