"""One episode as the robot, its data sheet and the learned model had it: joint positions under the same commands."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from gapless.core import Belief, GaplessError, Log, Simulator, nominal_belief
from gapless.learn.least_squares import fit_starts
from gapless.learn.noise import sensor_noise
from gapless.learn.shooting import Shooting, centre_of
from gapless.learn.windows import Windows, cut, per_query
from gapless.simulators import MujocoSimulator

STRETCH_S = 1.0
"""How long the simulations run before they are put back onto the robot; a balanced pole forgives no longer."""
PREFIX_S = 0.2
"""Time before each stretch from which its start is fitted."""
LONGEST_S = 8.0
"""What is shown of an episode at most."""


@dataclass(frozen=True)
class Take:
    """Three motions on one clock, each a row of MuJoCo's qpos per frame."""

    robot: Float[np.ndarray, "frame position"]
    nominal: Float[np.ndarray, "frame position"]
    identified: Float[np.ndarray, "frame position"]
    share: Float[np.ndarray, " frame"]
    """How much of its stretch has passed, from 0 to 1."""


def take(simulator: MujocoSimulator, log: Log, belief: Belief, frame_s: float) -> Take:
    """The log and its simulations, a frame every `frame_s`."""
    nominal = nominal_belief(simulator.parameters)
    motions, share = beside(
        simulator, [log], {"nominal": (simulator, nominal), "identified": (simulator, belief)}, frame_s
    )
    return Take(**motions, share=share)


def beside(
    simulator: MujocoSimulator, logs: list[Log], models: Mapping[str, tuple[Simulator, Belief]], frame_s: float
) -> tuple[dict[str, Float[np.ndarray, "frame position"]], Float[np.ndarray, " frame"]]:
    """The logs, as `robot`, and what each model makes of their commands; and how much of its stretch each frame has behind it."""
    if not any(side == "position" for _, side in simulator.sensed.values()):
        raise GaplessError("the robot measures no joint's position, so its motion cannot be drawn.")
    windows = cut(simulator, logs, PREFIX_S + STRETCH_S, STRETCH_S)
    if windows is None:
        raise GaplessError(f"the episode is shorter than {PREFIX_S + STRETCH_S:g} s, too short for a film.")
    windows = windows.some(np.arange(min(len(windows), int(LONGEST_S / STRETCH_S))))
    times = PREFIX_S + np.arange(0.0, STRETCH_S - 1e-9, frame_s)
    level = per_query(windows, sensor_noise(logs))
    values = {"robot": windows.measured} | {k: _predicted(*model, windows, level) for k, model in models.items()}
    motions = {name: _poses(simulator, windows, found, times) for name, found in values.items()}
    return motions, np.tile((times - PREFIX_S) / STRETCH_S, len(windows))


def _predicted(
    simulator: Simulator, belief: Belief, windows: Windows, level: Float[np.ndarray, " query"]
) -> Float[np.ndarray, "window query"]:
    names, centre = centre_of(belief)
    shooting = Shooting(simulator, windows, names, nominal_belief(simulator.parameters).mean())
    prefix = (windows.times <= PREFIX_S + 1e-9).all(axis=0).astype(float)
    return windows.measured + fit_starts(shooting, centre, level, prefix)[1].residual


def _poses(
    simulator: MujocoSimulator, windows: Windows, values: Float[np.ndarray, "window query"], times: np.ndarray
) -> Float[np.ndarray, "frame position"]:
    """Joint positions at `times` of every window, one window after the other; what nobody measures stays at rest."""
    poses = np.tile(simulator.model.qpos0, (len(windows), len(times), 1))
    units = {c.name: c.unit for c in simulator.interface.measurements}
    for k, (name, _) in enumerate(windows.columns):
        joint, side = simulator.sensed.get(name, ("", ""))
        if side == "position":
            here, at = windows.channel == k, simulator.model.joint(joint).qposadr[0]
            for w in range(len(windows)):
                seen = here & windows.present[w]
                motion = np.unwrap(values[w, seen]) if units[name] == "rad" else values[w, seen]
                poses[w, :, at] = np.interp(times, windows.times[w, seen], motion)
    return poses.reshape(-1, poses.shape[-1])
