"""A trained policy leaves as one ONNX file that needs nothing but onnxruntime on the robot."""

import json
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import numpy as np

import gapless
from gapless.core import Channel, GaplessError, Interface, Signals, generator_for
from gapless.core.artifact import plain
from gapless.nets.policy import NetworkPolicy
from gapless.nets.seeing import SeeingPolicy, command_scale
from gapless.nets.stored_policy import storable_shape
from gapless.nets.weights import write_whole

from .onnx_drawing import graph_bytes
from .onnx_graph import BEGUN, COMMANDS, frames_name, policy_graph
from .onnx_in import FORMAT, INTERFACE, OnnxPolicy, policy_in
from .onnx_networks import remembered_by

LARGEST_DIFFERENCE = 1e-5
"""Of a command, as a share of its range."""
STEPS = 32


def export_policy(policy: SeeingPolicy, path: Path, extra: dict[str, Any] | None = None) -> float:
    """Write the policy as ONNX, `extra` in its metadata; the largest difference to JAX as a share of a command's range.

    It is compared over several steps before the file appears; a policy that differs leaves no file.
    """
    content = onnx_bytes(policy, extra)
    difference = largest_difference(policy, policy_in(content, policy.interface, path))
    if not difference < LARGEST_DIFFERENCE:
        raise GaplessError(
            f"{path} was not written: in onnxruntime the commands differ by {difference:.1e} of their range, and "
            f"{LARGEST_DIFFERENCE:.0e} is allowed. Check the policy's weights and normalisation for extreme values."
        )
    write_whole(path, content)
    return difference


def onnx_bytes(policy: SeeingPolicy, extra: dict[str, Any] | None = None) -> bytes:
    """The content of the file: the same policy gives the same bytes."""
    if not isinstance(policy, NetworkPolicy):
        raise GaplessError(
            f"this policy for {policy.interface.robot!r} is a {type(policy).__name__}, whose steps are not exported. Deploy "
            "it as it is stored, or distil it into a feed-forward student."
        )
    storable_shape(policy)
    described = {
        INTERFACE: policy.interface.to_dict(),
        "gapless.observation": policy.observe.to_dict(),
        "gapless.extra": plain(extra or {}),
    }
    try:
        texts = {name: json.dumps(value, sort_keys=True, allow_nan=False) for name, value in described.items()}
    except (TypeError, ValueError) as error:
        raise GaplessError(
            f"what goes with the policy cannot be written as JSON ({error}). Use plain values."
        ) from None
    texts = {"gapless.format": FORMAT, "gapless.version": gapless.__version__, **texts}
    about = "One control step. Begin with all memory inputs at zero; feed each next.memory output back in."
    return graph_bytes(policy_graph(policy), about, texts)


def largest_difference(policy: SeeingPolicy, exported: OnnxPolicy) -> float:
    """Between the two over random steps: of commands as a share of their range, of remembered measurements of 1."""
    key, worst = jax.random.key(0), 0.0
    memory, kept = policy.init(key), exported.init(key).keys()
    ranges = 2 * command_scale(policy.interface)[1]
    step = eqx.filter_jit(policy.step)
    # Both start each step from one memory, or a policy that reacts strongly to its own commands would drift apart.
    with jax.default_matmul_precision("highest"):
        for seen in _motion(policy.interface):
            before = {name: v for name, v in _memory_as_named(policy, memory).items() if name in kept}
            memory, command = step({}, memory, seen, 0.0, key)
            after, answered = exported.step({}, before, seen, 0.0, key)
            expected = _memory_as_named(policy, memory)
            for name in kept:
                scale = ranges if name == COMMANDS else 1 + np.abs(expected[name])
                worst = np.maximum(worst, _share(after[name] - expected[name], scale))
            gaps = np.concatenate([answered[n] - np.asarray(command[n]) for n in policy.interface.command_names])
            worst = np.maximum(worst, _share(gaps, ranges))
    return float(worst)


def _share(difference: np.ndarray, scale: np.ndarray) -> float:
    return float(np.max(np.abs(difference) / np.maximum(scale, 1e-9), initial=0.0))


def _memory_as_named(policy: SeeingPolicy, memory: dict[str, Any]) -> dict[str, np.ndarray]:
    named = {frames_name(name): np.asarray(v, np.float32) for name, v in memory["frames"].items()}
    named |= {COMMANDS: np.asarray(memory["commands"]), BEGUN: np.asarray(memory["begun"], np.float32).reshape(1)}
    return named | (remembered_by(policy.network, memory.get("hidden")) if isinstance(policy, NetworkPolicy) else {})


def _motion(interface: Interface) -> list[Signals]:
    """Measurements as a random walk from rest, which grows until it crosses the seam of angles many times."""
    noise = generator_for(0, "onnx", interface.robot)
    strides = np.geomspace(1e-3, 1.0, STEPS)
    walks = {
        c.name: np.cumsum(strides[:, None] * noise.normal(size=(STEPS, c.width)), 0) for c in interface.measurements
    }
    return [{c.name: _within(c, walks[c.name][k]) for c in interface.measurements} for k in range(STEPS)]


def _within(channel: Channel, walk: np.ndarray) -> np.ndarray:
    if channel.unit == "rad":
        walk = np.angle(np.exp(1j * walk))
    return np.clip(walk, channel.low, channel.high).astype(np.float32)
