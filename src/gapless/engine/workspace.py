"""A workspace: one robot's model, task, parameters and everything the loop has made for it."""

import fcntl
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from importlib.resources import files
from pathlib import Path

import mujoco

from gapless.core import GaplessError, Interface, Parameter, Store, Task
from gapless.core.artifact import write_text
from gapless.core.loading import load_class
from gapless.simulators import (
    MujocoSimulator,
    load_model,
    propose_interface,
    propose_parameters,
    read_parameters,
    write_parameters,
)
from gapless.tasks import TASKS

SETTINGS, MODEL, PARAMS, INTERFACE = "workspace.json", "model.xml", "params.toml", "interface.json"


@dataclass(frozen=True)
class Settings:
    """What was decided when the workspace was made."""

    name: str
    task: str
    model: str
    seed: int = 0


class Workspace:
    """A folder with settings, model, parameters, interface and artifacts."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        try:
            self.settings = Settings(**json.loads((folder / SETTINGS).read_text()))
        except FileNotFoundError:
            raise GaplessError(f"{folder} is not a workspace. Make one with `gapless new`.") from None
        except (ValueError, TypeError) as error:
            raise GaplessError(f"{folder / SETTINGS} is damaged: {error}.") from None
        self.store = Store(folder / "artifacts")

    @cached_property
    def task(self) -> Task:
        return find_task(self.settings.task)

    @cached_property
    def interface(self) -> Interface:
        try:
            return Interface.from_dict(json.loads((self.folder / INTERFACE).read_text()))
        except (OSError, ValueError) as error:
            raise GaplessError(f"cannot read {self.folder / INTERFACE}: {error}.") from None

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        return read_parameters(self.folder / PARAMS)

    @cached_property
    def model(self) -> mujoco.MjModel:
        return load_model((self.folder / self.settings.model).resolve())

    @cached_property
    def simulator(self) -> MujocoSimulator:
        return MujocoSimulator(self.model, self.interface, self.parameters)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Only one command at a time changes a workspace; what an interrupted one left behind is removed."""
        with (self.folder / ".lock").open("w") as handle:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise GaplessError(f"another command is at work in {self.folder}. Wait for it, or end it.") from None
            self.store.sweep()
            yield


def new_workspace(folder: Path, model: str, task: str, seed: int = 0, period_s: float = 0.02) -> Workspace:
    """Make a workspace; the proposed parameters and interface are files in it, to be edited."""
    if folder.exists() and any(folder.iterdir() if folder.is_dir() else [folder]):
        raise GaplessError(f"{folder} exists and is not empty. Choose another name, or remove it.")
    source = _model_path(model)
    compiled, wanted = load_model(source), find_task(task)
    interface = _with_units(propose_interface(compiled, source.stem, period_s), wanted)
    _require_channels(interface, wanted)
    beside = source.with_suffix(".toml")
    parameters = read_parameters(beside) if beside.is_file() else propose_parameters(compiled, interface)
    MujocoSimulator(compiled, interface, parameters)  # so that what does not fit is said now
    folder.mkdir(parents=True, exist_ok=True)
    kept = _keep_model(source, compiled, folder)
    write_text(folder / PARAMS, beside.read_text() if beside.is_file() else write_parameters(parameters))
    write_text(folder / INTERFACE, json.dumps(interface.to_dict(), indent=1))
    write_text(folder / SETTINGS, json.dumps(asdict(Settings(folder.name, task, kept, seed)), indent=1))
    return Workspace(folder)


def open_workspace(folder: Path) -> Workspace:
    """The workspace in a folder, or the only one directly below it."""
    if (folder / SETTINGS).is_file():
        return Workspace(folder)
    below = sorted(f.parent for f in folder.glob(f"*/{SETTINGS}"))
    if len(below) == 1:
        return Workspace(below[0])
    if below:
        names = ", ".join(f.name for f in below)
        raise GaplessError(f"{folder} holds several workspaces ({names}). Choose one with --workspace.")
    raise GaplessError(
        f"{folder.resolve()} is not a workspace. Make one with `gapless new`, or name it with --workspace."
    )


def find_task(spec: str) -> Task:
    """A built-in task by name, or a user's by file.py:Class."""
    if spec in TASKS:
        return TASKS[spec]()
    if ":" not in spec:
        raise GaplessError(f"there is no task {spec!r}; built in are {', '.join(TASKS)}, others are file.py:Class.")
    made = load_class(spec, "task")()
    if not isinstance(made, Task):
        raise GaplessError(f"{spec} is not a task: its class must derive from gapless.core.Task.")
    return made


def built_in_models() -> dict[str, Path]:
    """Models that come along, by name."""
    return {p.stem: p for p in Path(str(files("gapless.robots"))).glob("models/*.xml")}


def _model_path(model: str) -> Path:
    return built_in_models().get(model, Path(model))


def _with_units(interface: Interface, task: Task) -> Interface:
    """Units that the model file cannot state, from the task that names the same channels."""
    units = {c.name: c.unit for c in task.commands + task.measurements}

    def named(channels: tuple) -> tuple:
        return tuple(replace(c, unit=c.unit or units.get(c.name, "")) for c in channels)

    return replace(interface, commands=named(interface.commands), measurements=named(interface.measurements))


def _require_channels(interface: Interface, task: Task) -> None:
    for channel in task.commands + task.measurements:
        known = interface.command_names + interface.measurement_names
        if channel.name not in known:
            raise GaplessError(
                f"the task {task.name!r} needs the channel {channel.name!r} and the model has only {', '.join(known)}. "
                "Name an actuator or sensor of the model so, or choose another task."
            )


def _keep_model(source: Path, compiled: mujoco.MjModel, folder: Path) -> str:
    """A copy in the workspace; a model with meshes or textures stays where its files are."""
    if compiled.nmesh or compiled.nhfield or compiled.ntex or "<include" in source.read_text():
        return str(source.resolve())
    write_text(folder / MODEL, source.read_text())
    return MODEL
