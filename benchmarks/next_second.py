"""Does deciding each robot second pay? The same cells of the judge twice: decided, and as counted beforehand.

.venv/bin/python benchmarks/next_second.py --tier A --robots cartpole furuta puck --seeds 5
"""

from dataclasses import replace
from typing import Any

import numpy as np
import tyro

from frame import Cells, finish, start
from statistic import bootstrap, paired
from transfer import Transfer, cell, settings_of

BARS = {"seconds_ratio": "≤ 0.70", "share_difference": "≥ 0, or its interval holds 0"}


def main() -> None:
    options = tyro.cli(Transfer, description=__doc__)
    both = [
        [s for s in settings_of(replace(options, schedule=schedule)) if not s.get("alone")]
        for schedule in ("next-best", "fixed")
    ]
    rows = Cells("transfer", options).run(cell, [setting for pair in zip(*both, strict=True) for setting in pair])
    decided, counted = ({_cell(r): r for r in rows if r["schedule"] == s} for s in ("next-best", "fixed"))
    pairs = [(decided[name], counted[name]) for name in decided if name in counted]
    finish("next_second", options, summary(pairs), [table_row(*pair) for pair in pairs], BARS)


def _cell(row: dict[str, Any]) -> tuple[str, int]:
    return row["robot"], row["seed"]


def summary(pairs: list[tuple[dict[str, Any], dict[str, Any]]]) -> dict[str, float]:
    """Robot seconds as a ratio, and shares of the oracle as a paired difference with its 95 % interval."""
    if not pairs:
        return {}
    robots = [ours["robot"] for ours, _ in pairs]
    ratio = np.array([ours["robot_seconds"][-1] / theirs["robot_seconds"][-1] for ours, theirs in pairs])
    shares = [np.array([row["shares"][-1] for row in side]) for side in zip(*pairs, strict=True)]
    low, high = bootstrap(ratio, robots, lambda values: float(np.median(values)))
    gain, gain_low, gain_high = paired(shares[0], shares[1], robots)
    return {
        "seconds_ratio": float(np.median(ratio)),
        "seconds_ratio_low": low,
        "seconds_ratio_high": high,
        "share_difference": gain,
        "share_difference_low": gain_low,
        "share_difference_high": gain_high,
        "share_next_best": float(np.median(shares[0])),
        "share_fixed": float(np.median(shares[1])),
        "worst_next_best": float(shares[0].min()),
        "worst_fixed": float(shares[1].min()),
    }


def table_row(ours: dict[str, Any], theirs: dict[str, Any]) -> dict[str, Any]:
    return {
        "robot": ours["robot"], "tier": ours["tier"], "seed": ours["seed"],
        "share": ours["shares"][-1], "share, fixed": theirs["shares"][-1],
        "robot s": ours["robot_seconds"][-1], "robot s, fixed": theirs["robot_seconds"][-1],
        "by crank": " ".join(f"{s:.2f}" for s in ours["shares"][1:]),
        "by crank, fixed": " ".join(f"{s:.2f}" for s in theirs["shares"][1:]),
        "decisions": "; ".join(ours["why"]),
    }  # fmt: skip


if __name__ == "__main__":
    start(main)
