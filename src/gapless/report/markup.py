"""HTML and SVG elements as text, in which whatever is not markup already is escaped."""

from html import escape

VOID = ("meta", "br", "input", "link")

Attribute = str | float | None


class Markup(str):
    """Text that is HTML already; every other text is escaped on its way into an element."""


def tag(name: str, /, *children: str, **attributes: Attribute) -> Markup:
    """One element. `class_` and `data_tip` are written `class` and `data-tip`; None leaves an attribute out."""
    spelled = "".join(f' {_key(k)}="{escape(_value(v))}"' for k, v in attributes.items() if v is not None)
    if name in VOID:
        return Markup(f"<{name}{spelled}>")
    return Markup(f"<{name}{spelled}>{join(*children)}</{name}>")


def join(*children: str) -> Markup:
    """Children one after the other, escaped unless they are markup."""
    return Markup("".join(c if isinstance(c, Markup) else escape(c) for c in children))


def _key(name: str) -> str:
    return name.rstrip("_").replace("_", "-")


def _value(value: str | float) -> str:
    if isinstance(value, str):
        return value
    return f"{round(value, 1):g}"
