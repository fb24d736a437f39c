"""Randomization terms as data, and as Python source in which a name from a model file can never become code."""

import keyword
import math
import re
from dataclasses import dataclass, field
from typing import Any

from .ranges import Range

Literal = Any
"""Text, numbers, and tuples, lists and dictionaries of them."""


@dataclass(frozen=True)
class Term:
    """One event of the target's own kind."""

    draws: tuple[str, ...]
    """The parameters that it draws."""
    function: str
    """Dotted name in the target's package; one of our own words, never a name from a file."""
    mode: str
    select: dict[str, str]
    """Which objects, e.g. {"joint_names": "hinge"}; empty for the whole scene."""
    params: dict[str, Literal]

    @property
    def name(self) -> str:
        return " and ".join(self.draws)


@dataclass(frozen=True)
class Terms:
    """Everything that a target can randomize, and what it cannot."""

    events: list[Term]
    settings: dict[str, dict[str, Literal]] = field(default_factory=dict)
    """What is set elsewhere than in events, by our own words for it."""
    left_out: list[str] = field(default_factory=list)
    """What the target cannot randomize, each in one sentence."""

    def to_dict(self) -> dict[str, Any]:
        events = {
            t.name: {"func": t.function, "mode": t.mode, "select": t.select, "params": t.params} for t in self.events
        }
        return {"events": events, "settings": self.settings, "not_carried": self.left_out}


def literal(value: Literal) -> str:
    """Python source of a plain value, in ASCII: nothing but literals can come out."""
    if isinstance(value, int):
        return repr(value)
    if isinstance(value, float) and math.isfinite(value):
        return repr(float(value))
    if isinstance(value, str):
        return ascii(str(value))
    if isinstance(value, tuple):
        return f"({', '.join(map(literal, value))}{',' * (len(value) == 1)})"
    if isinstance(value, list):
        return f"[{', '.join(map(literal, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{literal(k)}: {literal(v)}' for k, v in value.items())}}}"
    raise TypeError(f"{type(value).__name__} is no plain value")


def call(term: Term, event: str, asset: str) -> str:
    """The source of one event, over several lines."""
    params = [f"{literal(k)}: {literal(v)}" for k, v in term.params.items()]
    if term.select:
        # Both projects take names for regular expressions.
        names = ", ".join(f"{key}=({literal(re.escape(name))},)" for key, name in term.select.items())
        params.insert(0, f"'asset_cfg': SceneEntityCfg({literal(asset)}, {names})")
    body = "".join(f"            {p},\n" for p in params)
    head = f"        func={term.function},\n        mode={literal(term.mode)},\n"
    return f"{event}(\n{head}        params={{\n{body}        }},\n    )"


def identifiers(names: list[str]) -> dict[str, str]:
    """A different Python identifier for each name, as like it as may be."""
    found: dict[str, str] = {}
    for name in names:
        word = re.sub(r"[^a-z0-9_]", "_", name.lower()).strip("_") or "term"
        word = f"p_{word}" if word[0].isdigit() or keyword.iskeyword(word) else word
        while word in found.values():
            word += "_"
        found[name] = word
    return found


def settings_source(terms: Terms) -> str:
    """The constants below the events."""
    lines = [f"{name} = {literal(values)}\n" for name, values in terms.settings.items()]
    left = "".join(f"    {literal(sentence)},\n" for sentence in terms.left_out)
    return "\n" + "".join(lines) + (f"NOT_CARRIED = (\n{left})\n" if left else "NOT_CARRIED = ()\n")


def not_carried(
    ranges: list[Range], events: list[Term], settled: set[str], reasons: dict[tuple[str, str], str]
) -> list[str]:
    """A sentence for each parameter that no event draws and no setting holds."""
    carried = {name for term in events for name in term.draws} | settled
    sentences = []
    for r in ranges:
        if r.name not in carried:
            nameless = r.index >= 0 and not r.thing
            reason = "the object has no name to select it by" if nameless else reasons.get((r.kind, r.quantity))
            sentences.append(f"{r.name}: {reason or 'there is no term for it'}.")
    return sentences
