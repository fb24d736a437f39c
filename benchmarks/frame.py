"""What all benchmarks share: options, cached cells, a table, and the JSON file."""

import hashlib
import importlib.metadata
import json
import os
import platform
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

import gapless
from gapless.core.artifact import plain, write_text

HERE = Path(__file__).parent
CELLS = HERE / ".cells"
PACKAGES = ("numpy", "jax", "mujoco")
console = Console()
BEGAN = time.perf_counter()


@dataclass(frozen=True)
class Benchmark:
    """Options of every benchmark."""

    json: Path | None = None
    """Write figures, rows and machine to this file."""
    quick: bool = False
    """A smaller run of the same thing, for a first look."""
    budget_s: float = float("inf")
    """Begin no further cell after this many seconds; run again to go on."""


class Cells:
    """Results of long cells, kept by a hash of code and settings, so that a table can be filled in several sittings."""

    def __init__(self, name: str, options: Benchmark) -> None:
        self.name, self.options = name, options
        source = sorted(
            [*HERE.glob("*.py"), *(HERE.parent / "src").rglob("*.py"), *(HERE.parent / "src").rglob("*.xml")]
        )
        kept = [p for p in source if not {"report", "cli"} & set(p.parts)]
        self._code = hashlib.sha256(b"".join(p.read_bytes() for p in kept)).hexdigest()

    def run(
        self, cell: Callable[[dict[str, Any]], dict[str, Any]], settings: list[dict[str, Any]]
    ) -> list[dict[str, Any]]:
        """The results of all settings that fit the budget, found or computed."""
        results, began = [], time.perf_counter()
        with Progress(console=console, transient=True) as progress:
            task = progress.add_task(self.name, total=len(settings))
            for setting in settings:
                file = self._file(setting)
                if not file.is_file():
                    if time.perf_counter() - began > self.options.budget_s:
                        console.print(f"{self.name}: out of budget before {setting}; run again to go on.")
                        break
                    file.parent.mkdir(exist_ok=True)
                    write_text(file, json.dumps(plain(cell(setting))))
                results.append(json.loads(file.read_text()))
                progress.advance(task)
        return results

    def _file(self, setting: dict[str, Any]) -> Path:
        spelled = json.dumps([self.name, self._code, setting], sort_keys=True)
        return CELLS / f"{self.name}-{hashlib.sha256(spelled.encode()).hexdigest()[:16]}.json"


def finish(
    name: str, options: Benchmark, figures: dict[str, Any], rows: list[dict[str, Any]], bars: dict[str, str]
) -> None:
    """Print rows and figures, and write them where --json says."""
    if rows:
        _table(name, list(rows[0]), [list(r.values()) for r in rows])
    _table("figures", ["key", "figure", "bar"], [[k, v, bars.get(k, "")] for k, v in figures.items()])
    if options.quick:
        figures = {**figures, "quick": True}
    written = {"benchmark": name, "figures": figures, "rows": rows, "machine": machine(), "options": asdict(options)}
    written["seconds"] = time.perf_counter() - BEGAN
    if options.json is not None:
        write_text(options.json, json.dumps(plain(written), indent=1, ensure_ascii=False) + "\n")


def machine() -> dict[str, Any]:
    """Where it ran."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    versions = {p: importlib.metadata.version(p) for p in PACKAGES} | {
        "python": platform.python_version(),
        "gapless": gapless.__version__,
    }
    return {"cores": os.cpu_count(), "memory": f"{memory:.0f} GiB", "gpu": None, "versions": versions}


def _table(title: str, columns: list[str], rows: list[list[Any]]) -> None:
    drawn = Table(title=title, title_justify="left")
    for column in columns:
        drawn.add_column(column)
    for row in rows:
        drawn.add_row(*(f"{v:.4g}" if isinstance(v, float) else str(v) for v in row))
    console.print(drawn)
