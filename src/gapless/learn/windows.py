"""Logs cut into short windows, each simulated from a start of its own (multiple shooting)."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from gapless.core import Holds, Log, Simulator
from gapless.simulators import holds_of

SLOPE_SAMPLES = 3
"""Samples on either side from which a start's position and velocity are guessed."""
WAIT_S = 0.1
"""How long windows wait after the beginning of a log: its first commands still carry what was sent before."""


@dataclass(frozen=True)
class Windows:
    """Pieces of logs of one length, on their true clocks. Columns are channels' numbers side by side."""

    logs: list[Log]
    seconds: float
    """Length of each."""
    which: Int[np.ndarray, " window"]
    """The log that each window is from."""
    begin_s: Float[np.ndarray, " window"]
    """Where in that log it begins."""
    times: Float[np.ndarray, "window query"]
    """Sample times of all channels from the window's begin on, channel after channel."""
    measured: Float[np.ndarray, "window query"]
    present: Bool[np.ndarray, "window query"]
    """False where a window has fewer samples than others."""
    channel: Int[np.ndarray, " query"]
    """Index into `columns` of each query."""
    columns: tuple[tuple[str, int], ...]
    """Channel and component of each column."""
    start: Float[np.ndarray, "window state"]
    """A first guess of the joint states, positions then velocities."""

    def __len__(self) -> int:
        return len(self.which)

    def holds(self, copies: int) -> Holds:
        """The commands of `copies` worlds per window: all windows, then all windows again."""
        return holds_of(self.logs, np.tile(self.which, copies), np.tile(self.begin_s, copies))

    def some(self, chosen: np.ndarray) -> "Windows":
        """Only the chosen windows."""
        rows = ("which", "begin_s", "times", "measured", "present", "start")
        return Windows(**{**self.__dict__, **{k: getattr(self, k)[chosen] for k in rows}})


def cut(simulator: Simulator, logs: list[Log], seconds: float, every_s: float | None = None) -> Windows | None:
    """Windows of `seconds`, one beginning every `every_s` (default: end to end); None where no log is long enough."""
    pieces = [(index, begin) for index, log in enumerate(logs) for begin in _begins(log, seconds, every_s or seconds)]
    return cut_at(simulator, logs, pieces, seconds) if pieces else None


def cut_all(simulator: Simulator, logs: list[Log], seconds: float) -> Windows | None:
    """Windows end to end, and one of what there is of each log that is shorter than a window: it ended for a reason."""
    each = [(index, log, list(_begins(log, seconds, seconds))) for index, log in enumerate(logs)]
    if not any(begins for *_, begins in each):
        return None
    pieces = [(index, begin) for index, log, begins in each for begin in begins or _short(log)]
    return cut_at(simulator, logs, pieces, seconds)


def cut_at(simulator: Simulator, logs: list[Log], pieces: list[tuple[int, float]], seconds: float) -> Windows:
    """Windows of `seconds` that begin where `pieces` says: each a log's index and a time in it."""
    columns = tuple((c.name, k) for c in simulator.interface.measurements for k in range(c.width))
    clocks = [[_samples(logs[i], name, begin, seconds) for i, begin in pieces] for name, _ in columns]
    most = [max(len(rows) for rows in column) for column in clocks]
    times, measured, present = (np.zeros((len(pieces), sum(most))) for _ in range(3))
    first = 0
    for (name, part), column, width in zip(columns, clocks, most, strict=True):
        for w, ((i, begin), rows) in enumerate(zip(pieces, column, strict=True)):
            here = slice(first, first + len(rows))
            times[w, here] = logs[i].measurement_time[name][rows] - begin
            measured[w, here] = logs[i].measurements[name][rows, part]
            present[w, here] = np.isfinite(measured[w, here])
        first += width
    return Windows(
        logs,
        seconds,
        np.array([i for i, _ in pieces]),
        np.array([begin for _, begin in pieces]),
        times,
        np.nan_to_num(measured),
        present.astype(bool),
        np.repeat(np.arange(len(columns)), most),
        columns,
        np.array([_guess(simulator, logs[i], begin) for i, begin in pieces]),
    )


def thin(windows: Windows, most: int) -> Windows:
    """At most so many of them, evenly chosen."""
    if len(windows) <= most:
        return windows
    return windows.some(np.unique(np.linspace(0, len(windows) - 1, most).astype(int)))


def per_query(windows: Windows, noise: dict[str, float]) -> Float[np.ndarray, " query"]:
    """The noise of each sample of a window."""
    return np.array([noise[name] for name, _ in windows.columns])[windows.channel]


def read_joints(simulator: Simulator) -> tuple[str, ...]:
    """Joints that some sensor reads: their starts are fitted, the others begin where the model has them."""
    read = {joint for joint, _ in simulator.sensed.values()}
    return tuple(j for j in simulator.joints if j in read) or simulator.joints


def _begins(log: Log, seconds: float, every_s: float) -> Float[np.ndarray, " window"]:
    clock = next(iter(log.measurement_time.values()))
    if len(clock) < 2 * SLOPE_SAMPLES + 2:
        return np.empty(0)
    wanted = np.arange(clock[0] + WAIT_S, clock[-1] - seconds + 1e-9, every_s)
    return clock[np.unique(np.searchsorted(clock, wanted).clip(0, len(clock) - 1))] if len(wanted) else wanted


def _short(log: Log) -> list[float]:
    """Where the window of a short log begins, if it has as many samples left as a start is guessed from."""
    clock = next(iter(log.measurement_time.values()))
    left = np.flatnonzero(clock >= clock[0] + WAIT_S - 1e-9) if len(clock) else []
    return [float(clock[left[0]])] if len(left) > 2 * SLOPE_SAMPLES else []


def _samples(log: Log, name: str, begin: float, seconds: float) -> Int[np.ndarray, " sample"]:
    clock = log.measurement_time[name]
    return np.arange(*np.searchsorted(clock, [begin - 1e-9, begin + seconds - 1e-9]))


def _guess(simulator: Simulator, log: Log, begin: float) -> Float[np.ndarray, " state"]:
    """Joint positions and velocities by a parabola through the samples around the begin."""
    found = {(joint, side): 0.0 for side in ("position", "velocity") for joint in read_joints(simulator)}
    for name, (joint, side) in simulator.sensed.items():
        clock, values = log.measurement_time[name], log.measurements[name][:, 0]
        at = int(np.searchsorted(clock, begin - 1e-9))
        near = slice(max(0, at - SLOPE_SAMPLES), at + SLOPE_SAMPLES + 1)
        fit = np.polynomial.polynomial.polyfit(clock[near] - begin, np.nan_to_num(values[near]), 2)
        found[joint, side] = fit[0]
        if side == "position" and (joint, "velocity") not in simulator.sensed.values():
            found[joint, "velocity"] = fit[1]
    return np.array(list(found.values()))
