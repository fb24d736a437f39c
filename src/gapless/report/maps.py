"""Residual maps: what nothing explains yet, as colour over the two signals that it follows most."""

from .charts import PANEL
from .evidence import ResidualMap, Side
from .markup import Markup, join, tag
from .scale import Scale
from .spoken import told
from .svg import Axis, Frame, Margins, axes, block, frame, picture, text
from .wording import UNKNOWN, fixed, number, percent, shortened, terse, with_unit

LEVELS = 9
"""Steps of the colour scale."""
STRONG = 2.0
"""Errors of so many deviations of the noise or more may have full colour; a map of noise alone stays pale."""
BAR = (14.0, 12.0)
"""Distance of the colour scale from the map, and its width."""
DIGIT = 6.8
"""Pixels that a letter of a tick takes."""
NAME_LETTERS = 24


def map_chart(found: ResidualMap) -> Markup:
    """Cells where the motion was: warm where the robot got farther up than predicted, cold where less far."""
    plot = frame(*PANEL, _axis(found.x), _axis(found.y), _margins(found))
    grid = axes(plot, _title(found.x), _title(found.y))
    cells = [_cell(plot, found, i, j) for i, row in enumerate(found.mean) for j, v in enumerate(row) if v is not None]
    return picture(*PANEL, map_spoken(found), grid, *cells, _scale(plot, found))


def map_spoken(found: ResidualMap) -> str:
    largest, i, j = max(
        ((abs(v), i, j) for i, row in enumerate(found.mean) for j, v in enumerate(row) if v is not None)
    )
    said = [f"largest where {_where(found, i, j)}, {with_unit(_signed(found.mean[i][j]), found.unit)}"]
    said.append(f"altogether {with_unit(number(found.size, 2), found.unit)} against {number(found.noise, 2)} of noise")
    return told(f"Measured minus predicted {found.channel}, {terse(found.ahead_s)} s ahead", said if largest else [])


def strongest(found: ResidualMap) -> float:
    """The error that has full colour."""
    known = [abs(v) for row in found.mean for v in row if v is not None]
    return max(max(known), STRONG * (found.noise or 0.0), 1e-12)


def map_note(found: ResidualMap) -> str:
    """How much is left, and how much of it the map foretells."""
    left = f"{found.channel} is off by {with_unit(number(found.size, 2), found.unit)}, by {number(found.noise, 2)} if noise "
    left += "were all"
    return left if found.follows is None else f"{left}, and the map foretells {percent(found.follows)} of its square"


def _margins(found: ResidualMap) -> Margins:
    """Room for the ticks of both scales, however many digits they have."""
    rows = Scale(found.y.low, found.y.high, PANEL[1], 0.0).ticks(34)
    left, right = max(len(words) for _, words in rows), len(_signed(-strongest(found)))
    return Margins(left=16 + DIGIT * max(left, 4), right=sum(BAR) + 10 + DIGIT * max(right, 5))


def _axis(side: Side) -> Axis:
    return Axis(side.name, side.low, side.high)


def _title(side: Side) -> str:
    return with_unit(shortened(side.name, NAME_LETTERS), side.unit and f"({side.unit})")


def _cell(plot: Frame, found: ResidualMap, row: int, column: int) -> Markup:
    value = found.mean[row][column] or 0.0
    left, top, width, height = plot.box
    across, down = width / len(found.mean[row]), height / len(found.mean)
    box = left + column * across, top + height - (row + 1) * down, across - 0.5, down - 0.5
    samples = found.count[row][column] if row < len(found.count) and column < len(found.count[row]) else None
    tip = f"{_where(found, row, column)}\nmeasured − predicted {with_unit(_signed(value), found.unit)}"
    tip += f"\n{fixed(samples, 0)} samples" if samples is not None else ""
    return tag("g", *_coloured(box, value / strongest(found)), data_tip=tip)


def _coloured(box: tuple[float, float, float, float], share: float) -> list[Markup]:
    """A visited cell, and its colour over it."""
    x, y, width, height = box
    shade = f"{min(abs(share), 1.0) ** 0.8:.2f}"
    over = tag(
        "rect", x=x, y=y, width=width, height=height, class_=f"heat {'above' if share > 0 else 'below'}",
        fill_opacity=shade,
    )  # fmt: skip
    return [block(box, "heat seen"), over] if float(shade) else [block(box, "heat seen")]


def _where(found: ResidualMap, row: int, column: int) -> str:
    x, y = (
        (side, side.low + (k + 0.5) / count * (side.high - side.low))
        for side, k, count in ((found.x, column, len(found.mean[row])), (found.y, row, len(found.mean)))
    )
    return ", ".join(f"{side.name} {with_unit(number(value, 2), side.unit)}" for side, value in (x, y))


def _scale(plot: Frame, found: ResidualMap) -> Markup:
    """Beside the map, which colour means what."""
    left, top, width, height = plot.box
    x, most, step = left + width + BAR[0], strongest(found), height / LEVELS
    parts = []
    for k in range(LEVELS):
        parts += _coloured((x, top + k * step, BAR[1], step), 1 - 2 * k / (LEVELS - 1))
    for share, words in ((0.0, _signed(most)), (0.5, "0"), (1.0, _signed(-most))):
        parts.append(text(x + BAR[1] + 6, top + 4 + share * height, words, "tick"))
    parts.append(text(plot.width, 13, f"error{f' ({found.unit})' if found.unit else ''}", "tick", "end"))
    return join(*parts)


def _signed(value: float | None) -> str:
    if value is None:
        return UNKNOWN
    return f"+{number(value, 2)}" if value > 0 else number(value, 2)
