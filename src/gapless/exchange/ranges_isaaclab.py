"""Ranges in Isaac Lab's words: event terms of `isaaclab.envs.mdp`, and delays for its actuators (Isaac Lab 2.2 and later)."""

import math

import mujoco

from gapless.simulators.mujoco_cpu import MujocoSimulator

from .ranges import Range, delay_steps
from .ranges_mjlab import com_shifts
from .servos import driven_joint, servo_gains
from .terms import Literal, Term, Terms, call, identifiers, settings_source

DRAWN = {"operation": "abs", "distribution": "uniform"}
HEAD = '''"""Randomization ranges for Isaac Lab, written by Gapless: EventCfg goes into the events of an environment's configuration.

Ranges are what the belief leaves open (mean and two deviations either way), drawn independently of each other.
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
    carried = {name for t in events for name in t.name.split(" and ")} | {"command.latency"}
    return Terms(events, settings, [_why_not(r) for r in ranges if r.name not in carried])


def isaaclab_source(terms: Terms, asset: str) -> str:
    """A Python file that needs nothing but Isaac Lab."""
    words = identifiers([t.name for t in terms.events])
    events = "".join(f"    {words[t.name]} = {call(t, 'EventTermCfg', asset)}\n" for t in terms.events)
    return f"{HEAD}{events or '    pass'}\n{settings_source(terms)}"


def _of_object(
    simulator: MujocoSimulator, r: Range, ranges: list[Range], base: dict[str, float]
) -> list[Term]:
    """The term of a parameter that belongs to a body, a geom, or a joint's friction and armature."""
    model, names = simulator.model, {"body_names": r.thing}
    match r.kind, r.quantity:
        case "body", "mass":
            drawn = {"mass_distribution_params": r.limits, **DRAWN, "recompute_inertia": True}
            return [Term(r.name, "mdp.randomize_rigid_body_mass", "startup", names, drawn)]
        case "body", "com":
            shifts = dict(zip("xyz", com_shifts(simulator, r, base), strict=True))
            return [Term(r.name, "mdp.randomize_rigid_body_com", "startup", names, {"com_range": shifts})]
        case "body", "inertia" if not any(o.kind == "body" and o.index == r.index and o.quantity == "mass" for o in ranges):
            limits = tuple(limit / base[r.name] for limit in r.limits)
            drawn = {"inertia_distribution_params": limits, "operation": "scale", "distribution": "uniform"}
            return [Term(r.name, "mdp.randomize_rigid_body_inertia", "startup", names, drawn | {"diagonal_only": False})]
        case "geom", "sliding":
            body = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_BODY, int(model.geom_bodyid[r.index]))
            drawn = {"static_friction_range": r.limits, "dynamic_friction_range": r.limits, "restitution_range": (0.0, 0.0)}
            drawn |= {"num_buckets": 64, "make_consistent": True}
            return [Term(r.name, "mdp.randomize_rigid_body_material", "startup", {"body_names": body}, drawn)]
        case "joint", "friction" | "armature":
            drawn = {f"{r.quantity}_distribution_params": r.limits, **DRAWN}
            return [Term(r.name, "mdp.randomize_joint_parameters", "startup", {"joint_names": r.thing}, drawn)]
    return []


def _of_joints(simulator: MujocoSimulator, ranges: list[Range]) -> list[Term]:
    """Stiffness and damping of each joint: the servo's, and what the joint itself damps."""
    model, events = simulator.model, []
    for joint in range(model.njnt):
        name = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_JOINT, joint)
        servos = [i for i in range(model.nu) if (driven_joint(model, i) or (-1, 0))[0] == joint and servo_gains(model, i)]
        passive = [r for r in ranges if (r.kind, r.index, r.quantity) == ("joint", joint, "damping")]
        mine = [r for r in ranges if r.kind == "actuator" and servos and r.index == servos[0]]
        if not name or len(servos) > 1 or not (passive or mine):
            continue
        params: dict[str, Literal] = {}
        gains = (0.0, 0.0)
        if servos:
            gear = (driven_joint(model, servos[0]) or (-1, 1.0))[1]
            own = {r.quantity: r.limits for r in mine}
            stiffness, servo = servo_gains(model, servos[0]) or (0.0, 0.0)
            if "gain" in own:
                params["stiffness_distribution_params"] = tuple(gear**2 * v for v in own["gain"])
            gains = tuple(gear**2 * v for v in own.get("damping", (servo, servo)))
        if passive or any(r.quantity == "damping" for r in mine):
            still = float(model.dof_damping[model.jnt_dofadr[joint]])
            own_damping = passive[0].limits if passive else (still, still)
            params["damping_distribution_params"] = (gains[0] + own_damping[0], gains[1] + own_damping[1])
        called = " and ".join(r.name for r in (*mine, *passive))
        select = {"joint_names": name}
        events.append(Term(called, "mdp.randomize_actuator_gains", "reset", select, params | DRAWN))
    return events


def _gravity(simulator: MujocoSimulator, ranges: list[Range]) -> list[Term]:
    tilts = {r.quantity: r for r in ranges if r.kind == "gravity"}
    if not tilts:
        return []
    strength = math.hypot(*simulator.model.opt.gravity)
    sides = [tilts[q].limits if q in tilts else (0.0, 0.0) for q in ("tilt_x", "tilt_y")]
    low, high = ([strength * math.sin(side[k]) for side in sides] + [-strength] for k in (0, 1))
    drawn = {"gravity_distribution_params": (low, high), **DRAWN}
    called = " and ".join(r.name for r in tilts.values())
    return [Term(called, "mdp.randomize_physics_scene_gravity", "reset", {}, drawn)]


def _why_not(r: Range) -> str:
    reasons = {
        ("actuator", "gain"): "Isaac Lab has no term for the strength of an actuator that is no position servo",
        ("joint", "stiffness"): "Isaac Lab has no term for a joint's own spring",
        ("body", "inertia"): "Isaac Lab's inertia term would undo its mass term",
        ("measurement", "latency"): "Isaac Lab has no delay of observations",
    }
    if r.index >= 0 and not r.thing:
        return f"{r.name}: the object has no name to select it by."
    return f"{r.name}: {reasons.get((r.kind, r.quantity), 'Isaac Lab has no term for it')}."
