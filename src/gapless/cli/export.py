"""`gapless export`: policies, the calibrated model, randomization ranges and actuator networks, for other tools."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import tyro

from gapless.core import Artifact, Belief, GaplessError
from gapless.engine import Recipe, Stages, Workspace, open_workspace
from gapless.engine.actuators import newest_actuator
from gapless.engine.workspace import SETTINGS
from gapless.exchange import export_actuator, export_model, export_policy, export_ranges
from gapless.exchange.ranges_out import Base, Target
from gapless.nets.actuator_network import ActuatorNetwork
from gapless.nets.stored_actuator import load_networks

from .console import say, table
from .options import Common, Group, InWorkspace
from .stored import latest, policy_to_use

Positional = tyro.conf.Positional


@dataclass(frozen=True)
class ExportPolicy(InWorkspace):
    """Write a policy as ONNX, with its interface inside; runs anywhere with onnxruntime alone.

    It is the newest one, unless that failed on the robot and an earlier one scored more there.
    """

    file: Positional[Path] = field(kw_only=True)
    """The file to write, e.g. policy.onnx."""

    def run(self) -> dict[str, Any]:
        workspace = self.open()
        policy = policy_to_use(workspace)
        stages = self.stages(workspace, lambda *_: None)
        difference = export_policy(stages.policy(policy), self.file, {"policy": policy.id})
        say(f"Wrote {self.file}; onnxruntime agrees with it to {difference:.1e}.")
        return {"file": self.file, "policy": policy.id, "difference": difference}


@dataclass(frozen=True)
class FromBelief(Common):
    """Options of what is made of a workspace's newest belief."""

    workspace: Positional[Path] = Path()
    """The workspace folder; the current one, or the only one below it, if not given."""

    def open(self) -> tuple[Workspace, Artifact, Belief]:
        workspace = open_workspace(self.workspace)
        made = latest(workspace, "belief", "Run `gapless learn` first.")
        return workspace, made, Stages(workspace, Recipe(), self.seed).belief(made)


@dataclass(frozen=True)
class ExportModel(FromBelief):
    """Write the calibrated model as MJCF that plain MuJoCo 4 runs, latency included, and say what it cannot carry."""

    out: Path = field(kw_only=True)
    """The file to write, e.g. robot.xml; meshes and textures go to a folder beside it."""

    def run(self) -> dict[str, Any]:
        workspace, made, belief = self.open()
        mean = {name: float(value) for name, value in belief.mean().items()}
        done = export_model(workspace.simulator, mean, workspace.model_path, self.out, f"belief {made.id}")
        rows = [[p.name, p.unit, p.nominal, mean[p.name]] for p in workspace.parameters if p.name in mean]
        table(f"What {self.out} holds", ["parameter", "unit", "nominal", "written"], rows)
        _say_left_out(done.left_out)
        files = [str(self.out), *(f"{self.out.stem}-files/{name}" for name in done.files)]
        say(f"Wrote {', '.join(files)}.")
        return {"files": files, "belief": made.id, "params": mean, "not_carried": list(done.left_out)}


@dataclass(frozen=True)
class ExportRanges(FromBelief):
    """Write what the belief leaves open as randomization ranges, in the words of mjlab or Isaac Lab, and as plain JSON."""

    out: Path = field(kw_only=True)
    """The file to write: .py, with a .json beside it, or only .json or .yaml."""
    target: Annotated[Target, tyro.conf.arg(name="for")] = field(kw_only=True)
    """Whose words to use."""
    asset: str = "robot"
    """What the robot is called in the scene."""
    base: Base = "calibrated"
    """Which model relative terms start from: the one that `export model` writes, or the one you began with."""

    def run(self) -> dict[str, Any]:
        workspace, made, belief = self.open()
        files, terms = export_ranges(workspace.simulator, belief, self.target, self.out, self.asset, self.base)
        rows = [[t.name, t.function, t.mode] for t in terms.events]
        rows += [[name, str(values), "set"] for name, values in terms.settings.items()]
        table(f"What {self.out} randomizes", ["parameters", "term", "when"], rows)
        _say_left_out(terms.left_out)
        say(f"Wrote {', '.join(map(str, files))}.")
        return {"files": files, "belief": made.id, **terms.to_dict()}


@dataclass(frozen=True)
class ExportActuator(Common):
    """Write an actuator network as ONNX or, with the extra `torch`, as TorchScript for Isaac Lab."""

    actuator: Positional[Path] = field(kw_only=True)
    """A workspace, whose newest actuator is taken, or the folder in which one is stored."""
    out: Path = field(kw_only=True)
    """The file to write: .onnx, or .pt for TorchScript."""
    joint: str = ""
    """Whose actuator it is; noted in the file. In a workspace that has several, it says which."""
    number: int | None = None
    """Which of the joints to write, from 0 on, where the folder holds several."""

    def run(self) -> dict[str, Any]:
        folder, joint = self._stored()
        networks, said = load_networks(folder)
        network = self._one(networks)
        difference = export_actuator(network, self.out, joint)
        say(f"Wrote {self.out}; it agrees with the network to {difference:.1e} of the largest torque.")
        if network.adds:
            say("Its torque is a correction: add it to that of the rung below.")
        effort = said.get("command") == "effort"
        if effort:
            say("Its input `error` is the command itself, which is an effort and no position.")
        described = {"history": list(network.history), "step_s": network.step_s, "adds": network.adds}
        described |= {"joint": joint, "sees": "command" if effort else "error"}
        return {"file": self.out, "difference": difference, **described}

    def _stored(self) -> tuple[Path, str]:
        """Where the actuator is stored, and whose it is."""
        if not (self.actuator / SETTINGS).is_file():
            return self.actuator, self.joint
        made = newest_actuator(open_workspace(self.actuator), self.joint)
        return made.folder, str(made.figures["joint"])

    def _one(self, networks: tuple[ActuatorNetwork, ...]) -> ActuatorNetwork:
        if not networks:
            raise GaplessError(f"{self.actuator} holds the params of an actuator without a network: nothing to write.")
        number = 0 if self.number is None and len(networks) == 1 else self.number
        if number is None or number not in range(len(networks)):
            raise GaplessError(
                f"{self.actuator} holds networks of {len(networks)} joints. Say which with --number 0 … {len(networks) - 1}."
            )
        return networks[number]


@dataclass(frozen=True)
class Export(Group):
    """Write something that other tools read: a policy, the calibrated model, randomization ranges, an actuator."""

    what: (
        Annotated[ExportPolicy, tyro.conf.subcommand(name="policy")]
        | Annotated[ExportModel, tyro.conf.subcommand(name="model")]
        | Annotated[ExportRanges, tyro.conf.subcommand(name="ranges")]
        | Annotated[ExportActuator, tyro.conf.subcommand(name="actuator")]
    )


KINDS = ("policy", "model", "ranges", "actuator")


def with_kind(arguments: list[str]) -> list[str]:
    """`export policy.onnx` means `export policy policy.onnx`."""
    if arguments[:1] != ["export"] or arguments[1:2] in ([], ["-h"], ["--help"]) or arguments[1] in KINDS:
        return arguments
    return ["export", "policy", *arguments[1:]]


def _say_left_out(sentences: Iterable[str]) -> None:
    for sentence in sentences:
        say(f"not carried: {sentence}")
