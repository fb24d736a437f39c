"""The file in which the user edits what may be doubted: one TOML table per parameter."""

import tomllib
from pathlib import Path

from gapless.core import GaplessError, Parameter

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
        tables = tomllib.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise GaplessError(f"cannot read the parameters in {path}: {error}") from None
    return tuple(_parameter(path, name, fields) for name, fields in tables.items())


def _table(p: Parameter) -> str:
    unit = f'unit = "{p.unit}"' if p.unit else 'unit = ""'
    return (
        f'\n["{p.name}"]\nnominal = {float(p.nominal)!r}\nlow = {float(p.low)!r}\nhigh = {float(p.high)!r}\n{unit}\n'
        f'family = "{p.family}"\nfree = {str(p.free).lower()}\n'
    )


def _parameter(path: Path, name: str, fields: object) -> Parameter:
    try:
        assert isinstance(fields, dict)
        return Parameter(
            name,
            str(fields.get("unit", "")),
            *(float(fields[k]) for k in ("nominal", "low", "high")),
            family=str(fields["family"]),
            free=bool(fields.get("free", True)),
        )
    except (AssertionError, KeyError, TypeError, ValueError) as error:
        raise GaplessError(
            f"{path}: parameter {name!r} is incomplete ({type(error).__name__} {error}); "
            'write a table ["<name>"] with nominal, low, high, unit, family and free.'
        ) from None
