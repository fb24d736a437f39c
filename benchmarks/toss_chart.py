"""Errors of forecast tosses against how many were learned from, as one SVG picture with a panel for places and one for angles."""

from collections.abc import Callable
from typing import Any

import numpy as np

from chart import BOTTOM, GAP, HEIGHT, LEFT, PANEL, STYLE, TOP

PANELS = {"position_pct": "place, % of the width", "rotation_deg": "angle, degrees"}
KINDS = {"identified": "i", "ours": "m", "ours, middle of the cloud": "c"}
MORE = (
    ".i,.c{stroke-width:2;fill:none;stroke:#d9792b}.c{stroke:#2a6fb0;stroke-dasharray:5 4}"
    ".x{stroke:#8a93a5;stroke-dasharray:2 3}"
)


def toss_curves(rows: list[dict[str, Any]], bars: dict[str, str]) -> str:
    """Means over the tosses scored; dots are measured, dotted lines are the bars."""
    measured = [r for r in rows if r["forecast"] in KINDS and r["tosses"] != ""]
    panels = [_panel(measured, key, number, bars[key]) for number, key in enumerate(PANELS)]
    title = "Forecasts of whole tosses after learning from so many"
    width = LEFT + len(panels) * (PANEL + GAP + LEFT)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width + 180} {TOP + HEIGHT + BOTTOM}" role="img" '
        f'aria-label="{title}"><style>{STYLE}{MORE}</style><text class="t" x="{LEFT}" y="16">{title}</text>'
        f"{''.join(panels)}{_legend(width - LEFT)}</svg>\n"
    )


def _legend(left: float) -> str:
    """What the lines are."""
    lines = {**{name.removeprefix("ours, "): kind for name, kind in KINDS.items()}, "bar": "x"}
    return "".join(
        f'<path class="{kind}" d="M{left} {TOP + 20 * k + 8}h26"/><text x="{left + 34}" y="{TOP + 20 * k + 12}">{name}</text>'
        for k, (name, kind) in enumerate(lines.items())
    )


def _panel(rows: list[dict[str, Any]], key: str, place: int, bar: str) -> str:
    left, bound = LEFT + place * (PANEL + GAP + LEFT), float(bar.strip("<≤ "))
    sizes = sorted({r["tosses"] for r in rows})
    most = 1.1 * max(bound, *(r[key] for r in rows))
    span = max(np.log2(sizes[-1] / sizes[0]), 1.0)

    def x(tosses: float) -> float:
        return left + 12 + (PANEL - 24) * float(np.log2(tosses / sizes[0])) / span

    def y(error: float) -> float:
        return TOP + HEIGHT * (1 - error / most)

    drawn = [f'<text class="t" x="{left + 4}" y="{TOP - 8}">{PANELS[key]}</text>']
    for tick in np.arange(0, most, 5):
        drawn.append(f'<path class="g" d="M{left} {y(tick):.1f}h{PANEL}"/>')
        drawn.append(f'<text x="{left - 8}" y="{y(tick) + 4:.1f}" text-anchor="end">{tick:g}</text>')
    drawn.append(f'<path class="x" d="M{left} {y(bound):.1f}h{PANEL}"/>')
    drawn += [f'<text x="{x(n):.1f}" y="{TOP + HEIGHT + 16}" text-anchor="middle">{n}</text>' for n in sizes]
    drawn.append(f'<text x="{left + PANEL / 2}" y="{TOP + HEIGHT + 34}" text-anchor="middle">tosses</text>')
    return "".join([*drawn, *(_line(rows, name, key, (x, y)) for name in KINDS)])


def _line(rows: list[dict[str, Any]], name: str, key: str, scales: tuple[Callable[[float], float], ...]) -> str:
    x, y = scales
    points = sorted((r["tosses"], r[key]) for r in rows if r["forecast"] == name)
    along = "L".join(f"{x(a):.1f} {y(b):.1f}" for a, b in points)
    dots = "".join(
        f'<circle class="{"o" if name == "identified" else "d"}" cx="{x(a):.1f}" cy="{y(b):.1f}" r="3"/>'
        for a, b in points
    )
    return f'<path class="{KINDS[name]}" d="M{along}"/>{dots}'
