"""Numbers as people read them: few digits, true minus signs, units, and a dash for what is not known."""

import math

UNKNOWN = "–"
MINUS = "−"
NARROW_SPACE = "\u202f"
NO_BREAK_SPACE = "\u00a0"
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def number(value: float | None, digits: int = 3) -> str:
    """The value with that many significant digits."""
    if value is None:
        return UNKNOWN
    if value == 0:
        return "0"
    if not 1e-3 <= abs(value) < 1e6:
        return _with_power(value, digits)
    return fixed(value, max(0, digits - 1 - math.floor(math.log10(abs(value)))))


def terse(value: float | None, digits: int = 4) -> str:
    """The value without zeros that say nothing, as on a data sheet: 0.05, 1.7, 1200."""
    if value is None:
        return UNKNOWN
    if value and not 1e-4 <= abs(value) < 1e6:
        return _with_power(value, 1)
    shown = float(f"{value:.{digits}g}")
    return fixed(shown, len(f"{shown:.12f}".rstrip("0").partition(".")[2]))


def fixed(value: float | None, decimals: int) -> str:
    """The value with that many decimals, its thousands set apart."""
    if value is None:
        return UNKNOWN
    text = f"{abs(value):,.{decimals}f}".replace(",", NARROW_SPACE)
    return MINUS + text if value < 0 and any(c in "123456789" for c in text) else text


def decimals_for(width: float | None, digits: int = 2) -> int:
    """Decimals that show a number as finely as an interval of this width deserves."""
    if not width:
        return 3
    return min(6, max(0, digits - 1 - math.floor(math.log10(abs(width)))))


def interval(low: float | None, high: float | None) -> str:
    """Both ends with the same decimals, e.g. 3.70 to 4.10."""
    if low is None or high is None:
        return UNKNOWN
    decimals = decimals_for(high - low)
    return f"{fixed(low, decimals)} to {fixed(high, decimals)}"


def percent(share: float | None, decimals: int = 0) -> str:
    return UNKNOWN if share is None else f"{fixed(100 * share, decimals)}{NO_BREAK_SPACE}%"


def short(value: float) -> str:
    """A count with a suffix for thousands and millions, e.g. 1.5 M."""
    for size, suffix in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if abs(value) >= size:
            return f"{value / size:g}{suffix}"
    return f"{value:g}"


def with_unit(text: str, unit: str) -> str:
    return f"{text} {unit}" if unit else text


def count(amount: int, noun: str) -> str:
    """e.g. 1 crank, 3 cranks."""
    return f"{amount} {noun}" if amount == 1 else f"{amount} {noun}s"


def times(before: float | None, after: float | None) -> str | None:
    """How `after` compares with `before`, in words; None where no ratio makes sense."""
    if before is None or after is None or before <= 0:
        return None
    if after <= 0:
        return "down to the floor"
    if before >= after:
        return f"{number(before / after, 2)} times smaller"
    return f"{number(after / before, 2)} times larger"


def shortened(name: str, room: int) -> str:
    """The name, without its middle where it has more letters than there is room for."""
    half = max(room - 1, 8) // 2
    return name if len(name) <= room else f"{name[:half]}…{name[-half:]}"


def _with_power(value: float, digits: int) -> str:
    power = math.floor(math.log10(abs(value)))
    return f"{fixed(value / 10**power, digits - 1)}×10{str(power).translate(RAISED)}"
