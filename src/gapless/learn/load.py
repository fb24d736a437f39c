"""How much a machine has worked so far in an episode: what warms its motors."""

import numpy as np
from jaxtyping import Float

from gapless.core import Log


def load_so_far(log: Log, part: str, lag_s: float) -> Float[np.ndarray, " sent"]:
    """The size of the commands, following with a lag and zero where the log begins.

    Commands count that are named after the part, or all where none is.
    """
    mine = [name for name in log.commands if name.split(".")[0] == part] or list(log.commands)
    sizes = np.concatenate([np.abs(log.commands[name]) for name in mine], axis=1).mean(axis=1)
    follows = -np.expm1(-np.diff(log.command_time) / lag_s)
    found = np.zeros(len(sizes))
    for k, share in enumerate(follows):
        found[k + 1] = found[k] + share * (sizes[k] - found[k])
    return found
