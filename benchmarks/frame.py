"""What all benchmarks share: options, cached cells, a table, and the JSON file."""

import hashlib
import importlib.metadata
import json
import multiprocessing
import os
import platform
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import jax
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

import gapless
from gapless.core import GaplessError
from gapless.core.artifact import plain, write_text

HERE = Path(__file__).parent
CELLS = HERE / ".cells"
PACKAGES = ("numpy", "jax", "mujoco")
console = Console(width=None if sys.stdout.isatty() else 200)
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
    jobs: int = 1
    """Cells computed side by side, each on cores of its own."""


def start(main: Callable[[], None]) -> None:
    """Run a benchmark: what it compiles is kept for the next run, and a user's mistake ends it with one sentence."""
    jax.config.update("jax_compilation_cache_dir", str(Path(tempfile.gettempdir()) / "gapless-compiled"))
    try:
        main()
    except GaplessError as error:
        console.print(str(error))
        raise SystemExit(1) from None


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
        CELLS.mkdir(exist_ok=True)
        missing = [s for s in settings if not self._file(s).is_file()]
        with Progress(console=console, transient=True) as progress:
            task = progress.add_task(self.name, total=len(settings), completed=len(settings) - len(missing))
            for setting, found in self._computed(cell, missing):
                write_text(self._file(setting), json.dumps(plain(found)))
                progress.advance(task)
        done = [s for s in settings if self._file(s).is_file()]
        if len(done) < len(settings):
            console.print(f"{self.name}: {len(done)} of {len(settings)} cells within the budget; run again to go on.")
        return [json.loads(self._file(s).read_text()) for s in done]

    def _computed(
        self, cell: Callable, missing: list[dict[str, Any]]
    ) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
        """Settings and their results, as they come."""
        began = time.perf_counter()
        if self.options.jobs == 1:
            for setting in missing:
                if time.perf_counter() - began > self.options.budget_s:
                    return
                yield setting, _forgetting(cell, setting)
            return
        pinned = multiprocessing.get_context("spawn").Value("i", 0)
        with ProcessPoolExecutor(
            self.options.jobs, multiprocessing.get_context("spawn"), _pin, (pinned, self.options.jobs)
        ) as pool:
            waiting, running = list(missing), {}
            while waiting or running:
                while waiting and len(running) < self.options.jobs:
                    if time.perf_counter() - began > self.options.budget_s:
                        waiting = []
                        break
                    setting = waiting.pop(0)
                    running[pool.submit(_forgetting, cell, setting)] = setting
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    yield running.pop(future), future.result()

    def _file(self, setting: dict[str, Any]) -> Path:
        spelled = json.dumps([self.name, self._code, setting], sort_keys=True)
        return CELLS / f"{self.name}-{hashlib.sha256(spelled.encode()).hexdigest()[:16]}.json"


def _forgetting(cell: Callable, setting: dict[str, Any]) -> dict[str, Any]:
    """A cell's result, with nothing left of what it compiled: a process can hold so many programs and no more."""
    found = cell(setting)
    jax.clear_caches()
    return found


def _pin(count: Any, jobs: int) -> None:
    """Give a worker its own share of the cores: simulators use as many threads as they may."""
    cores = sorted(os.sched_getaffinity(0))
    with count.get_lock():
        mine = count.value % jobs
        count.value += 1
    os.sched_setaffinity(0, cores[mine::jobs] or cores)


def finish(
    name: str, options: Benchmark, figures: dict[str, Any], rows: list[dict[str, Any]], bars: dict[str, str]
) -> None:
    """Print rows and figures, and write them where --json says."""
    if rows:
        _table(name, list(rows[0]), [list(r.values()) for r in rows])
    _table("figures", ["key", "figure", "bar"], [[k, v, bars.get(k, "")] for k, v in figures.items()])
    write(name, options, figures, rows)


def write(name: str, options: Benchmark, figures: dict[str, Any], rows: list[dict[str, Any]]) -> None:
    """Write what is known so far where --json says: called after each cell, an interruption costs one of them."""
    if options.json is None:
        return
    if options.quick:
        figures = {**figures, "quick": True}
    written = {"benchmark": name, "figures": figures, "rows": rows, "machine": machine(), "options": asdict(options)}
    written["seconds"] = time.perf_counter() - BEGAN
    write_text(options.json, json.dumps(plain(written), indent=1, ensure_ascii=False) + "\n")


def machine() -> dict[str, Any]:
    """Where it ran."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    versions = {p: importlib.metadata.version(p) for p in PACKAGES} | {
        "python": platform.python_version(),
        "gapless": gapless.__version__,
    }
    gpu = next((d.device_kind for d in jax.devices() if d.platform == "gpu"), None)
    return {"cores": os.cpu_count(), "memory": f"{memory:.0f} GiB", "gpu": gpu, "versions": versions}


def _table(title: str, columns: list[str], rows: list[list[Any]]) -> None:
    drawn = Table(title=title, title_justify="left")
    for column in columns:
        drawn.add_column(column)
    for row in rows:
        drawn.add_row(*(f"{v:.4g}" if isinstance(v, float) else str(v) for v in row))
    console.print(drawn)
