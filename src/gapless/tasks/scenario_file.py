"""Scenarios as files, TOML or JSON, that anybody may have written: a scenario or one sentence comes out."""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from gapless.core import Disturbance, GaplessError, belief_from_dict
from gapless.core.artifact import plain, write_text
from gapless.core.reading import LARGEST_JSON, LARGEST_TOML, plain_object, plain_table, read_limited

from .scenario import Must, Scenario, Settles, Span

ENDINGS = (".toml", ".json")
MOST_SCENARIOS = 1000
LONGEST_NAME = 80


def read_scenarios(folder: Path) -> list[Scenario]:
    """All scenarios of a folder by the names of their files; none where there is no folder."""
    paths = sorted(p for p in folder.glob("*") if p.suffix in ENDINGS and not p.name.startswith("."))
    if len(paths) > MOST_SCENARIOS:
        raise GaplessError(f"{folder} holds {len(paths)} scenarios; at most {MOST_SCENARIOS} are played. Remove some.")
    found = [read_scenario(path) for path in paths]
    names = [s.name for s in found]
    twice = sorted({n for n in names if names.count(n) > 1})
    if twice:
        raise GaplessError(f"two scenarios in {folder} are called {twice[0]!r}. Give each a name of its own.")
    return found


def read_scenario(path: Path) -> Scenario:
    """The scenario in a file."""
    try:
        if path.suffix == ".json":
            return scenario_from_dict(plain_object(read_limited(path, LARGEST_JSON)))
        return scenario_from_dict(plain_table(read_limited(path, LARGEST_TOML)))
    except (GaplessError, ValueError, TypeError, KeyError, OverflowError, RecursionError) as error:
        reason = f"{error.args[0]!r} is missing" if isinstance(error, KeyError) else str(error).rstrip(".")
        raise GaplessError(f"{path} is no scenario: {reason}. docs/scenarios.md shows one.") from None


def write_scenario(path: Path, scenario: Scenario) -> None:
    """Write a scenario as JSON."""
    write_text(path, json.dumps(scenario_to_dict(scenario), indent=1, ensure_ascii=False) + "\n")


def scenario_to_dict(scenario: Scenario) -> dict[str, Any]:
    """Plain values that `scenario_from_dict` reads back; what says nothing is left out."""
    must = {k: v for k, v in asdict(scenario.must).items() if v not in (None, {})}
    disturbances = [{k: v for k, v in asdict(d).items() if v != math.inf} for d in scenario.disturbances]
    written = {"name": scenario.name, "task": scenario.task, "start": scenario.start, "params": scenario.params}
    written |= {"disturbance": disturbances, "belief": scenario.belief, "must": must, "source": scenario.source}
    return plain({k: v for k, v in written.items() if v not in (None, {}, [])})


def scenario_from_dict(given: Mapping[str, Any]) -> Scenario:
    """The scenario that plain values describe; a ValueError says what is wrong with them."""
    _only(given, "a scenario", ("name", "task", "start", "params", "belief", "disturbance", "must", "source"))
    belief = given.get("belief")
    if belief is not None:
        belief = dict(_table("belief", belief))
        belief_from_dict(belief)
    return Scenario(
        _word("name", given["name"]),
        _word("task", given["task"]),
        {k: _span(f"start {k}", v) for k, v in _table("start", given.get("start", {})).items()},
        {k: _span(f"params {k}", v) for k, v in _table("params", given.get("params", {})).items()},
        belief,
        tuple(_disturbance(d) for d in _list("disturbance", given.get("disturbance", []))),
        _must(_table("must", given.get("must", {}))),
        dict(_table("source", given.get("source", {}))),
    )


def _must(given: Mapping[str, Any]) -> Must:
    _only(given, "must", ("passes", "return_at_least", "within", "settles"))
    passes, least = given.get("passes", not given), given.get("return_at_least")
    if not isinstance(passes, bool):
        raise ValueError(f"passes is {passes!r:.60}; it is true or false")
    within = {k: _span(f"within {k}", v) for k, v in _table("within", given.get("within", {})).items()}
    settles = {k: _settling(k, v) for k, v in _table("settles", given.get("settles", {})).items()}
    if not passes and least is None and not within and not settles:
        raise ValueError("nothing must hold in it; say what must")
    return Must(passes, None if least is None else _number("return_at_least", least), within, settles)


def _settling(name: str, given: Any) -> Settles:
    said = _table(f"settles {name}", given)
    _only(said, f"settles {name}", ("at", "by", "after_s"))
    found = Settles(*(_number(f"settles {name} {k}", said[k]) for k in ("at", "by", "after_s")))
    if found.by <= 0 or found.after_s < 0:
        raise ValueError(f"settles {name} needs by above 0 and after_s of at least 0")
    return found


def _disturbance(given: Any) -> Disturbance:
    said = _table("disturbance", given)
    _only(said, "a disturbance", ("what", "of", "times", "add", "from_s", "to_s"))
    numbers = {k: _number(k, said[k]) for k in ("times", "add", "from_s", "to_s") if k in said}
    what: Any = _word("what", said["what"])
    return Disturbance(what, _word("of", said["of"]), **numbers)


def _span(name: str, given: Any) -> Span:
    """A number, or a list of a lowest and a highest one."""
    ends = given if isinstance(given, list | tuple) else [given, given]
    if len(ends) != 2:
        raise ValueError(f"{name} is {given!r:.60}; a number belongs there, or [lowest, highest]")
    low, high = (_number(name, v) for v in ends)
    if low > high:
        raise ValueError(f"{name} goes from {low} to {high}; the lowest comes first")
    return low, high


def _number(name: str, given: Any) -> float:
    if not isinstance(given, int | float) or isinstance(given, bool) or not math.isfinite(given):
        raise ValueError(f"{name} is {given!r:.60}; a number belongs there")
    return float(given)


def _word(name: str, given: Any) -> str:
    if not isinstance(given, str) or not 0 < len(given) <= LONGEST_NAME:
        raise ValueError(f"{name} is {given!r:.60}; a word of up to {LONGEST_NAME} letters belongs there")
    return given


def _table(name: str, given: Any) -> Mapping[str, Any]:
    if not isinstance(given, Mapping):
        raise ValueError(f"{name} is {given!r:.60}; a table belongs there")
    return given


def _list(name: str, given: Any) -> list[Any]:
    if not isinstance(given, list):
        raise ValueError(f"{name} is {given!r:.60}; write it as [[{name}]]")
    return given


def _only(given: Mapping[str, Any], where: str, known: tuple[str, ...]) -> None:
    strange = sorted(set(given) - set(known))
    if strange:
        raise ValueError(f"{where} does not know {strange[0]!r:.60} (it knows: {', '.join(known)})")
