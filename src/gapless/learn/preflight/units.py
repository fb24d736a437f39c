"""Factors by which people mistake units, and which of them a number looks like."""

import math

KNOWN = {
    "rad": {"degrees": 180 / math.pi, "mrad": 1e3, "4096ths of a turn": 4096 / (2 * math.pi), "turns": 1 / (2 * math.pi)},
    "rad/s": {"degrees/s": 180 / math.pi, "mrad/s": 1e3, "rpm": 60 / (2 * math.pi), "turns/s": 1 / (2 * math.pi)},
    "m": {"mm": 1e3, "cm": 1e2, "inches": 1 / 0.0254},
    "m/s": {"mm/s": 1e3, "cm/s": 1e2},
    "V": {"mV": 1e3},
    "A": {"mA": 1e3},
    "N m": {"mN m": 1e3},
}  # fmt: skip
"""SI unit → what is logged instead, and how many of those make one."""
OTHERS = {"thousandths": 1e3, "percent": 1e2}
"""For channels without a known unit."""
NEAR = 0.12
"""How far the logarithm of a factor may be from a known one."""


def factors(unit: str) -> dict[str, float]:
    """Names and factors of what a channel of this unit is logged in by mistake; converted once too often counts as well."""
    known = KNOWN.get(unit, OTHERS)
    return known | {f"{unit or 'values'} converted twice from {name}": 1 / f for name, f in known.items()}


def named(unit: str, factor: float) -> str:
    """What a channel that is `factor` times too large is logged in; empty if that looks like no unit."""
    for name, known in factors(unit).items():
        if factor > 0 and abs(math.log(factor / known)) < NEAR:
            return name
    return ""
