"""Classes that a user names: file.py:Class or package.module:Class."""

import importlib
import importlib.util
from pathlib import Path
from typing import Any

from .errors import GaplessError

FORMS = "path/to/file.py:Class or package.module:Class"


def load_class(spec: str, what: str) -> Any:
    """The class that a spec names."""
    place, _, name = spec.rpartition(":")
    if not place or not name:
        raise GaplessError(f"cannot find a {what} called {spec!r}; write {FORMS}.")
    try:
        module = _from_file(Path(place)) if place.endswith(".py") else importlib.import_module(place)
        return getattr(module, name)
    except (ImportError, OSError, AttributeError, SyntaxError) as error:
        raise GaplessError(f"cannot load the {what} {spec!r}: {error}. Write {FORMS}.") from None


def _from_file(path: Path) -> Any:
    found = importlib.util.spec_from_file_location(path.stem, path)
    if not path.is_file() or found is None or found.loader is None:
        raise FileNotFoundError(f"there is no file {path}")
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module
