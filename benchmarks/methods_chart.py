"""Two pictures of the table of methods, readable on light and dark pages: shares with intervals, and share against robot seconds.

.venv/bin/python benchmarks/methods_chart.py methods.json docs/pictures/methods.svg
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import tyro
from tyro.conf import Positional

from methods_table import CRANK, interval

COLOURS = {
    "nothing": "#8a93a5", "uniform": "#b58900", "identify": "#2aa198", "glue": "#d9792b", "simopt": "#c2577e",
    "up-osi": "#7a8f2e", "rma": "#9b6bc3", "strategy-cma": "#d2453d", "strategy-bo": "#e08a80", "es-maml": "#5f7fd0",
    "delta": "#4f9d57", "mpc": "#9a7350", CRANK: "#2a7fd4",
}  # fmt: skip
"""By method, of a lightness that shows on white and on black."""
LOWEST = -0.25
"""Smaller shares are drawn here."""
GOAL = 0.9
WIDTH = 760
"""Of a picture at least, so that its title fits."""
STYLE = (
    "text{font:12px system-ui,sans-serif;fill:#3b4252}.t{font-weight:600;font-size:13px}.n{font-size:11px;fill:#667085}"
    ".g{stroke:#8a93a5;stroke-opacity:.35}.a{stroke:#8a93a5;stroke-dasharray:3 3}.c{fill:#2a7fd4;fill-opacity:.12}"
    "@media(prefers-color-scheme:dark){text{fill:#d5dae5}.n{fill:#a3adc0}.c{fill-opacity:.25}}"
)
Row = dict[str, Any]


def dots(rows: list[Row]) -> str:
    """A line for each method and a panel for each robot: the median share with its 95 % interval, and robot seconds beside it."""
    rows = [r for r in rows if "share" in r]
    robots, words = _robots(rows), _words(rows)
    left, top, height, panel, gap = 96, 62, 24, 116, 56
    width, bottom = max(WIDTH, left + len(robots) * (panel + gap)), top + height * len(words)
    seeds = len({r["seed"] for r in rows})
    counted = f"{seeds} hidden robots each, with 95 % intervals" if seeds > 1 else "one hidden robot each"
    title = f"Share of the oracle's return, tier {rows[0]['tier']}: median of {counted}; robot seconds beside it"
    drawn = [f'<text class="t" x="8" y="18">{title}</text>']
    drawn.append(f'<rect class="c" x="0" y="{top + height * words.index(CRANK)}" width="{width}" height="{height}"/>')
    for k, word in enumerate(words):
        weight = ' class="t"' if word == CRANK else ""
        drawn.append(f'<text{weight} x="{left - 12}" y="{top + height * k + 16}" text-anchor="end">{word}</text>')
    for k, robot in enumerate(robots):
        begin = left + k * (panel + gap)
        drawn.append(f'<text class="t" x="{begin}" y="{top - 24}">{robot}</text>')
        for tick, shown in ((0.0, "0"), (0.5, "0.5"), (1.0, "1")):
            x = begin + panel * _unit(tick)
            drawn.append(f'<path class="g" d="M{x:.1f} {top}V{bottom}"/>')
            drawn.append(f'<text class="n" x="{x:.1f}" y="{top - 6}" text-anchor="middle">{shown}</text>')
        drawn.append(f'<path class="a" d="M{begin + panel * _unit(GOAL):.1f} {top}V{bottom}"/>')
        for line, word in enumerate(words):
            mine = [r for r in rows if r["robot"] == robot and r["method"] == word]
            drawn.append(_dot(mine, begin, panel, top + height * (line + 0.5)))
    note = f"Dashed: {GOAL:g}. Shares below {LOWEST:g} are drawn at the left edge."
    drawn.append(f'<text class="n" x="{left}" y="{bottom + 20}">{note}</text>')
    return _svg(title, width, bottom + 30, drawn)


def _dot(rows: list[Row], begin: float, panel: float, y: float) -> str:
    right = begin + panel + 6
    if not rows:
        return f'<text class="n" x="{right}" y="{y + 4}">–</text>'
    middle, low, high = (begin + panel * _unit(v) for v in interval(rows))
    word = rows[0]["method"]
    seconds = np.median([r["robot_seconds"][-1] for r in rows])
    colour, radius = COLOURS.get(word, "#8a93a5"), 5.5 if word == CRANK else 4
    line = f'<path stroke="{colour}" stroke-width="2.5" d="M{low:.1f} {y}H{high:.1f}"/>'
    mark = f'<circle fill="{colour}" cx="{middle:.1f}" cy="{y}" r="{radius}"/>'
    return f'{line}{mark}<text class="n" x="{right}" y="{y + 4}">{seconds:.0f} s</text>'


def curves(rows: list[Row]) -> str:
    """Share against robot seconds, a panel for each robot: the median over the seeds after each episode or crank."""
    rows = [r for r in rows if "share" in r]
    robots, words = _robots(rows), _words(rows)
    left, top, height, panel, gap = 44, 88, 220, 170, 24
    width, bottom = max(WIDTH, left + len(robots) * (panel + gap)), top + height
    most = max(10.0, *(r["robot_seconds"][-1] for r in rows))
    title = f"Share of the oracle's return against robot seconds, tier {rows[0]['tier']}: median after each episode or crank"
    drawn = [f'<text class="t" x="8" y="18">{title}</text>', _legend(words, left, width)]
    for k, robot in enumerate(robots):
        begin = left + k * (panel + gap)
        drawn.append(f'<text class="t" x="{begin + 4}" y="{top - 8}">{robot}</text>')
        for tick in (0.0, 0.5, 1.0):
            y = bottom - height * _unit(tick)
            drawn.append(f'<path class="g" d="M{begin} {y:.1f}h{panel}"/>')
            if not k:
                drawn.append(f'<text class="n" x="{begin - 8}" y="{y + 4:.1f}" text-anchor="end">{tick:g}</text>')
        drawn.append(f'<path class="a" d="M{begin} {bottom - height * _unit(GOAL):.1f}h{panel}"/>')
        for tick in range(0, int(most) + 1, 60 if most > 150 else 30):
            x = begin + panel * tick / (1.04 * most)
            drawn.append(f'<text class="n" x="{x:.1f}" y="{bottom + 16}" text-anchor="middle">{tick}</text>')
        drawn.append(
            f'<text class="n" x="{begin + panel / 2}" y="{bottom + 32}" text-anchor="middle">robot seconds</text>'
        )
        for word in words:
            mine = [r for r in rows if r["robot"] == robot and r["method"] == word]
            points = [(begin + panel * s / (1.04 * most), bottom - height * _unit(v)) for s, v in median_curve(mine)]
            drawn.append(_curve(points, word))
    return _svg(title, width, bottom + 42, drawn)


def median_curve(rows: list[Row]) -> list[tuple[float, float]]:
    """Medians over the seeds of robot seconds and share, point by point; a curve that ended early stays where it was."""
    if not rows:
        return []
    longest = max(len(r["shares"]) for r in rows)
    sides = [[r[k] + r[k][-1:] * (longest - len(r[k])) for r in rows] for k in ("robot_seconds", "shares")]
    seconds, shares = (np.median(side, axis=0).tolist() for side in sides)
    return list(zip(seconds, shares, strict=True))


def _curve(points: list[tuple[float, float]], word: str) -> str:
    if not points:
        return ""
    colour, (thick, radius) = COLOURS.get(word, "#8a93a5"), (3, 4.5) if word == CRANK else (1.5, 2.5)
    line = "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
    marks = "".join(f'<circle fill="{colour}" cx="{x:.1f}" cy="{y:.1f}" r="{radius}"/>' for x, y in points)
    return f'<path fill="none" stroke="{colour}" stroke-width="{thick}" d="M{line}"/>{marks}'


def _legend(words: list[str], left: float, width: float) -> str:
    """The methods' colours, in as many lines as they need."""
    drawn, x, y = [], left, 38.0
    for word in words:
        needed = 26 + 7.2 * len(word)
        if x + needed > width:
            x, y = left, y + 18
        drawn.append(f'<circle fill="{COLOURS.get(word, "#8a93a5")}" cx="{x + 4}" cy="{y - 4}" r="4"/>')
        drawn.append(f'<text x="{x + 12}" y="{y}">{word}</text>')
        x += needed
    return "".join(drawn)


def _unit(share: float) -> float:
    """Where a share is drawn, from 0 to 1."""
    return (float(np.clip(share, LOWEST, 1.1)) - LOWEST) / (1.1 - LOWEST)


def _robots(rows: list[Row]) -> list[str]:
    return list(dict.fromkeys(r["robot"] for r in rows))


def _words(rows: list[Row]) -> list[str]:
    """Methods in the order of the table, the crank last and so on top."""
    there = {r["method"] for r in rows}
    return [*(w for w in COLOURS if w in there), *(w for w in there if w not in COLOURS)]


def _svg(title: str, width: float, height: float, drawn: list[str]) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" role="img" '
        f'aria-label="{title}"><style>{STYLE}</style>{"".join(drawn)}</svg>\n'
    )


def main(source: Positional[Path], picture: Positional[Path]) -> None:
    """Draw the shares that a run with --json wrote."""
    picture.write_text(dots(json.loads(source.read_text())["rows"]))


if __name__ == "__main__":
    tyro.cli(main, description=__doc__)
