"""How predictions of real recordings are scored: open loop over windows of 1 s, and over whole logs."""

from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Bool, Float, Int

from gapless.core import Belief, Log, Params, Point, Signals, Simulator
from gapless.learn.foretell import DRAWS, Question, foretold
from gapless.simulators import holds_of

HORIZONS_S = (0.1, 0.25, 0.5, 1.0)
MOVES = {"rad": 0.3, "m": 0.05}
"""How far some joint must move within a window for it to count."""
SLOPE_S = 0.0161
"""Positions so near on either side give the slope with which a window starts."""


@dataclass(frozen=True)
class Pieces:
    """Windows of logs: where they start and what was measured at the horizons."""

    logs: list[Log]
    which: Int[np.ndarray, " window"]
    begin_s: Float[np.ndarray, " window"]
    start: Signals
    times: Float[np.ndarray, "window horizon"]
    """When the horizons' samples were taken, from the window's start on."""
    seen: Float[np.ndarray, "window horizon joint"]
    moves: Bool[np.ndarray, " window"]

    def some(self, chosen: np.ndarray) -> "Pieces":
        """Only the chosen windows."""
        start = {k: v[chosen] for k, v in self.start.items()}
        rows = {k: getattr(self, k)[chosen] for k in ("which", "begin_s", "times", "seen", "moves")}
        return Pieces(self.logs, start=start, **rows)


def pieces(logs: list[Log], every_s: float = 1.0, absolute: bool = False) -> Pieces:
    """Windows of 1 s from every whole second of each log, or as often as `every_s` says."""
    found = [(i, row) for i, log in enumerate(logs) for row in _rows(_clock(log), every_s)]
    clocks = [_clock(log) for log in logs]
    values = [_positions(log) for log in logs]
    at = [[_row_at(clocks[i], clocks[i][row] + h) for h in HORIZONS_S] for i, row in found]
    begin = np.array([clocks[i][row] for i, row in found])
    return Pieces(
        logs,
        np.array([i for i, _ in found]),
        begin,
        _start(logs, found),
        np.array([clocks[i][rows] for (i, _), rows in zip(found, at, strict=True)]) - begin[:, None],
        np.array([values[i][rows] for (i, _), rows in zip(found, at, strict=True)]),
        np.array([_moves(logs[i], row, rows[-1], absolute) for (i, row), rows in zip(found, at, strict=True)]),
    )


@dataclass(frozen=True)
class Predictor:
    """A simulator, what is believed about its parameters, and how unsure starts are."""

    simulator: Simulator
    belief: Belief
    doubt: dict[str, float] = field(default_factory=dict)


def sure(simulator: Simulator, params: Params | None = None) -> Predictor:
    """One simulation, with these parameters or those of the file."""
    values = {k: float(np.asarray(v)) for k, v in (params or {}).items()}
    return Predictor(simulator, Point(tuple(values), np.array([*values.values()])))


def errors(predictor: Predictor, over: Pieces, absolute: bool) -> Float[np.ndarray, "window horizon joint"]:
    """|Predicted − measured| at the horizons; absolute angles where joints hang on each other and the file has them so."""
    asked = Question(over.logs, over.which, over.begin_s, over.start, predictor.doubt, over.times)
    draws = 1 if isinstance(predictor.belief, Point) and not predictor.doubt else DRAWS
    seen = foretold(predictor.simulator, predictor.belief, asked, draws)
    predicted = np.concatenate([seen[n] for n in _channels(over.logs[0])], axis=2)
    return _off(predicted - over.seen, absolute)


def still(over: Pieces, absolute: bool) -> Float[np.ndarray, "window horizon joint"]:
    """The error of "nothing moves"."""
    held = np.concatenate([over.start[n] for n in _channels(over.logs[0])], axis=1)
    return _off(held[:, None] - over.seen, absolute)


def repeated(over: Pieces, absolute: bool) -> Float[np.ndarray, "window horizon joint"]:
    """How differently the machine itself moved when it got the same commands again; NaN where it never did."""
    found = np.full_like(over.seen, np.nan)
    for w, (i, begin) in enumerate(zip(over.which, over.begin_s, strict=True)):
        twins = [log for j, log in enumerate(over.logs) if j != i and _same(log, over.logs[i])]
        if twins:
            rows = [_row_at(_clock(twins[0]), begin + t) for t in (0.0, *over.times[w])]
            moved = _positions(twins[0])[rows[1:]] - _positions(twins[0])[rows[0]]
            held = np.array([over.start[n][w, 0] for n in _channels(over.logs[0])])
            found[w] = _off(moved + held - over.seen[w], absolute)
    return found


def whole_log(predictor: Predictor, log: Log, absolute: bool) -> Float[np.ndarray, " joint"]:
    """RMSE per joint over a whole log, open loop from its first state, with the likeliest parameters."""
    simulator, clock = predictor.simulator, _clock(log)
    values = {k: np.full(1, float(np.asarray(v))) for k, v in predictor.belief.mean().items()}
    holds = holds_of([log], np.zeros(1, int), clock[:1])
    seen = simulator.with_worlds(1).play(values, _start([log], [(0, 0)]), holds, clock[None] - clock[0])
    predicted = np.concatenate([seen[n][0] for n in _channels(log)], axis=1)
    return np.sqrt((_off(predicted - _positions(log), absolute) ** 2).mean(axis=0))


def _rows(clock: np.ndarray, every_s: float) -> list[int]:
    begins = np.arange(clock[0], clock[-1] - HORIZONS_S[-1] + 1e-6, every_s)
    return [_row_at(clock, t) for t in begins]


def _row_at(clock: np.ndarray, time: float) -> int:
    return min(int(np.searchsorted(clock, time - 1e-6)), len(clock) - 1)


def _channels(log: Log) -> list[str]:
    return [f"{joint}.position" for joint in log.interface.joints]


def _clock(log: Log) -> np.ndarray:
    return log.measurement_time[_channels(log)[0]]


def _positions(log: Log) -> Float[np.ndarray, "time joint"]:
    return np.concatenate([log.measurements[n] for n in _channels(log)], axis=1)


def _start(logs: list[Log], found: list[tuple[int, int]]) -> Signals:
    """Measured positions and recorded rates; where there are none, the slopes of the positions."""
    start: Signals = {}
    for joint in logs[0].interface.joints:
        position, rate = f"{joint}.position", f"{joint}.velocity"
        start[position] = np.array([logs[i].measurements[position][row] for i, row in found])
        known = rate in logs[0].measurements
        rates = [logs[i].measurements[rate][row, 0] if known else _slope(logs[i], position, row) for i, row in found]
        start[rate] = np.array(rates)[:, None]
    return start


def _slope(log: Log, name: str, row: int) -> float:
    clock, values = log.measurement_time[name], log.measurements[name][:, 0]
    near = np.flatnonzero(np.abs(clock - clock[row]) <= SLOPE_S)
    if len(near) < 4:  # slow logs
        near = np.arange(max(0, row - 1), max(0, row - 1) + 3)
    return float(np.polynomial.polynomial.polyfit(clock[near] - clock[row], values[near], 2)[1])


def _moves(log: Log, first: int, last: int, absolute: bool) -> bool:
    here = _positions(log)[first : last + 1]
    span = _off(here - here[0], absolute).max(axis=0)
    return any(s > MOVES[log.interface.channel(n).unit] for s, n in zip(span, _channels(log), strict=True))


def _off(difference: np.ndarray, absolute: bool) -> np.ndarray:
    return np.abs(np.cumsum(difference, axis=-1) if absolute else difference)


def _same(one: Log, other: Log) -> bool:
    return all(
        np.shape(one.commands[n]) == np.shape(other.commands[n]) and np.allclose(one.commands[n], other.commands[n])
        for n in one.commands
    )
