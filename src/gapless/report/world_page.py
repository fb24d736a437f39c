"""The page of `gapless world play`: two canvases, the tools to draw and to push, and the figures that go with them."""

from collections.abc import Mapping

from .document import bar, packaged
from .markup import Markup, join, tag

TITLE = "A world that a network steps"
HINT = (
    "Drag across empty space to draw a body, tap to drop one, drag a body to push it. Both worlds get the same bodies and "
    "the same pushes. Pause to see where each of them thinks that bodies will go in the next second."
)
WORLDS = {
    "truth": ("Box2D", "The physics engine that taught the network."),
    "network": ("Network", "Filled: its first member. Outlines: all others; where they part, it does not know."),
}
TOOLS = {"box": "Box", "circle": "Circle", "polygon": "Polygon"}
KINDS = {"fall": "Gravity", "table": "Table"}
BUTTONS = {
    "pause": ("Pause", "Stop and go on (space)"),
    "step": ("Step", "One frame (full stop)"),
    "reset": ("Reset", "The bodies of the beginning"),
    "clear": ("Clear", "Take all bodies away"),
    "align": ("Align", "Put the network's bodies where Box2D has them"),
}
FIGURES = {
    "time": ("Time", "seconds in the world"),
    "pace": ("Pace", "of real time"),
    "spread": ("Spread", "between the network's members"),
    "error": ("Error", "from their mean to Box2D"),
}
MATTER = {
    "mass": ("Mass", "-0.7", "1.18", "0.3"),
    "friction": ("Friction", "0", "1.2", "0.4"),
    "restitution": ("Bounce", "0", "0.9", "0.2"),
    "drag": ("Friction on the table", "0", "1.2", "0.3"),
}
"""Label, lowest, highest and first value of each slider; that of mass is a logarithm."""


def world_page() -> str:
    """The whole page; it needs nothing but the server that it came from."""
    main = tag("main", _head_line(), _controls(), _worlds(), tag("p", id="said", role="status"), _figures(), _matter())
    scripts = tag("script", packaged("page.js")), tag("script", packaged("world.js"))
    body = tag("body", bar(), main, tag("div", id="tip", hidden=""), *scripts)
    return f"<!doctype html>\n{tag('html', _head(), body, lang='en')}\n"


def _head() -> Markup:
    return tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("link", rel="icon", href="data:,"),
        tag("title", f"{TITLE} · Gapless"),
        tag("style", packaged("style.css"), packaged("world.css")),
    )


def _head_line() -> Markup:
    return tag("header", tag("h1", TITLE), tag("p", HINT, class_="hint"))


def _controls() -> Markup:
    buttons = [tag("button", name, id=key, type="button", title=says) for key, (name, says) in BUTTONS.items()]
    return tag(
        "div",
        tag("div", *buttons, class_="group"),
        _choice("tool", "Draw", TOOLS),
        _choice("kind", "World", KINDS),
        class_="controls",
    )


def _choice(name: str, legend: str, options: Mapping[str, str]) -> Markup:
    """Some words of which one is chosen; the first is, at the beginning."""
    first = next(iter(options))
    labels = [
        tag(
            "label",
            tag("input", type="radio", name=name, value=k, checked="" if k == first else None),
            tag("span", word),
        )
        for k, word in options.items()
    ]
    return tag("div", tag("span", legend), tag("div", *labels), role="radiogroup", aria_label=legend, class_="choice")


def _worlds() -> Markup:
    return tag("div", *(_world(key, *words) for key, words in WORLDS.items()), class_="worlds")


def _world(key: str, name: str, says: str) -> Markup:
    canvas = tag("canvas", id=key, role="img", aria_label=f"The bodies as {name} moves them")
    switch = tag("label", tag("input", type="checkbox", id="overlay"), "Box2D over it, dashed", class_="overlay")
    words = tag("b", name), switch if key == "network" else join(), tag("p", says)
    return tag("figure", tag("div", *words, class_="caption"), canvas)


def _figures() -> Markup:
    tiles = [
        tag("div", tag("dt", name), tag("dd", "–", class_="value", id=f"figure-{key}"), tag("dd", says, class_="note"))
        for key, (name, says) in FIGURES.items()
    ]
    return tag("dl", *tiles, class_="tiles")


def _matter() -> Markup:
    sliders = [
        tag(
            "label",
            tag("span", label),
            tag("output", id=f"{key}-is"),
            tag("input", type="range", id=key, min=low, max=high, step="0.01", value=first),
            class_=f"slider {key}",
        )
        for key, (label, low, high, first) in MATTER.items()
    ]
    return tag("fieldset", tag("legend", "The next body"), *sliders, class_="matter")
