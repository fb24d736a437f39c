"""An ONNX policy as a block: one that Gapless exported, or anybody's own."""

import json
from pathlib import Path
from typing import Any, ClassVar

import equinox as eqx
import numpy as np
from jaxtyping import PRNGKeyArray

from gapless.core import Block, GaplessError, Interface, Params, Signals, stack, unstack
from gapless.core.isolated import run_alone
from gapless.core.reading import plain_object, read_limited

from . import onnx_probe
from .onnx_wiring import Wiring, foreign_wiring, own_wiring

LARGEST = 2**28
"""Bytes of an ONNX file at most."""
FORMAT = "1"
INTERFACE = "gapless.interface"


class OnnxPolicy(Block):
    """A session of onnxruntime on one thread; its memory is a dictionary of arrays by the names of the inputs."""

    traceable: ClassVar[bool] = False
    interface: Interface = eqx.field(static=True)
    wiring: Wiring = eqx.field(static=True)
    session: Any = eqx.field(static=True)
    source: str = eqx.field(static=True)

    def init(self, key: PRNGKeyArray) -> dict[str, np.ndarray]:
        return {c.before.name: np.zeros(c.before.shape, c.before.dtype) for c in self.wiring.memory}

    def step(
        self, params: Params, memory: dict[str, np.ndarray], inputs: Signals, dt_s: float, key: PRNGKeyArray
    ) -> tuple[dict[str, np.ndarray], Signals]:
        """The next memory and the commands, each (width,) float64."""
        seen = {p.name: stack(inputs, p.channels).astype(p.dtype).reshape(p.shape) for p in self.wiring.measured}
        names = [p.name for p in self.wiring.commanded] + [c.after.name for c in self.wiring.memory]
        try:
            found = dict(zip(names, self.session.run(names, seen | memory), strict=True))
        except Exception as error:  # onnxruntime has no common class of errors
            raise GaplessError(f"{self.source} failed in a step: {str(error)[:300]}. Correct the policy.") from None
        commands = {}
        for p in self.wiring.commanded:
            widths = {name: self.interface.channel(name).width for name in p.channels}
            commands |= unstack(np.asarray(found[p.name], np.float64).reshape(sum(widths.values())), widths)
        return {c.before.name: found[c.after.name] for c in self.wiring.memory}, commands


def load_onnx_policy(path: Path, interface: Interface) -> OnnxPolicy:
    """The policy in an ONNX file, after a trial step in a process of its own; raises unless it fits the interface."""
    content = read_limited(path, LARGEST)
    step = tried(content, path)
    if INTERFACE in step["metadata"]:
        interface.require_same(_stored_interface(step["metadata"], path), "this robot", f"the policy {path}")
        wiring = own_wiring(step, interface, path)
    else:
        wiring = foreign_wiring(step, interface, path)
    return OnnxPolicy(interface, wiring, onnx_probe.open_session(content), str(path))


def policy_in(content: bytes, interface: Interface, path: Path) -> OnnxPolicy:
    """The policy in bytes that Gapless made itself, which need no trial."""
    session = onnx_probe.open_session(content)
    return OnnxPolicy(interface, own_wiring(onnx_probe.first_step(session), interface, path), session, str(path))


def tried(content: bytes, path: Path) -> dict[str, Any]:
    """What goes into a file's first step and comes out of it, found in a process of its own."""
    printed = run_alone(onnx_probe.__file__, seconds=2 * onnx_probe.SECONDS, given=content)
    try:
        step = json.loads(printed or "")
    except ValueError:
        raise GaplessError(
            f"{path} needs more than {onnx_probe.SECONDS} s or {onnx_probe.MEMORY_BYTES // 2**30} GiB for its first "
            "step, or brings onnxruntime down. Export the policy again, as a smaller network."
        ) from None
    if "fault" in step:
        raise GaplessError(f"{path} {step['fault']}. Export the policy with standard ONNX operators in one file.")
    return step


def _stored_interface(metadata: dict[str, str], path: Path) -> Interface:
    try:
        if metadata.get("gapless.format") != FORMAT:
            raise ValueError(f"format {metadata.get('gapless.format')!r}, and {FORMAT!r} is what is read")
        return Interface.from_dict(plain_object(metadata[INTERFACE]))
    except (GaplessError, ValueError) as error:
        raise GaplessError(
            f"{path} was written by Gapless but cannot be understood ({str(error)[:200]}). Export the policy again."
        ) from None
