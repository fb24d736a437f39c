"""The blocks around a batch of MuJoCo worlds, stepped between its substeps."""

from typing import Any

import jax
import numpy as np
from jaxtyping import PRNGKeyArray

from gapless.core import Interface, Signals, unstack

from .around import Around, BlockWorlds
from .mujoco_state import MujocoState
from .named_joints import NamedJoints


class SteppedBlocks:
    """Actuator, residual and sensor in n worlds; what they remember is kept in the state."""

    def __init__(self, around: Around, interface: Interface, joints: NamedJoints, worlds: int) -> None:
        self._interface, self._joints = interface, joints
        self._blocks = {
            name: BlockWorlds(block, worlds)
            for name in ("actuator", "residual", "sensor")
            if (block := getattr(around, name)) is not None
        }

    def init(self, key: PRNGKeyArray) -> dict[str, Any]:
        """Fresh memories."""
        return {name: block.init(key) for name, block in self._blocks.items()}

    def reset(self, state: MujocoState, where: np.ndarray, key: PRNGKeyArray) -> None:
        """Fresh memories in the masked worlds."""
        for name, block in self._blocks.items():
            fresh = block.init(key)
            held = state.memories.get(name)
            state.memories[name] = fresh if held is None else block.chosen(where, fresh, held)

    def unread(self, state: MujocoState, where: np.ndarray, held: Any) -> None:
        """Gives the sensor its memory back in the worlds that are not masked, which must not have been read twice."""
        if held is not None:
            state.memories["sensor"] = self._blocks["sensor"].chosen(where, state.memories["sensor"], held)

    def recalled(self, state: MujocoState) -> dict[str, Any]:
        """What each block remembers, worlds first."""
        return {name: block.gathered(state.memories[name]) for name, block in self._blocks.items()}

    def before_physics(
        self, state: MujocoState, control: np.ndarray, dt_s: float, key: PRNGKeyArray
    ) -> tuple[np.ndarray, Signals]:
        """The commands that the actuator makes of these, and what the residual adds."""
        inputs = unstack(control.mean(axis=1), self._interface.command_widths) | self._joints.read(state.batch)
        if "actuator" in self._blocks:
            out = self._step(state, "actuator", inputs, dt_s, key)
            held = np.concatenate([out[c.name] for c in self._interface.commands], axis=1)
            control = np.repeat(held[:, None], control.shape[1], axis=1)
            inputs |= out
        return control, self._step(state, "residual", inputs, dt_s, key) if "residual" in self._blocks else {}

    def hear(self, state: MujocoState, inputs: Signals, dt_s: float) -> None:
        """What actuator and residual remember of steps before the first: inputs are (world, step, width)."""
        for name in ("actuator", "residual"):
            if name in self._blocks:
                block, held = self._blocks[name], state.memories[name]
                state.memories[name], out = block.hear(state.params, held, inputs, dt_s, jax.random.key(0))
                inputs = inputs | out

    def sensed(self, state: MujocoState, measurement: Signals, key: PRNGKeyArray) -> Signals:
        """What the sensor makes of the truth."""
        if "sensor" not in self._blocks:
            return measurement
        return measurement | self._step(state, "sensor", measurement, self._interface.period_s, key)

    def sensed_in_turn(self, state: MujocoState, seen: Signals) -> Signals:
        """Samples through the sensor, one after the other."""
        if "sensor" not in self._blocks:
            return seen
        samples = range(next(iter(seen.values())).shape[1])
        rows = [self.sensed(state, {name: v[:, k] for name, v in seen.items()}, jax.random.key(0)) for k in samples]
        return {name: np.stack([row[name] for row in rows], axis=1) for name in seen}

    def _step(self, state: MujocoState, name: str, inputs: Signals, dt_s: float, key: PRNGKeyArray) -> Signals:
        memory, out = self._blocks[name].step(state.params, state.memories[name], inputs, dt_s, key)
        state.memories[name] = memory
        return out
