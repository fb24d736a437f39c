"""A workspace: one robot's model, task, parameters and everything the loop has made for it."""

import fcntl
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property
from importlib.resources import files
from pathlib import Path

import mujoco

from gapless.core import GaplessError, Interface, Parameter, Simulator, Store, Task
from gapless.core.artifact import write_text
from gapless.core.inside import require_inside
from gapless.core.loading import load_class
from gapless.core.reading import LARGEST_JSON, plain_object, read_limited
from gapless.simulators import (
    Completed,
    MujocoSimulator,
    complete_model,
    load_model,
    propose_interface,
    propose_parameters,
    read_parameters,
    stretches,
    write_parameters,
)
from gapless.simulators.model_text import files_outside
from gapless.tasks import TASKS, VERBS, generate, is_generated

from .trust import require_trusted, task_claim, task_file, trust

SETTINGS, MODEL, PARAMS, INTERFACE = "workspace.json", "model.xml", "params.toml", "interface.json"
ARTIFACTS, LOCK, SCENARIOS = "artifacts", ".lock", "scenarios"
WRITTEN = (SETTINGS, MODEL, PARAMS, INTERFACE, ARTIFACTS, LOCK, SCENARIOS, "progress", "curves", "mapping.toml")
"""What commands write in a workspace, with everything whose name begins like the report's."""


@dataclass(frozen=True)
class Settings:
    """What was decided when the workspace was made."""

    name: str
    task: str
    model: str
    seed: int = 0
    added: str = ""
    """What the model file left out and was added to it, in one sentence."""


class Workspace:
    """A folder with settings, model, parameters, interface and artifacts."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        if not (folder / SETTINGS).is_file():
            raise GaplessError(f"{folder} is not a workspace. Make one with `gapless new`.")
        require_inside(folder, (*WRITTEN, *(p.name for p in folder.glob("report*"))))
        self.settings = _settings(folder / SETTINGS)
        self.store = Store(folder / ARTIFACTS)

    @property
    def claims(self) -> dict[str, list[str]]:
        """What the workspace names beyond itself and Gapless: the code of its task, and its model's files elsewhere."""
        return {"task": self._task_claim, "model": self._model_claim}

    @cached_property
    def task(self) -> Task:
        require_trusted(self.folder, "task", self._task_claim)
        return find_task(self.settings.task, self.folder, lambda: self.simulator)

    @cached_property
    def interface(self) -> Interface:
        path = self.folder / INTERFACE
        try:
            return Interface.from_dict(plain_object(read_limited(path, LARGEST_JSON)))
        except (GaplessError, ValueError) as error:
            raise GaplessError(f"cannot read the interface in {path}: {error}") from None

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        return read_parameters(self.folder / PARAMS)

    @cached_property
    def model(self) -> mujoco.MjModel:
        claim, path = self._model_claim, self.model_path
        require_trusted(self.folder, "model", claim)
        if path.is_relative_to(self.folder.resolve()):
            return load_model(path, Path(path.anchor) if claim else self.folder)
        return load_model(path)

    @property
    def model_path(self) -> Path:
        """The model's file, in the workspace or where its meshes are."""
        return (self.folder / self.settings.model).resolve()

    @property
    def _task_claim(self) -> list[str]:
        spec = self.settings.task
        written = spec in TASKS or is_generated(spec) or ":" not in spec
        return [] if written else task_claim(self.folder, spec)

    @property
    def _model_claim(self) -> list[str]:
        path = self.model_path
        if path in built_in_models().values():
            return []
        inside = path.is_relative_to(self.folder.resolve())
        return [str(file) for file in files_outside(path, self.folder)] if inside else [str(path)]

    @cached_property
    def simulator(self) -> MujocoSimulator:
        return MujocoSimulator(self.model, self.interface, self.parameters)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Only one command at a time changes a workspace; what an interrupted one left behind is removed."""
        with (self.folder / LOCK).open("w") as handle:
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
    completed, task = complete_model(source), _absolute(task)
    compiled, beside = completed.model, source.with_suffix(".toml")
    proposed = propose_interface(compiled, source.stem, period_s)
    wanted = find_task(task, simulator=lambda: MujocoSimulator(compiled, proposed, ()))
    interface = _with_units(proposed, wanted)
    _require_channels(interface, wanted)
    parameters = read_parameters(beside) if beside.is_file() else propose_parameters(compiled, interface)
    MujocoSimulator(compiled, interface, parameters)  # so that what does not fit is said now
    folder.mkdir(parents=True, exist_ok=True)
    kept = _keep_model(source, completed, folder)
    write_text(folder / PARAMS, beside.read_text() if beside.is_file() else write_parameters(parameters))
    write_text(folder / INTERFACE, json.dumps(interface.to_dict(), indent=1))
    write_text(
        folder / SETTINGS, json.dumps(asdict(Settings(folder.name, task, kept, seed, completed.added)), indent=1)
    )
    made = Workspace(folder)
    if any(made.claims.values()):
        trust(folder, made.claims)  # the user has just typed what it names
    return made


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


def find_task(spec: str, folder: Path = Path(), simulator: Callable[[], Simulator] | None = None) -> Task:
    """A built-in task by name, one made for a simulator by VERB:CHANNEL, or a user's by file.py:Class, relative to a folder."""
    if spec in TASKS:
        return TASKS[spec]()
    if is_generated(spec):
        return _generated(spec, simulator)
    if ":" not in spec:
        raise GaplessError(
            f"there is no task {spec!r}; built in are {', '.join(TASKS)}, made for any robot are "
            f"{', '.join(f'{verb}:CHANNEL' for verb in VERBS)}, others are file.py:Class."
        )
    made = load_class(_absolute(spec, folder), "task")()
    if not isinstance(made, Task):
        raise GaplessError(f"{spec} is not a task: its class must derive from gapless.core.Task.")
    return made


def _generated(spec: str, simulator: Callable[[], Simulator] | None) -> Task:
    if simulator is None:
        raise GaplessError(f"the task {spec!r} is made for a robot's model. Name the model, too.")
    made = simulator()
    return generate(spec, made.interface, stretches(made))


def built_in_models() -> dict[str, Path]:
    """Models that come along, by name."""
    return {p.stem: p.resolve() for p in Path(str(files("gapless.robots"))).glob("models/*.xml")}


def _settings(path: Path) -> Settings:
    """What workspace.json says, each value of the kind that `new_workspace` writes."""
    try:
        found = Settings(**plain_object(read_limited(path, LARGEST_JSON)))
        for field in fields(Settings):
            value = getattr(found, field.name)
            if type(value) is not field.type:
                raise ValueError(f"{field.name} is {value!r:.60}")
        return found
    except (ValueError, TypeError) as error:
        raise GaplessError(f"{path} is damaged: {error}. Restore it, or make a new workspace.") from None


def _absolute(spec: str, folder: Path = Path()) -> str:
    """A task's spec that means the same wherever commands run."""
    place, _, name = spec.rpartition(":")
    return f"{task_file(folder, spec)}:{name}" if place.endswith(".py") else spec


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


def _keep_model(source: Path, completed: Completed, folder: Path) -> str:
    """A copy in the workspace; a model with meshes or textures stays where its files are."""
    compiled = completed.model
    if completed.xml:
        write_text(folder / MODEL, completed.xml)
        return MODEL
    if compiled.nmesh or compiled.nhfield or compiled.ntex or "<include" in source.read_text():
        return str(source.resolve())
    write_text(folder / MODEL, source.read_text())
    return MODEL
