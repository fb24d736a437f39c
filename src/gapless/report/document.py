"""An HTML document that needs nothing from anywhere else: head, navigation, sections, foot."""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources

from .markup import Markup, join, tag

POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; media-src data:"
"""Forbids the page to load anything, whatever a log may have smuggled into it."""


@dataclass(frozen=True)
class Section:
    """One part of a page."""

    anchor: str
    heading: str
    says: str
    """What is seen, in a sentence or two."""
    body: Markup | None
    """None while there is nothing to show; `says` then tells why."""


def missing(anchor: str, heading: str, command: str, product: str) -> Section:
    """A section that says how to get what it would show."""
    return Section(anchor, heading, join("Not there yet: ", tag("code", command), f" makes {product}."), None)


def document(title: str, header: Markup, told: Sequence[Section]) -> str:
    """The whole page; the same parts give the same bytes."""
    main = tag("main", header, *(_section(s) for s in told), _foot())
    body = tag("body", _bar(told), main, tag("div", id="tip", hidden=""), tag("script", packaged("page.js")))
    return f"<!doctype html>\n{tag('html', _head(title), body, lang='en')}\n"


def _head(title: str) -> Markup:
    return tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=POLICY),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", title),
        tag("style", packaged("style.css")),
    )


def _bar(told: Sequence[Section]) -> Markup:
    """Links to the sections that have something to show, and the switch between light and dark."""
    return bar(*(tag("a", s.anchor.capitalize(), href=f"#{s.anchor}") for s in told if s.body is not None))


def bar(*links: Markup) -> Markup:
    """The line at the top of every page."""
    switch = tag("button", "◐", id="theme", type="button", title="Light or dark", aria_label="Light or dark")
    return tag("nav", tag("b", "Gapless"), tag("div", *links), switch)


def _section(section: Section) -> Markup:
    words = tag("div", tag("h2", section.heading), tag("p", section.says), class_="words")
    body = join() if section.body is None else tag("div", section.body, class_="body")
    return tag("section", words, body, id=section.anchor, class_=None if section.body is not None else "missing")


def _foot() -> Markup:
    said = "Written by Gapless from the artifacts of the store; the same store gives the same page."
    return tag("footer", tag("p", said))


def packaged(name: str) -> Markup:
    """The text of a style or a script that comes with the package."""
    return Markup(resources.files("gapless.report").joinpath(name).read_text(encoding="utf-8"))
