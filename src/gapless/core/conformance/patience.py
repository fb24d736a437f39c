"""How long somebody else's code is waited for: a verb that hangs becomes an error with its line."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Raise TimeoutError inside whatever has not come back by then; only the main thread can be interrupted so."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def ring(*_: object) -> None:
        raise TimeoutError(f"it did not come back within {seconds:g} s")

    before = signal.signal(signal.SIGALRM, ring)
    left_s, _ = signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, left_s)
        signal.signal(signal.SIGALRM, before)
