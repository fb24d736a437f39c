"""Conventions that are a matter of degree: found by fitting them, and judged by how far they are from what a gap explains."""

import copy
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from gapless.core import Channel, Interface, Parameter, Simulator
from gapless.core.names import thing_and_quantity
from gapless.simulators import MujocoSimulator

from .as_logged import CLOCK, GRAVITY, LATE, OFFSET, SCALE, AsLogged
from .hypotheses import Hypothesis, unit_hypothesis
from .trial import Doubt, Fitted
from .undoing import COMMANDS, Nothing, Rescale, Shift, Slow
from .units import factors, named

OFFSET_RAD, GRAVITY_RAD, LATE_S = np.radians(5.0), np.radians(20.0), 0.05
"""Beyond these an offset, gravity's direction or a sensor's clock is a bug."""
LATENCY_S, EARLY_S, SLACK_S = 0.05, -0.015, 0.005
"""Delay that latency may explain; no machine answers before it is told to."""
GAINS = (0.5, 1.8)
"""Gains between these, relative to the model's, are a gap: twice is never measured exactly."""
GAIN_SHARE = 0.8
"""Gains are suspicious only near their thresholds, as most machines are a third weaker than their data sheets."""
LEAST = 1.15
"""How many fold the error must fall for a number that is already known to be beyond its threshold."""
ENCODER = 2.0
"""The same for a measurement's scale that is no unit: encoders seldom are, and what contact does may look like it."""
TILTS = {"gravity.tilt_x", "gravity.tilt_y"}


@dataclass(frozen=True)
class Family:
    """Some conventions made parameters, beside those of the model."""

    simulator: AsLogged
    doubt: Doubt
    starts: tuple[dict[str, float], ...]
    """Where to begin: nearby, and where nearby would not lead."""


def plausible(simulator: Simulator, doubt: Doubt) -> Doubt:
    """The prior without what would be a bug: gains beyond half or twice."""
    nominal = {p.name: p.nominal for p in simulator.parameters}
    low, high = doubt.bounds.low.copy(), doubt.bounds.high.copy()
    for k, name in enumerate(doubt.names):
        if name in gain_names(simulator.interface) and nominal[name] > 0:
            low[k], high[k] = max(low[k], GAINS[0] * nominal[name]), min(high[k], GAINS[1] * nominal[name])
    return Doubt(doubt.names, replace(doubt.bounds, low=low, high=high))


def gain_names(interface: Interface) -> set[str]:
    """What the gain of each command is called where it is a parameter."""
    return {f"{c.name}.gain" for c in interface.commands}


def families(simulator: Simulator, doubt: Doubt, base: Fitted) -> dict[str, Family]:
    """All of them together first, then one by one from several starts."""
    kinds = [k for k in ("clock", "gain", "offset", "late", "gravity") if _possible(simulator, k)]
    found = {"all": _family(simulator, doubt, base, kinds, far=False)}
    return found | {k: _family(simulator, doubt, base, [k], far=True) for k in [*kinds, "scale"]}


def _possible(simulator: Simulator, kind: str) -> bool:
    if kind == "gravity":
        return isinstance(simulator, MujocoSimulator) and bool(np.any(simulator.model.opt.gravity))
    return kind != "offset" or bool(_angles(simulator))


def _angles(simulator: Simulator) -> list[str]:
    rad = [c.name for c in simulator.interface.measurements if c.unit == "rad" and c.width == 1]
    return [name for name in rad if simulator.sensed.get(name, ("", "position"))[1] == "position"]


def _family(simulator: Simulator, doubt: Doubt, base: Fitted, kinds: list[str], far: bool) -> Family:
    more, starts = [], [dict(zip(base.names, base.params.tolist(), strict=True))]
    for kind in kinds:
        doubt, extra, begins = _EXTENDING[kind](simulator, doubt, base)
        more += extra
        near, *others = begins
        starts = [{**s, **near} for s in starts] + [{**s, **o} for s in starts for o in others if far]
    return Family(AsLogged(simulator, tuple(more)), doubt, tuple(starts))


Extended = tuple[Doubt, list[Parameter], list[dict[str, float]]]


def _clock(simulator: Simulator, doubt: Doubt, base: Fitted) -> Extended:
    now = base["command.latency"] if "command.latency" in base.names else 0.0
    doubt = doubt.without({"command.latency"}).also(CLOCK, 0.02, 0.15, -0.4, 0.5)
    return doubt, [_parameter(CLOCK, 0.0)], [{CLOCK: s} for s in (now, -0.08, 0.1, -0.18, 0.2)]


def _gain(simulator: Simulator, doubt: Doubt, base: Fitted) -> Extended:
    nominal = {p.name: p.nominal for p in simulator.parameters}
    near, extra = {}, []
    for c in simulator.interface.commands:
        gain, scale = f"{c.name}.gain", f"{c.name}{SCALE}"
        near[scale] = base[gain] / nominal[gain] if gain in base.names and nominal[gain] else 1.0
        doubt = doubt.without({gain}).also(scale, 1.0, 1.0, 0.01, 20.0)
        extra.append(_parameter(scale, 1.0))
    return doubt, extra, [near, dict.fromkeys(near, 0.2), dict.fromkeys(near, 3.0)]


def _offset(simulator: Simulator, doubt: Doubt, base: Fitted) -> Extended:
    names = [name + OFFSET for name in _angles(simulator)]
    for name in names:
        doubt = doubt.also(name, 0.0, 0.3, -3.3, 3.3)
    far = [{name: at} for name in names for at in (np.pi, -np.pi / 2, np.pi / 2)]
    return doubt, [_parameter(name, 0.0) for name in names], [dict.fromkeys(names, 0.0), *far]


def _late(simulator: Simulator, doubt: Doubt, base: Fitted) -> Extended:
    names = [c.name + LATE for c in simulator.interface.measurements]
    for name in names:
        doubt = doubt.also(name, 0.0, 0.05, -0.3, 0.3)
    far = [{name: at} for name in names for at in (-0.1, 0.1)]
    return doubt, [_parameter(name, 0.0) for name in names], [dict.fromkeys(names, 0.0), *far]


def _gravity(simulator: Simulator, doubt: Doubt, base: Fitted) -> Extended:
    assert isinstance(simulator, MujocoSimulator)
    now = simulator.model.opt.gravity
    doubt, strength = doubt.without(TILTS), float(np.linalg.norm(now))
    for name, value in zip(GRAVITY, now, strict=True):
        doubt = doubt.also(name, float(value), 4.0, -1.5 * strength, 1.5 * strength)
    axes = [strength * sign * np.eye(3)[k] for k in range(3) for sign in (-1.0, 1.0)]
    begins: list[dict[str, float]] = [dict(zip(GRAVITY, map(float, g), strict=True)) for g in [now, *axes]]
    return doubt, [_parameter(n, float(g)) for n, g in zip(GRAVITY, now, strict=True)], begins


def _scale(simulator: Simulator, doubt: Doubt, base: Fitted) -> Extended:
    names = [c.name + SCALE for c in simulator.interface.measurements]
    for name in names:
        doubt = doubt.also(name, 1.0, 0.5, 0.1, 10.0)
    far = [{name: at} for name in names for at in (0.4, 2.5)]
    return doubt, [_parameter(name, 1.0) for name in names], [dict.fromkeys(names, 1.0), *far]


_EXTENDING = {
    "clock": _clock, "gain": _gain, "offset": _offset, "late": _late, "gravity": _gravity, "scale": _scale,
}  # fmt: skip


def _parameter(name: str, nominal: float) -> Parameter:
    return Parameter(name, "", nominal, nominal - 100.0, nominal + 100.0, "sensing")


def beyond(simulator: Simulator, found: Fitted, share: float = 1.0) -> Iterator[Hypothesis]:
    """The conventions that are further off than a gap can be, or than a share of that, each alone."""
    values = dict(zip(found.names, found.params.tolist(), strict=True))
    if CLOCK in values:
        yield from _clock_beyond(simulator, values[CLOCK], share)
    for c in simulator.interface.commands:
        yield from _gain_beyond(c, values.get(c.name + SCALE, 1.0), share)
    for c in simulator.interface.measurements:
        yield from _gain_beyond(c, values.get(c.name + SCALE, 1.0), share, measured=True)
        yield from _offset_beyond(c.name, values.get(c.name + OFFSET, 0.0), share)
        lates = [v.get(c.name + LATE, 0.0) for v in (values, _none_early(simulator.interface, values))]
        yield from _late_beyond(simulator.interface, c.name, max(lates, key=abs), share)
    if GRAVITY[0] in values and isinstance(simulator, MujocoSimulator):
        yield from _gravity_beyond(simulator, np.array([values[n] for n in GRAVITY]), share)


def _clock_beyond(simulator: Simulator, late_s: float, share: float) -> Iterator[Hypothesis]:
    longest = max([p.high for p in simulator.parameters if p.name == "command.latency"] + [LATENCY_S])
    if share * EARLY_S <= late_s <= longest + SLACK_S:
        return
    shift = late_s - LATENCY_S / 2
    how = f"answer {late_s * 1e3:.0f} ms after" if late_s > 0 else f"answer {-late_s * 1e3:.0f} ms before"
    yield Hypothesis(
        "clock", (COMMANDS,), f"measurements {how} the commands", f"moving the commands' clock by {shift * 1e3:.0f} ms",
        f"Set command_shift_s = {shift:.3f} in the mapping.", Shift(COMMANDS, shift), LEAST, number=CLOCK,
    )  # fmt: skip


def _gain_beyond(channel: Channel, scale: float, share: float, measured: bool = False) -> Iterator[Hypothesis]:
    share = max(share, GAIN_SHARE)
    if GAINS[0] ** share < scale < GAINS[1] ** share:
        return
    name, unit = channel.name, channel.unit
    # A command's scale multiplies what was logged; a measurement's multiplies what the model says should be logged.
    factor = scale if measured else 1 / scale
    unit_name = named(unit, factor)
    if unit_name:
        yield replace(unit_hypothesis(channel, unit_name, factors(unit)[unit_name]), least=LEAST, number=name + SCALE)
        return
    yield Hypothesis(
        "gain", (name,), f"{name} is logged {factor:.2g} times as large as the model has it",
        f"multiplying it by {1 / factor:.3g}", f"Set scale = {1 / factor:.3g} for {name} in the mapping, or correct the model.",
        Rescale(name, 1 / factor), ENCODER if measured else LEAST, number=name + SCALE,
    )  # fmt: skip


def _offset_beyond(name: str, offset: float, share: float) -> Iterator[Hypothesis]:
    if abs(offset) > share * OFFSET_RAD:
        yield Hypothesis(
            "offset", (name,), f"{name} reads {np.degrees(offset):.1f}° too much", "taking that away",
            f"Set offset = {-offset:.4f} for {name} in the mapping.", Rescale(name, 1.0, -offset), LEAST,
            number=name + OFFSET,
        )  # fmt: skip


def _late_beyond(interface: Interface, name: str, late_s: float, share: float) -> Iterator[Hypothesis]:
    if abs(late_s) > share * LATE_S:
        # Where a joint has a motor of its own, a late sensor and a slow motor look alike but for what other joints feel.
        thing = thing_and_quantity(name)[0]
        own = [c.name for c in interface.commands if thing_and_quantity(c.name)[0] == thing]
        yield Hypothesis(
            "clock", (name,), f"{name} is stamped {abs(late_s) * 1e3:.0f} ms too {'late' if late_s > 0 else 'early'}",
            "moving its clock back", f"Set shift_s = {-late_s:.3f} for {name} in the mapping.", Shift(name, -late_s), LEAST,
            rival=Slow(own[0], late_s) if own and late_s > 0 else None, number=name + LATE,
        )  # fmt: skip


def _none_early(interface: Interface, values: dict[str, float]) -> dict[str, float]:
    """The same clocks told otherwise: commands that take longer and sensors that are all early by as much are one thing, and a
    sensor that seems early beside commands that take long is rather in time, and the others are late."""
    names = [c.name + LATE for c in interface.measurements if c.name + LATE in values]
    delay = max(values.get(CLOCK, values.get("command.latency", 0.0)), 0.0)
    early = min(delay, max(0.0, *(-values[n] for n in names))) if names else 0.0
    return values | {n: values[n] + early for n in names}


def _gravity_beyond(simulator: MujocoSimulator, gravity: np.ndarray, share: float) -> Iterator[Hypothesis]:
    now = simulator.model.opt.gravity
    cosine = gravity @ now / max(np.linalg.norm(gravity) * np.linalg.norm(now), 1e-9)
    angle = float(np.arccos(np.clip(cosine, -1, 1)))
    if angle > share * GRAVITY_RAD:
        right = gravity / np.linalg.norm(gravity) * np.linalg.norm(now)
        spelled = " ".join(f"{g:.2f}" for g in right)
        yield Hypothesis(
            "gravity", (), f"gravity points {np.degrees(angle):.0f}° away from where the model has it", "turning it",
            f'Set <option gravity="{spelled}"/> in the model, or turn its base.', Nothing(), LEAST,
            with_gravity(simulator, right), number=GRAVITY[0],
        )  # fmt: skip


def with_gravity(simulator: MujocoSimulator, gravity: np.ndarray) -> MujocoSimulator:
    """The same simulator with gravity in another direction; what tilts it is dropped, as that knows only straight down."""
    model = copy.copy(simulator.model)
    model.opt.gravity[:] = gravity
    kept = tuple(p for p in simulator.parameters if p.name not in TILTS)
    return MujocoSimulator(model, simulator.interface, kept, simulator.worlds, simulator.around)
