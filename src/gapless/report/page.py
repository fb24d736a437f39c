"""One page that tells the story of a workspace and needs nothing from anywhere else."""

from importlib import resources
from pathlib import Path

from gapless.core import Store
from gapless.core.artifact import write_text

from .header import header
from .markup import Markup, join, tag
from .sections import Section, sections
from .story import Story, read_story

POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
"""Forbids the page to load anything, whatever a log may have smuggled into it."""


def write_report(store: Store, out: Path, title: str, subtitle: str) -> Path:
    """Write the page over everything the store holds, and return where it is."""
    out.parent.mkdir(parents=True, exist_ok=True)
    write_text(out, page(read_story(store), title, subtitle))
    return out


def page(story: Story, title: str, subtitle: str) -> str:
    """The whole document; the same story gives the same bytes."""
    told = sections(story)
    main = tag("main", header(story, title, subtitle), *(_section(s) for s in told), _foot())
    body = tag("body", _bar(told), main, tag("div", id="tip", hidden=""), tag("script", _packaged("page.js")))
    return f"<!doctype html>\n{tag('html', _head(title), body, lang='en')}\n"


def _head(title: str) -> Markup:
    return tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=POLICY),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", title),
        tag("style", _packaged("style.css")),
    )


def _bar(told: list[Section]) -> Markup:
    """Links to the sections that have something to show, and the switch between light and dark."""
    links = [tag("a", s.anchor.capitalize(), href=f"#{s.anchor}") for s in told if s.body is not None]
    switch = tag("button", "◐", id="theme", type="button", title="Light or dark", aria_label="Light or dark")
    return tag("nav", tag("b", "Gapless"), tag("div", *links), switch)


def _section(section: Section) -> Markup:
    words = tag("div", tag("h2", section.heading), tag("p", section.says), class_="words")
    body = join() if section.body is None else tag("div", section.body, class_="body")
    return tag("section", words, body, id=section.anchor, class_=None if section.body is not None else "missing")


def _foot() -> Markup:
    return tag(
        "footer", tag("p", "Written by Gapless from the artifacts listed above; the same store gives the same page.")
    )


def _packaged(name: str) -> Markup:
    return Markup(resources.files("gapless.report").joinpath(name).read_text(encoding="utf-8"))
