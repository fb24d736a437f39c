"""The gap as figures that are stored: errors and floors, one stretch as curves, and maps of what nothing explains yet."""

from dataclasses import asdict
from typing import Any, NamedTuple

from gapless.core import Belief, Log, Simulator, nominal_belief
from gapless.learn import gap, residual_maps


class Known(NamedTuple):
    """What was learned."""

    simulator: Simulator
    """The physics, with the parts learned beside it."""
    belief: Belief
    alone: Belief
    """What was identified about the physics alone."""


def gap_figures(physics: Simulator, known: Known | None, held_out: list[Log]) -> dict[str, Any]:
    """How wrong the data sheet is on held-out logs, and how wrong what is known now."""
    nominal = nominal_belief(physics.parameters)
    before = gap(physics, nominal, held_out, floor_from=None if known is None else known.alone)
    after = before if known is None else gap(known.simulator, known.belief, held_out)
    at = 0.5 if 0.5 in before.horizons_s else before.horizons_s[-1]
    units = {c.name: c.unit for c in physics.interface.measurements}
    maps = residual_maps(*((physics, nominal) if known is None else known[:2]), held_out)
    return {
        "horizons_s": before.horizons_s, "before": before.error, "after": after.error, "floor": after.floor,
        "unit": units, "spread": after.spread,
        "summary": {
            "horizon_s": at, "before": before.excess(at), "after": after.excess(at),
            "ratio": before.excess(at) / after.excess(at),
        },
        "curves": [
            {
                "channel": name, "unit": units[name], "time_s": curve["time_s"], "measured": curve["measured"],
                "before": curve["predicted"], "after": after.curves[name]["predicted"],
            }
            for name, curve in before.curves.items()
        ],
        "maps": [asdict(m) for m in maps],
    }  # fmt: skip
