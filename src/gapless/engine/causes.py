"""What causes a gap, as figures that are stored and as words."""

from typing import Any

from gapless.learn import Attribution, Cause, Share

WORTH_NAMING = 0.05
"""Share of the error from which on a cause is among the main ones."""


def attribution_figures(found: Attribution) -> dict[str, Any]:
    """Plain numbers: every family, then what is no family, all as shares of one whole."""
    others = {"numerics": found.numerics, "noise": found.noise, "unexplained": found.unexplained}
    return {
        "families": [_cause(cause) for cause in found.causes],
        "others": [{"name": name, **_share("explained", share)} for name, share in others.items()],
        "together": 1 - found.noise.value - found.unexplained.value,
        "unexplained": found.unexplained.value,
        "repeatability": found.repeatability,
        "gap": found.gap,
        "departed": found.departed,
        "varied": list(found.varied),
    }


def main_causes(figures: dict[str, Any], most: int = 2) -> str:
    """The main causes, in words."""
    largest = [f for f in figures["families"] if abs(f["explained"]) >= WORTH_NAMING][:most]
    return ", ".join(f"{f['family']} {f['explained']:.0%}" for f in largest) or "none found"


def _cause(cause: Cause) -> dict[str, Any]:
    lost = {} if cause.loss is None else _share("loss", cause.loss)
    return {"family": cause.name, **_share("explained", cause.error), **lost}


def _share(name: str, share: Share) -> dict[str, float]:
    return {name: share.value, f"{name}_low": share.low, f"{name}_high": share.high}
