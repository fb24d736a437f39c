"""From commands to MuJoCo's controls: clipped, late to a fraction of a step, and in the order of its actuators."""

from typing import Any

import mujoco
import numpy as np
from jaxtyping import Float

from gapless.core import GaplessError, Interface, Parameter, Params, Signals

from .latency import commands_remembered, hold_weights, integrator_lead_s
from .model import object_name

LATENCY = "command.latency"


class Commanding:
    """The way of an interface's commands into a model, `command.latency` after they were sent."""

    def __init__(self, model: mujoco.MjModel, interface: Interface, parameters: tuple[Parameter, ...]) -> None:
        self._interface, self._controls = interface, model.nu
        self.actuators = [_actuator(model, c.name) for c in interface.commands]
        """Where each command's control stands among the model's."""
        known = [p for p in parameters if p.name == LATENCY]
        self._lead_s = integrator_lead_s(model) if known else 0.0
        longest_s = max((p.high for p in known), default=0.0)
        self.remembered = commands_remembered(longest_s + self._lead_s, interface.period_s)
        """How many commands may be under way at once."""

    def late_s(self, params: Params, worlds: int) -> Any:
        """How long after it was sent a command acts, the integrator's own lead included."""
        return (params[LATENCY] if LATENCY in params else np.zeros(worlds)) + self._lead_s

    def weights(self, late_s: Float[np.ndarray, " some"], substeps: int) -> Float[np.ndarray, "some substep past"]:
        """The share of each substep in which each command under way acts."""
        return hold_weights(late_s, self._interface.period_s, substeps, self.remembered)

    def send(self, past: Float[np.ndarray, "world past command"], command: Signals) -> None:
        """Put a command, inside its limits, before those under way."""
        past[:, 1:] = past[:, :-1]
        column = 0
        for c in self._interface.commands:
            np.clip(np.asarray(command[c.name]), c.low, c.high, out=past[:, 0, column : column + c.width])
            column += c.width

    def changed(self, control: Float[np.ndarray, "world substep command"], changes: Signals) -> np.ndarray:
        """Commands with every `<command>.change` added."""
        commands = self._interface.commands
        if not any(f"{c.name}.change" in changes for c in commands):
            return control
        rows = [changes.get(f"{c.name}.change", np.zeros((len(control), c.width))) for c in commands]
        return control + np.concatenate(rows, axis=1)[:, None]

    def controls(self, control: Float[np.ndarray, "world substep command"]) -> np.ndarray:
        """The same numbers where MuJoCo's actuators expect them."""
        if self.actuators == list(range(self._controls)):
            return np.ascontiguousarray(control)
        full = np.zeros((*control.shape[:2], self._controls))
        full[..., self.actuators] = control
        return full


def _actuator(model: mujoco.MjModel, name: str) -> int:
    for index in range(model.nu):
        if object_name(model, mujoco.mjtObj.mjOBJ_ACTUATOR, index) == name:
            return index
    raise GaplessError(f"the model has no actuator called {name!r}. Name it so, or correct the interface.")
