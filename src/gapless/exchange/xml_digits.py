"""How many digits MuJoCo writes into XML: six unless told otherwise, too few for a model that was measured."""

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import mujoco

DIGITS = 15
"""Every decimal number of so many digits survives the way through a double and back."""


@contextmanager
def all_digits() -> Iterator[bool]:
    """MuJoCo's XML with all digits that count, meanwhile; whether this MuJoCo can be told so."""
    library = _library()
    if library is None:
        yield False
        return
    before = library._mjPRIVATE__get_xml_precision()
    library._mjPRIVATE__set_xml_precision(DIGITS)
    try:
        yield True
    finally:
        library._mjPRIVATE__set_xml_precision(before)


def _library() -> ctypes.CDLL | None:
    """The C library that Python's mujoco has loaded; MuJoCo's own tests set the precision in the same way."""
    for path in sorted(Path(mujoco.__file__).parent.glob("*mujoco*")):
        if path.is_file() and any(part in path.name for part in (".so", ".dylib", ".dll")):
            try:
                library = ctypes.CDLL(str(path))
            except OSError:
                continue
            if hasattr(library, "_mjPRIVATE__set_xml_precision"):
                return library
    return None
