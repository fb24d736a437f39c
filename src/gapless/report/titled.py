"""Charts under a title that says what they show, laid out for a desk and for a phone."""

from collections.abc import Callable, Iterable

from .markup import Markup, tag

WIDE, NARROW = 840.0, 350.0
"""Widths in pixels for which a chart is laid out: beside its heading on a desk, and on a phone."""


def caption(title: str) -> Markup:
    return tag("figcaption", title)


def both(title: str, draw: Callable[[float], Markup]) -> Markup:
    """The chart laid out twice; the style sheet shows the one that fits."""
    charts = tag("div", draw(WIDE), class_="wide"), tag("div", draw(NARROW), class_="narrow")
    return tag("figure", caption(title), *charts)


def panels(charts: Iterable[tuple[str, Markup]]) -> Markup:
    """Small charts side by side, each under its title."""
    return tag("div", *(tag("figure", caption(title), chart) for title, chart in charts), class_="panels")
