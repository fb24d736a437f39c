"""From what a user writes after --robot to a robot: a twin, a class in a file, or a class in a package."""

import importlib
import importlib.util
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from gapless.core import GaplessError, Robot

from .cartpole import CartpoleReality
from .reality import Reality
from .twin import Twin

REALITIES: dict[str, type[Reality]] = {"cartpole": CartpoleReality}
FORMS = "twin:NAME?seed=0&tier=A, path/to/file.py:Class or package.module:Class"


def find_robot(spec: str) -> Robot:
    """The robot that a spec names, not yet connected."""
    if spec.startswith("twin:"):
        return Twin(spec, reality_of(spec).interface)
    made = load_class(spec, "robot")()
    if not isinstance(made, Robot):
        raise GaplessError(f"{spec} is not a robot: its class must derive from gapless.core.Robot.")
    return made


def reality_of(spec: str) -> Reality:
    """The hidden physics behind twin:NAME?seed=…&tier=…&effects=a,b. For the twin's process and the judge only."""
    parts = urlsplit(spec.removeprefix("twin:"))
    options = {k: v[-1] for k, v in parse_qs(parts.query).items()}
    unknown = sorted(set(options) - {"seed", "tier", "effects"})
    if parts.path not in REALITIES or unknown or not options.get("seed", "0").isdigit():
        raise GaplessError(f"cannot make a twin of {spec!r}: twins are {', '.join(REALITIES)}; the form is {FORMS}.")
    effects = tuple(e for e in options.get("effects", "").split(",") if e)
    return REALITIES[parts.path](int(options.get("seed", "0")), options.get("tier", "A"), effects)  # type: ignore[arg-type]


def load_class(spec: str, what: str) -> Any:
    """The class that file.py:Class or package.module:Class names."""
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
