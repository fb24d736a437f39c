"""A small machine with one command and two measurements, and logs of it with true clocks."""

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from gapless.core import Channel, Interface, Log


@pytest.fixture(scope="session")
def machine() -> Interface:
    """A cart with a pole and a two-axis force sensor, commanded at 50 Hz."""
    force = Channel("cart.force", unit="N", low=-10.0, high=10.0)
    measured = (Channel("pole.angle", unit="rad"), Channel("cart.sensor", width=2, unit="N"))
    return Interface("cart", 0.02, (force,), measured, ("cart", "pole"))


@pytest.fixture(scope="session")
def make_log(machine: Interface) -> Callable[..., Log]:
    def make(rows: int = 20, samples: int | None = None, seed: int = 0, **source: object) -> Log:
        """A log with jittering clocks; `samples` of the sensor, one per command unless said otherwise."""
        noise = np.random.default_rng(seed)
        sent = np.arange(rows) * 0.02 + noise.uniform(0, 0.002, rows)
        count = rows if samples is None else samples
        taken = {
            "pole.angle": sent + 0.003,
            "cart.sensor": np.linspace(0, max(rows, 1) * 0.02, count) + noise.uniform(0, 1e-4),
        }
        measured = {"pole.angle": noise.normal(size=(rows, 1)), "cart.sensor": noise.normal(size=(count, 2))}
        return Log(machine, {"cart.force": noise.normal(size=(rows, 1))}, measured, sent, taken, dict(source))

    return make


@pytest.fixture(scope="session")
def same() -> Callable[[Log, Log], bool]:
    def equal(a: Log, b: Log) -> bool:
        """Whether two logs are the same in every bit."""
        pairs = [(a.command_time, b.command_time)]
        for name in ("commands", "measurements", "measurement_time"):
            mine, theirs = getattr(a, name), getattr(b, name)
            if mine.keys() != theirs.keys():
                return False
            pairs += [(mine[k], theirs[k]) for k in mine]
        bits = all(x.shape == y.shape and x.dtype == y.dtype and x.tobytes() == y.tobytes() for x, y in pairs)
        return bits and a.interface == b.interface and a.source == b.source

    return equal


@pytest.fixture(scope="session")
def recordings() -> Path:
    """The folder of real recordings."""
    folder = Path(os.environ.get("GAPLESS_DATA", Path(__file__).parents[3] / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip("the real recordings are not here; name their folder in GAPLESS_DATA.")
    return folder
