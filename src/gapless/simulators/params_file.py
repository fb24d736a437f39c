"""The file in which the user edits what may be doubted: one TOML table per parameter."""

import json
import math
from pathlib import Path

from gapless.core import GaplessError, Parameter
from gapless.core.reading import LARGEST_TOML, plain_table, read_limited

HEADER = """\
# What the simulator may be wrong about. Identification moves the parameters with free = true within low … high;
# the others stay at their nominal value. Edit freely; names are <body|joint|actuator|geom|channel>.<quantity>.
"""


def write_parameters(parameters: tuple[Parameter, ...]) -> str:
    """The text of params.toml."""
    return HEADER + "".join(_table(p) for p in parameters)


def read_parameters(path: Path) -> tuple[Parameter, ...]:
    """The parameters that params.toml lists."""
    try:
        tables = plain_table(read_limited(path, LARGEST_TOML))
    except (GaplessError, ValueError) as error:
        raise GaplessError(f"cannot read the parameters in {path}: {error}") from None
    return tuple(_parameter(path, name, fields) for name, fields in tables.items())


def _table(p: Parameter) -> str:
    return (
        f"\n[{_quoted(p.name)}]\nnominal = {float(p.nominal)!r}\nlow = {float(p.low)!r}\nhigh = {float(p.high)!r}\n"
        f"unit = {_quoted(p.unit)}\nfamily = {_quoted(p.family)}\nfree = {str(p.free).lower()}\n"
    )


def _quoted(word: str) -> str:
    """A word as TOML spells it: names come out of model files that anybody may have written."""
    return json.dumps(word, ensure_ascii=False).replace("\x7f", "\\u007f")


def _parameter(path: Path, name: str, fields: object) -> Parameter:
    try:
        assert isinstance(fields, dict)
        numbers = [float(fields[k]) for k in ("nominal", "low", "high")]
        if not all(map(math.isfinite, numbers)):
            raise ValueError(f"with nominal, low and high {numbers}, which must be finite")
        return Parameter(
            name,
            str(fields.get("unit", "")),
            *numbers,
            family=str(fields["family"]),
            free=bool(fields.get("free", True)),
        )
    except (AssertionError, KeyError, TypeError, ValueError, OverflowError) as error:
        raise GaplessError(
            f"{path}: parameter {name!r} is incomplete ({type(error).__name__} {error}); "
            'write a table ["<name>"] with nominal, low, high, unit, family and free.'
        ) from None
