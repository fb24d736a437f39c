"""What holds a motion: the reach of the commands, where they rest, and a pull that keeps limited channels off their limits."""

import numpy as np
from jaxtyping import Float

from gapless.core import Channel, Holds, Interface, Simulator

from .motions import Reach

PLACES = ("m", "rad")
"""Units of commands that say where to be, and not how hard to push."""
PUSH_S = 0.2
"""How long commands are tried to see what they move."""


def reach_of(simulator: Simulator, limits: Interface) -> Reach:
    """The commands that both simulator and robot allow; a command without limits gets those that its simulation bears."""
    pairs = [(c, limits.channel(c.name)) for c in simulator.interface.commands for _ in range(c.width)]
    low = np.array([max(a.low, b.low) for a, b in pairs])
    high = np.array([min(a.high, b.high) for a, b in pairs])
    most = np.array([min(a.rate, b.rate) for a, b in pairs]) * simulator.interface.period_s
    rest = np.clip(_rest(simulator), low, high)
    endless = ~np.isfinite(high - low)
    if endless.any():
        bearable = _bearable(simulator, limits, rest)
        low, high = np.maximum(low, rest - bearable), np.minimum(high, rest + bearable)
    return Reach(low, high, rest, most)


def pull_of(
    simulator: Simulator, limits: Interface, reach: Reach, strength: float, margin: float
) -> tuple[Float[np.ndarray, "command measurement"], Float[np.ndarray, " measurement"]]:
    """Gains from limited channels to the commands that move them, and the channels' middles.

    At the margin, the pull is `strength` of the command's half range. A place is held by its servo and needs none.
    """
    interface, half = simulator.interface, (reach.high - reach.low) / 2
    moved = _pushed(simulator, reach.rest, np.diag(np.where(reach.high > reach.rest, reach.high - reach.rest, -half)))
    columns = [limits.channel(c.name) for c in interface.measurements for _ in range(c.width)]
    middle = np.array([(c.low + c.high) / 2 if np.isfinite(c.low + c.high) else 0.0 for c in columns])
    room = np.array([c.high - m for c, m in zip(columns, middle, strict=True)])
    answer = (moved[1:] - moved[:1]) / np.where(np.isfinite(room), room, np.inf)
    strongest = np.abs(answer) == np.abs(answer).max(axis=0, keepdims=True)
    pushes = np.array([c.unit not in PLACES for c in interface.commands for _ in range(c.width)])
    pull = np.sign(answer) * strongest * (np.abs(answer) > 1e-9) * (pushes * half * strength)[:, None]
    return pull / np.where(np.isfinite(room), margin * room, np.inf), middle


def _rest(simulator: Simulator) -> Float[np.ndarray, " command"]:
    """Nothing, or for a place where the model begins: the measurement `<command>.position`, as the safety gate has it."""
    wide = simulator.with_worlds(1)
    key = np.zeros(2, np.uint32)
    seen = wide.reset(wide.init(), np.ones(1, bool), {}, {}, key)[1]
    rest = [_place(c, {n: np.asarray(v)[0] for n, v in seen.items()}) for c in simulator.interface.commands]
    return np.concatenate(rest)


def _place(command: Channel, seen: dict[str, np.ndarray]) -> Float[np.ndarray, " width"]:
    found = seen.get(f"{command.name}.position") if command.unit in PLACES else None
    return np.zeros(command.width) if found is None or len(found) != command.width else np.asarray(found, float)


def _bearable(simulator: Simulator, limits: Interface, rest: np.ndarray) -> Float[np.ndarray, " command"]:
    """For each command the largest of a ladder of pushes that no measured limit minds; one where nothing is limited."""
    ladder, found = 10.0 ** np.arange(-3, 4.5, 0.5), np.ones(len(rest))
    bounds = [limits.channel(c.name) for c in simulator.interface.measurements for _ in range(c.width)]
    low, high = (np.array([getattr(c, side) for c in bounds]) for side in ("low", "high"))
    if not np.isfinite(np.concatenate([low, high])).any():
        return found
    for k in range(len(rest)):
        pushes = np.zeros((len(ladder), len(rest)))
        pushes[:, k] = ladder
        moved = _pushed(simulator, rest, pushes)[1:]
        inside = (np.isfinite(moved) & (moved >= low) & (moved <= high)).all(axis=1)
        found[k] = ladder[max(int(inside.cumprod().sum()) - 1, 0)]
    return found


def _pushed(simulator: Simulator, rest: np.ndarray, pushes: np.ndarray) -> Float[np.ndarray, "push measurement"]:
    """What is measured after a moment of rest, and of rest and each push."""
    period_s = simulator.interface.period_s
    times = np.arange(max(2, round(PUSH_S / period_s))) * period_s
    values = [np.tile(rest + push, (len(times), 1)) for push in (np.zeros(len(rest)), *pushes)]
    holds = Holds([times] * len(values), values, np.arange(len(values)), np.zeros(len(values)))
    seen = simulator.with_worlds(len(values)).play({}, {}, holds, np.tile(times[-1:], (len(values), 1)))
    return np.concatenate([seen[n][:, -1] for n in simulator.interface.measurement_names], axis=1)
