"""How much a policy pushes against its limits."""

import numpy as np

from gapless.core import Interface, Signals

ROUNDING = 1e-6
"""Share of the range within which a number is at its limit: policies compute in single precision."""


class Pinned:
    """Commands of one episode, and how many of them were at a limit or beyond."""

    def __init__(self, interface: Interface) -> None:
        self.interface, self._commands, self._at_limit = interface, 0, 0
        self._since_s = {c.name: np.full(c.width, np.inf) for c in interface.commands}

    @property
    def share(self) -> float:
        """From 0 to 1."""
        return self._at_limit / self._commands if self._commands else 0.0

    def command(self, wanted: Signals, now: float) -> float:
        """Take what a policy wanted at `now`; for how many seconds some number has been at a limit without a break."""
        longest = -np.inf
        for channel in self.interface.commands:
            values, since = wanted[channel.name], self._since_s[channel.name]
            edge = ROUNDING * (channel.high - channel.low) if np.isfinite(channel.high - channel.low) else 0.0
            pinned = ((values <= channel.low + edge) | (values >= channel.high - edge)) & (channel.low < channel.high)
            since[~pinned] = np.inf
            since[pinned] = np.minimum(since[pinned], now)
            longest = max(longest, now - float(since.min()))
        self._commands, self._at_limit = self._commands + 1, self._at_limit + (longest >= 0)
        return max(longest, 0.0)
