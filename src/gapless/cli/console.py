"""What the command line shows: progress while it works, tables when it is done, one sentence when it cannot."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from gapless.core.errors import printable

console = Console()
errors = Console(stderr=True)

Tell = Callable[..., None]


def complain(sentence: str) -> None:
    """One sentence on standard error."""
    errors.print(f"[bold red]gapless:[/] {_escaped(sentence)}", soft_wrap=True, highlight=False)


def say(sentence: str) -> None:
    """One sentence on standard output."""
    console.print(_escaped(sentence), soft_wrap=True, highlight=False)


@contextmanager
def working(title: str) -> Iterator[Tell]:
    """A progress line; call what it yields with a message and, where known, the share that is done."""
    columns = SpinnerColumn(), TextColumn("{task.description}"), BarColumn(bar_width=24), TimeElapsedColumn()
    with Progress(*columns, console=errors, transient=True) as progress:
        task = progress.add_task(title, total=None)

        def tell(message: str, share: float | None = None) -> None:
            progress.update(task, description=f"{title}: {_escaped(message)}", total=1.0 if share is not None else None)
            if share is not None:
                progress.update(task, completed=share)

        yield tell


def table(title: str, columns: list[str], rows: list[list[Any]]) -> None:
    """A table with numbers to the right."""
    drawn = Table(title=title, title_justify="left", header_style="bold")
    for k, column in enumerate(columns):
        numeric = all(isinstance(row[k], int | float) for row in rows)
        drawn.add_column(column, justify="right" if numeric else "left")
    for row in rows:
        drawn.add_row(*(_escaped(spelled(v)) for v in row))
    console.print(drawn)


def spelled(value: Any) -> str:
    """A value as people read it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4g}"
    return str(value)


def _escaped(text: str) -> str:
    return escape(printable(text))
