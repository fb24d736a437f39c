"""What the page and the command line say about a fit."""

from collections.abc import Iterable
from typing import Any

from gapless.core import Gaussian, Parameter
from gapless.learn import Identified, Learnt

from .clones import Attempt
from .parts import residual_figures


def fit_figures(
    parameters: Iterable[Parameter], found: Identified, learnt: Learnt | None, attempt: Attempt | None = None
) -> dict[str, Any]:
    """What was identified, beside a residual where there is one, and how; and what came of trying a clone."""
    kept = attempt is not None and attempt.kept is not None
    if kept:
        learnt = None
    best = found if learnt is None else learnt.identified
    return {
        "parameters": _parameter_figures(parameters, best.belief),
        "chi_square": best.chi_square,
        "channel_noise": best.noise,
        "method": best.method,
        "windows": best.windows,
        "window_s": best.window_s,
        "chi_square_before": found.chi_square_before,
        "agreeing": list(found.agreeing),
        "bend": best.bend,
        "untold": best.untold.sentence(),
        "untold_alone": list(best.untold.parameters),
        "untold_together": [[[name, weight] for name, weight in c] for c in best.untold.combinations],
        "refused": found.refused,
        "residual": None if learnt is None else residual_figures(learnt),
        "clone": None if attempt is None else attempt.figures(),
        "parts": [attempt.figures()] if attempt is not None and kept else [],
    }


def _parameter_figures(parameters: Iterable[Parameter], belief: Gaussian) -> list[dict[str, Any]]:
    mean, deviation = belief.mean(), belief.deviation()
    return [
        {
            "name": p.name, "unit": p.unit, "family": p.family, "nominal": p.nominal,
            "prior_low": p.low, "prior_high": p.high,
            "mean": float(mean[p.name]), "deviation": float(deviation[p.name]),
            "low95": float(mean[p.name]) - 1.96 * float(deviation[p.name]),
            "high95": float(mean[p.name]) + 1.96 * float(deviation[p.name]),
        }
        for p in parameters if p.free and p.name in mean
    ]  # fmt: skip
