"""How far a policy is kept from where its episodes end early: as far as the simulator may be wrong about what is measured."""

from typing import Any

from gapless.core import Artifact, GaplessError
from gapless.learn.gap import MEDIAN_OF_NORMAL

from .stages import Stages

HORIZON_S = 0.5
"""How far ahead predictions are asked, at most."""
DEVIATIONS = 5.0
"""Deviations of the prediction's error that are kept: a policy moves otherwise than the logs that the error was seen in."""
MOST = 0.25
"""The widest margin, as a share of a channel's own deviation."""


def margins(stages: Stages, belief: Artifact | None) -> dict[str, float]:
    """Margins of all channels in their units, from what the belief's own held-out logs say; none where there are no logs."""
    roles = [] if belief is None else [role for role in belief.parents if role.startswith("logs")]
    if belief is None or not roles:
        return {}
    store = stages.workspace.store
    try:
        found = stages.gap(belief, [store.get(belief.parents[role]) for role in roles])
    except GaplessError:  # the logs are too short to predict anything in them
        return {}
    return margins_of(found.figures)


def margins_of(gap: dict[str, Any]) -> dict[str, float]:
    """Five deviations of the error half a second ahead, to one digit, so that next to nothing compiles no program anew."""
    at = max((k for k, h in enumerate(gap["horizons_s"]) if h <= HORIZON_S), default=0)
    shares = {name: min(DEVIATIONS * e[at] / MEDIAN_OF_NORMAL, MOST) for name, e in gap["after"].items()}
    return {name: float(f"{share * gap['spread'][name]:.0e}") for name, share in shares.items()}
