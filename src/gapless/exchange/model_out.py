"""The calibrated simulator leaves as one MJCF file that plain MuJoCo runs, and says what it could not take along."""

import re
import textwrap
from dataclasses import dataclass
from pathlib import Path

import jax
import mujoco
import numpy as np

import gapless
from gapless.core import GaplessError
from gapless.core.errors import printable
from gapless.nets.weights import write_whole
from gapless.simulators.binding import OUTSIDE, bind
from gapless.simulators.mujoco_cpu import MujocoSimulator

from .model_delays import delay_commands, delay_measurements
from .model_fields import lost_fields, write_fields
from .model_files import take_along
from .xml_digits import all_digits


@dataclass(frozen=True)
class ModelOut:
    """What was written, and what it could not carry."""

    xml: str
    files: dict[str, bytes]
    """Meshes and textures by name, all in one folder beside the file."""
    left_out: tuple[str, ...]
    """Each in one sentence."""


def export_model(
    simulator: MujocoSimulator, params: dict[str, float], source: Path, out: Path, made_of: str = ""
) -> ModelOut:
    """Write the simulator with these parameters as MJCF; files it needs go to the folder `<name>-files` beside it."""
    if out.suffix != ".xml":
        raise GaplessError(f"the model cannot be written to {out}: MuJoCo reads MJCF from files that end in .xml.")
    folder = f"{out.stem}-files"
    made = model_out(simulator, params, source, folder, made_of)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        if made.files:
            (out.parent / folder).mkdir(exist_ok=True)
    except OSError as error:
        raise GaplessError(f"{out} cannot be written ({error.strerror}). Choose another place.") from None
    for name, content in made.files.items():
        write_whole(out.parent / folder / name, content)
    write_whole(out, made.xml.encode())
    return made


def model_out(
    simulator: MujocoSimulator, params: dict[str, float], source: Path, folder: str, made_of: str = ""
) -> ModelOut:
    """The MJCF text of the simulator with these parameters; those not given are nominal."""
    unknown = set(params) - {p.name for p in simulator.parameters}
    if unknown:
        raise GaplessError(f"the simulator has no parameter {sorted(unknown)[0]!r}. Learn the belief again.")
    values = {p.name: float(params.get(p.name, p.nominal)) for p in simulator.parameters}
    spec, calibrated = mujoco.MjSpec.from_file(str(source)), _calibrated(simulator, values)
    nominal = spec.compile()
    files = take_along(spec, nominal, source, folder)
    write_fields(spec, nominal, calibrated)
    left_out = delay_commands(spec, simulator, values.get("command.latency"))
    left_out += delay_measurements(spec, simulator, values) + _unwritten(simulator, values)
    left_out += _blocks(simulator)
    with all_digits() as precise:
        written = _checked(spec)
        if not precise:
            left_out.append("this MuJoCo writes six digits of every number.")
        left_out += [
            f"{name} differs from the calibrated model."
            for name in (lost_fields(written, calibrated) if precise else [])
        ]
        spec.comment = _comment(simulator, values, left_out, made_of, spec.comment)
        return ModelOut(spec.to_xml(), files, tuple(left_out))


def _calibrated(simulator: MujocoSimulator, values: dict[str, float]) -> mujoco.MjModel:
    """The model with the parameters in it, written by the simulator itself."""
    one = simulator.with_worlds(1)
    params = {name: np.full(1, value) for name, value in values.items()}
    state, _, _ = one.reset(one.init(), np.ones(1, bool), params, {}, jax.random.key(0))
    return state.batch.get_model(0)


def _checked(spec: mujoco.MjSpec) -> mujoco.MjModel:
    """What MuJoCo makes of the text."""
    try:
        spec.compile()
        return mujoco.MjModel.from_xml_string(spec.to_xml(), dict(spec.assets))
    except (ValueError, RuntimeError) as error:
        raise GaplessError(
            f"MuJoCo refuses the calibrated model ({' '.join(str(error).split())[:300]}). Report it with the model."
        ) from None


def _unwritten(simulator: MujocoSimulator, values: dict[str, float]) -> list[str]:
    """Parameters that act neither in the physics nor as a delay or noise of MuJoCo: a sensor's bias, say."""
    channels = simulator.interface.measurement_names
    around = {*OUTSIDE, *(f"{c}.{q}" for c in channels for q in ("latency", "noise"))}
    moved = [p.name for p in simulator.parameters if values[p.name] != p.nominal and p.name not in around]
    return [f"{name} is no attribute of MJCF." for name in moved if not _in_physics(simulator, name)]


def _in_physics(simulator: MujocoSimulator, name: str) -> bool:
    try:
        bind(simulator.model, name)
    except GaplessError:
        return False
    return True


def _blocks(simulator: MujocoSimulator) -> list[str]:
    """Learned parts, which no MJCF can hold."""
    found = {side: getattr(simulator.around, side) for side in ("actuator", "residual", "sensor")}
    return [
        f"the {side} block {type(block).__name__} is learned code around the physics; export it on its own."
        for side, block in found.items()
        if block is not None
    ]


def _comment(simulator: MujocoSimulator, values: dict[str, float], left_out: list[str], made_of: str, own: str) -> str:
    """What a reader of the file must know, as an XML comment; names in it come from strangers' files."""
    lines = [f"Calibrated by Gapless {gapless.__version__}" + (f" from {made_of}." if made_of else ".")]
    lines += [
        f"{p.name} = {values[p.name]:.6g} {p.unit}".rstrip() + f" (nominal {p.nominal:.6g})"
        for p in simulator.parameters
        if values[p.name] != p.nominal
    ]
    if "command.latency" in values:
        lines.append(
            f"An actuator's delay is command.latency and half a time step ({simulator.model.opt.timestep / 2:g} s), by which a "
            "first-order integrator runs ahead: change both together. With integrator RK4 there is no lead."
        )
    lines += [f"Not carried: {sentence}" for sentence in left_out]
    lines += [own.strip()] if own.strip() else []
    wrapped = [part for line in lines for part in textwrap.wrap(_in_comment(line), 110, subsequent_indent="  ")]
    return "\n" + "".join(f"    {line}\n" for line in wrapped) + "  "


def _in_comment(line: str) -> str:
    """On one line, and without the two hyphens that end a comment."""
    return re.sub("-(?=-)", "- ", " ".join(printable(line).split()))
