"""Classes that a user names: file.py:Class or package.module:Class."""

import importlib
import importlib.util
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType
from typing import Any

from .errors import GaplessError

FORMS = "path/to/file.py:Class or package.module:Class"


def load_class(spec: str, what: str) -> Any:
    """The class that a spec names."""
    place, _, name = spec.rpartition(":")
    if not name or not (place.endswith(".py") or all(part.isidentifier() for part in place.split("."))):
        raise GaplessError(f"cannot find a {what} called {spec!r}; write {FORMS}.")
    try:
        module = _from_file(Path(place)) if place.endswith(".py") else importlib.import_module(place)
        return getattr(module, name)
    except (ImportError, OSError, AttributeError, SyntaxError) as error:
        raise GaplessError(f"cannot load the {what} {spec!r}: {error}. Write {FORMS}.") from None


class _AsWritten(SourceFileLoader):
    """Runs the text that a reader sees, never a compiled file that somebody put beside it; and writes none."""

    def get_code(self, fullname: str) -> CodeType:
        return self.source_to_code(self.get_data(self.path), self.path)


def _from_file(path: Path) -> Any:
    found = importlib.util.spec_from_file_location(path.stem, path, loader=_AsWritten(path.stem, str(path)))
    if not path.is_file() or found is None or found.loader is None:
        raise FileNotFoundError(f"there is no file {path}")
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module
