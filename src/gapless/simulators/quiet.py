"""MuJoCo without its warnings, for those who simulate what cannot be and know it."""

from collections.abc import Iterator
from contextlib import contextmanager

import mujoco


@contextmanager
def quietly() -> Iterator[None]:
    """While it lasts, simulations that fly apart are not announced on the console and not in MUJOCO_LOG.TXT."""
    config = mujoco.MjLogConfig.get()
    console, file = config.logto_console, config.logto_file
    config.logto_console = config.logto_file = False
    mujoco.MjLogConfig.set(config)
    try:
        yield
    finally:
        config.logto_console, config.logto_file = console, file
        mujoco.MjLogConfig.set(config)
