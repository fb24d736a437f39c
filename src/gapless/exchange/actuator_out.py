"""An actuator network leaves as ONNX, or with the extra `torch` as TorchScript; both are compared with it beforehand."""

import json
from pathlib import Path

import numpy as np

from gapless.core import GaplessError, generator_for
from gapless.nets.actuator_network import ActuatorNetwork
from gapless.nets.weights import write_whole

from . import onnx_probe
from .actuator_onnx import ERROR, HIDDEN, TORQUE, VELOCITY, actuator_graph
from .onnx_drawing import NEXT, graph_bytes
from .onnx_policy import LARGEST_DIFFERENCE

JOINTS, STEPS = 5, 16


def export_actuator(network: ActuatorNetwork, path: Path, joint: str = "") -> float:
    """Write .onnx or TorchScript (.pt, .jit); the largest difference of a torque, as a share of the largest torque.

    `joint` is noted in the metadata. A network that comes out differently leaves no file.
    """
    if path.suffix == ".onnx":
        content = onnx_bytes(network, joint)
        difference = _difference(network, onnx_torques(content, network))
    elif path.suffix in (".pt", ".jit"):
        content, answers = _scripted(network)
        difference = _difference(network, answers)
    else:
        raise GaplessError(f"an actuator cannot be written to {path}: its name must end in .onnx, or in .pt for torch.")
    if not difference < LARGEST_DIFFERENCE:
        raise GaplessError(
            f"{path} was not written: its torques differ by {difference:.1e} of the largest, and {LARGEST_DIFFERENCE:.0e} "
            "is allowed. Check the network's scales for extreme values."
        )
    write_whole(path, content)
    return difference


def onnx_bytes(network: ActuatorNetwork, joint: str = "") -> bytes:
    """The content of the ONNX file: the same network gives the same bytes."""
    described = {"joint": joint, "history": list(network.history), "step_s": network.step_s}
    described |= {"adds": True} if network.adds else {}
    about = "One step: target minus position in rad and velocity in rad/s, past steps beside each other, to N m."
    return graph_bytes(actuator_graph(network), about, {"gapless.actuator": json.dumps(described, sort_keys=True)})


def onnx_torques(content: bytes, network: ActuatorNetwork) -> np.ndarray:
    """What onnxruntime answers over the trial's steps."""
    session, answers = onnx_probe.open_session(content), []
    memory = {} if network.recurrence is None else {HIDDEN: np.zeros((JOINTS, network.recurrence.width), np.float32)}
    for features in _trial(network):
        sides = dict(zip((ERROR, VELOCITY), np.split(features, 2, axis=1), strict=True))
        names = [TORQUE, *(NEXT + name for name in memory)]
        torque, *after = session.run(names, sides | memory)
        memory = dict(zip(memory, after, strict=True))
        answers.append(torque)
    return np.array(answers)


def _scripted(network: ActuatorNetwork) -> tuple[bytes, np.ndarray]:
    try:
        from .actuator_torch import script_bytes, script_torques
    except ImportError:
        raise GaplessError("TorchScript needs torch. Install it with `pip install 'gapless[torch]'`.") from None
    content = script_bytes(network)
    return content, script_torques(network, _trial(network))


def _difference(network: ActuatorNetwork, answers: np.ndarray) -> float:
    hidden, expected = None, []
    for features in _trial(network):
        torque, hidden = network.torque(features, hidden)
        expected.append(torque)
    return float(np.max(np.abs(answers - expected)) / np.max(np.abs(expected)))


def _trial(network: ActuatorNetwork) -> list[np.ndarray]:
    """Features as the network is used to them: a few deviations around its own middle."""
    noise = generator_for(0, "actuator").normal(size=(STEPS, JOINTS, network.features))
    spread = 1 / np.where(network.scales.scale == 0, 1.0, network.scales.scale)
    return list((network.scales.shift + 1.5 * noise * spread).astype(np.float32))
