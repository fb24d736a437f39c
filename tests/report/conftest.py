"""A cart-pole workspace after some cranks, with figures as the engine writes them."""

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from gapless.core import Artifact, Store

PARAMETERS = (
    ("pole.mass", "kg", "inertia", 0.1, 0.05, 0.2, 0.127),
    ("pole.com", "m", "inertia", 0.3, 0.2, 0.4, 0.268),
    ("motor.gain", "N/V", "actuation", 1.7, 1.0, 2.4, 1.42),
    ("slider.damping", "N s/m", "friction", 0.5, 0.0, 4.0, 2.31),
    ("slider.friction", "N", "friction", 0.0, 0.0, 1.5, 0.64),
    ("hinge.damping", "N m s/rad", "friction", 0.0001, 0.0, 0.004, 0.0013),
    ("command.latency", "s", "latency", 0.0, 0.0, 0.06, 0.0232),
)
UNTOLD = (
    "the logs do not tell hinge.damping, which stay near their nominal values; pole.mass and motor.gain and slider.damping "
    "can only be told together (they may move by +1 : +0.94 : -0.4 unseen)"
)
CHANNELS = (("cart.position", "m", 0.18), ("pole.angle", "rad", 1.9))
HORIZONS_S = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0)


def add(store: Store, kind: str, figures: Mapping[str, Any], parents: dict[str, str], **recipe: Any) -> Artifact:
    return store.make(kind, parents, recipe, lambda folder: figures)


def belief_figures(crank: int) -> dict[str, Any]:
    names = ("name", "unit", "family", "nominal", "prior_low", "prior_high", "mean")
    parameters = []
    for row in PARAMETERS:
        wide = 0.12 * (row[5] - row[4]) / 2**crank
        ends = {"deviation": wide / 2, "low95": row[6] - wide, "high95": row[6] + wide}
        parameters.append({**dict(zip(names, row, strict=True)), **ends})
    noise = {channel: 0.002 for channel, _, _ in CHANNELS}
    found = {"parameters": parameters, "chi_square": 1.07, "channel_noise": noise, "seconds_of_log": 30.0 * crank}
    trust = {"chi_square_before": 84.0, "windows": 96, "window_s": 0.42, "agreeing": [3, 3], "bend": 1.2, "refused": ""}
    together = [[["pole.mass", 1.0], ["motor.gain", 0.94], ["slider.damping", -0.4]]]
    untold = {"untold": UNTOLD, "untold_alone": ["hinge.damping"], "untold_together": together}
    return {**found, **trust, **untold, "preflight": []}


def gap_figures(crank: int) -> dict[str, Any]:
    def errors(size: float, power: float) -> dict[str, list[float]]:
        scaled = enumerate(CHANNELS)
        return {
            c: [math.hypot(size * (1 + 0.5 * i) * (h / 0.5) ** power, 0.01) for h in HORIZONS_S]
            for i, (c, _, _) in scaled
        }

    before, after = 0.84, 0.16 / 2**crank
    return {
        "horizons_s": HORIZONS_S,
        "before": errors(before, 0.9),
        "after": errors(after, 0.7),
        "floor": errors(0.001, 0.05),
        "unit": {channel: unit for channel, unit, _ in CHANNELS},
        "summary": {"before": before, "after": after, "floor": 0.01, "ratio": before / after},
        "curves": [curve(*channel) for channel in CHANNELS],
        "maps": [map_figures(*channel) for channel in CHANNELS],
    }


def map_figures(channel: str, unit: str, size: float) -> dict[str, Any]:
    """An error that grows with the rate and with the command, along a ring in which the motion stayed."""
    places = [(i - 9.5) / 10 for i in range(20)]
    seen = [[0.3 < math.hypot(x, y) < 0.95 for x in places] for y in places]
    mean = [
        [-0.02 * size * math.tanh(4 * y) * (1 + x) if seen[i][j] else None for j, x in enumerate(places)]
        for i, y in enumerate(places)
    ]
    count = [[3 * here for here in row] for row in seen]
    x = {"name": channel, "unit": unit, "low": -1.5 * size, "high": 1.5 * size}
    y = {"name": f"rate of {channel}", "unit": f"{unit}/s", "low": -6 * size, "high": 6 * size}
    told = {"size": 0.013 * size, "noise": 0.004 * size, "follows": 0.64}
    return {"channel": channel, "unit": unit, "ahead_s": 0.1, "x": x, "y": y, "mean": mean, "count": count, **told}


def motion_figures() -> dict[str, Any]:
    time_s = [0.04 * i for i in range(151)]
    volts = [7.0 * math.sin(5 * t) for t in time_s]
    channels = (
        ("command", "motor", "V", 10.0, volts, 0.2),
        ("measurement", "cart.position", "m", 0.35, [0.2 * math.sin(2.3 * t) for t in time_s], 0.012),
        ("measurement", "pole.angle", "rad", None, [1.2 * math.sin(4 * t) for t in time_s], 0.1),
    )
    told = [
        {
            "kind": kind, "name": name, "part": None, "unit": unit,
            "limit_low": None if limit is None else -limit, "limit_high": limit,
            "expected": values, "measured": [v + 0.5 * wide for v in values],
            "low": [v - wide * t for v, t in zip(values, time_s, strict=True)],
            "high": [v + wide * t for v, t in zip(values, time_s, strict=True)],
        }
        for kind, name, unit, limit, values, wide in channels
    ]  # fmt: skip
    now = {row[0]: 0.1 * (row[5] - row[4]) for row in PARAMETERS}
    after = {name: value * (0.1 + 0.1 * k) for k, (name, value) in enumerate(now.items())}
    return {"episode": 0, "time_s": time_s, "channels": told, "draws": 26, "usage": 0.74, "now": now, "after": after}


def curve(channel: str, unit: str, size: float) -> dict[str, Any]:
    time_s = [0.01 * i for i in range(251)]
    truth = [size * math.sin(4.1 * t) * math.exp(-0.35 * t) for t in time_s]
    measured = [v + 0.01 * size * math.sin(97 * i) for i, v in enumerate(truth)]
    before = [size * (1 + 0.3 * t) * math.sin(4.9 * t) for t in time_s]
    after = [v + 0.02 * size * math.sin(2 * t) for v, t in zip(truth, time_s, strict=True)]
    return {"channel": channel, "unit": unit, "time_s": time_s, "measured": measured, "before": before, "after": after}


def attribution_figures() -> dict[str, Any]:
    shares = {"inertia": 0.12, "latency": 0.44, "friction": 0.31, "actuation": 0.07, "sensing": -0.01}
    families = [
        {"family": family, **part("explained", share), **part("loss", 0.4 - share)} for family, share in shares.items()
    ]
    others = [
        {"name": n, **part("explained", v)} for n, v in (("numerics", 0.0), ("noise", 0.02), ("unexplained", 0.05))
    ]
    return {"families": families, "others": others, "together": 0.93, "unexplained": 0.05, "repeatability": None}


def part(name: str, value: float) -> dict[str, float]:
    return {name: value, f"{name}_low": value - 0.03, f"{name}_high": value + 0.04}


def policy_figures(crank: int) -> dict[str, Any]:
    steps = [20_000 * i for i in range(61)]
    points = [[s, 4.0 * (1 - math.exp(-s / (2.5e5 + 6e4 * crank))) + 0.05 * math.sin(i)] for i, s in enumerate(steps)]
    return {"curve": points, "steps": steps[-1], "return": points[-1][1], "solved": True}


def logs_figures(seconds: float, returns: tuple[float, ...]) -> dict[str, Any]:
    keys = ("episode", "seconds", "return", "passed", "margin", "stopped")
    each = seconds / len(returns)
    rows = [(i, each, value, value > 3.5, value - 3.5, None) for i, value in enumerate(returns)]
    return {"robot_seconds": seconds, "episodes": [dict(zip(keys, row, strict=True)) for row in rows]}


def collect(store: Store, crank: int) -> Artifact:
    figures = logs_figures(12.0, (0.4, 0.7, 0.5)) | {"motions": [motion_figures()]}
    return add(store, "logs", figures, {}, crank=crank, purpose="excite")


def turn(store: Store, crank: int, low: float, got: float) -> None:
    """One crank, whose forecast is [low, low + 0.8] and whose policy gets `got` on the robot."""
    logs = {"logs": collect(store, crank).id}
    belief = {"belief": add(store, "belief", belief_figures(crank), logs, crank=crank).id}
    add(store, "gap", gap_figures(crank), {**logs, **belief}, crank=crank)
    add(store, "attribution", attribution_figures(), logs, crank=crank)
    policy = {"policy": add(store, "policy", policy_figures(crank), belief, crank=crank).id}
    margins = [0.1 * i for i in range(8)]
    add(store, "check", {"passed": 8, "of": 8, "margins": margins, "returns": margins}, policy, crank=crank)
    rolled = [low + 0.4 + 0.55 * math.sin(1.7 * i) for i in range(32)]
    stated = {"low": low, "mean": low + 0.4, "high": low + 0.8, "share": 0.8, "returns": rolled}
    forecast = {"forecast": add(store, "forecast", stated, {**policy, **belief}, crank=crank).id}
    returns = [got - 0.1, got, got + 0.1]
    deployed = add(store, "logs", logs_figures(20.3, tuple(returns)), policy, crank=crank, purpose="deploy")
    result = {"return": got, "returns": returns, "low": low, "high": low + 0.8, "inside": low <= got <= low + 0.8}
    add(
        store, "outcome", {**result, "passed": 3 * (got > 3.5), "of": 3}, {**forecast, "logs": deployed.id}, crank=crank
    )


@pytest.fixture
def empty(tmp_path: Path) -> Store:
    return Store(tmp_path / "workspace")


@pytest.fixture
def whole(empty: Store) -> Store:
    """Three cranks; the first forecast misses."""
    for crank, (low, got) in enumerate(((2.6, 1.9), (3.1, 3.4), (3.4, 3.9)), start=1):
        turn(empty, crank, low, got)
    return empty


@pytest.fixture
def filmed(whole: Store) -> Store:
    """Three cranks, and something in the place of a film."""

    def shot(folder: Path) -> dict[str, Any]:
        (folder / "film.mp4").write_bytes(b"not really a film")
        return {"frames": 100, "speed": 0.5, "stretch_s": 1.0}

    whole.make("film", {}, {"crank": 3}, shot)
    return whole


@pytest.fixture
def collected(empty: Store) -> Store:
    """After `gapless collect`, and nothing else."""
    collect(empty, 0)
    return empty


Adds = Callable[..., Artifact]


@pytest.fixture
def put(empty: Store) -> Adds:
    """Puts one artifact with these figures into the empty store."""
    return lambda kind, figures, crank=1: add(empty, kind, figures, {}, crank=crank)
