"""Share of the oracle against robot seconds as one SVG picture, a panel per robot, readable on light and dark pages."""

from collections.abc import Iterable
from typing import Any

import numpy as np

PANEL, HEIGHT, LEFT, TOP, BOTTOM, GAP = 220, 210, 44, 44, 46, 26
STYLE = (
    "text{font:12px system-ui,sans-serif;fill:#3b4252}.t{font-weight:600;font-size:13px}.g{stroke:#8a93a5;stroke-opacity:.35}"
    ".b{fill:#2a6fb0;fill-opacity:.16}.m{stroke:#2a6fb0;stroke-width:2.5;fill:none}.d{fill:#2a6fb0}.o{fill:#d9792b}"
    "@media(prefers-color-scheme:dark){text{fill:#d5dae5}.m{stroke:#6db0ee}.d,.b{fill:#6db0ee}.o{fill:#f0a265}}"
)


def curves(rows: list[dict[str, Any]]) -> str:
    """Median and range over the seeds after 0, 1, 2, … cranks; glue's median as a square at the robot seconds it used."""
    robots = list(dict.fromkeys(r["robot"] for r in rows))
    most = max(r["robot_seconds"][-1] for r in rows)
    low = min(0.0, *(s for r in rows for s in [*r["shares"], r["glue"]]))
    panels = [_panel([r for r in rows if r["robot"] == name], k, most, low) for k, name in enumerate(robots)]
    width = LEFT + len(robots) * (PANEL + GAP)
    tier, seeds = rows[0]["tier"], len({r["seed"] for r in rows})
    title = (
        f"Share of the oracle's return after each crank, tier {tier}: median and range of {seeds} hidden robots; ■ glue"
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {TOP + HEIGHT + BOTTOM}" role="img" '
        f'aria-label="{title}"><style>{STYLE}</style><text class="t" x="{LEFT}" y="16">{title}</text>'
        f"{''.join(panels)}</svg>\n"
    )


def _panel(rows: list[dict[str, Any]], place: int, most: float, low: float) -> str:
    left = LEFT + place * (PANEL + GAP)

    def x(seconds: float) -> float:
        return left + PANEL * seconds / (1.05 * most)

    def y(share: float) -> float:
        return TOP + HEIGHT * (1.05 - share) / (1.05 - low)

    shares = np.array([r["shares"] for r in rows])
    seconds = np.array([[0.0, *r["robot_seconds"]] for r in rows]).mean(axis=0)
    mid, worst, best = np.median(shares, axis=0), shares.min(axis=0), shares.max(axis=0)
    glue = float(np.median([r["glue"] for r in rows]))
    drawn = [f'<text class="t" x="{left + 4}" y="{TOP - 8}">{rows[0]["robot"]}</text>']
    for tick in (0.0, 0.5, 1.0):
        drawn.append(f'<path class="g" d="M{left} {y(tick):.1f}h{PANEL}"/>')
        if not place:
            drawn.append(f'<text x="{left - 8}" y="{y(tick) + 4:.1f}" text-anchor="end">{tick:g}</text>')
    for tick in range(0, int(most) + 1, 30):
        drawn.append(f'<text x="{x(tick):.1f}" y="{TOP + HEIGHT + 16}" text-anchor="middle">{tick}</text>')
    drawn.append(f'<text x="{left + PANEL / 2}" y="{TOP + HEIGHT + 34}" text-anchor="middle">robot seconds</text>')
    up, down = zip(seconds, best, strict=True), zip(seconds[::-1], worst[::-1], strict=True)
    drawn.append(f'<path class="b" d="M{_points([*up, *down], x, y)}Z"/>')
    drawn.append(f'<path class="m" d="M{_points(zip(seconds, mid, strict=True), x, y)}"/>')
    drawn += [f'<circle class="d" cx="{x(s):.1f}" cy="{y(m):.1f}" r="3.5"/>' for s, m in zip(seconds, mid, strict=True)]
    drawn.append(f'<rect class="o" x="{x(seconds[-1]) - 4:.1f}" y="{y(glue) - 4:.1f}" width="8" height="8"/>')
    return "".join(drawn)


def _points(points: Iterable[tuple[float, float]], x: Any, y: Any) -> str:
    return "L".join(f"{x(a):.1f} {y(b):.1f}" for a, b in points)
