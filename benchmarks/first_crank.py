"""From `git clone` to the first crank: docs/your-robot.md, command by command, in an empty folder with nothing set up.

The commands are those of the page's `sh` blocks, in their order and in one shell. The home folder is empty, too, so that nothing
compiled or downloaded before is found; only pip's own settings are taken along.
"""

import itertools
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tyro

from frame import HERE, Benchmark, console, finish

PAGE = Path("docs") / "your-robot.md"
FIRST_CRANK = "gapless crank"
MARK = "first-crank-at"
BARS = {"seconds_clone_to_first_crank": "< 3600"}


@dataclass(frozen=True)
class FirstCrank(Benchmark):
    """Follow the page and time each command."""

    repository: Path = HERE.parent
    """What is cloned; its last commit counts, not what is uncommitted."""


def main() -> None:
    options = tyro.cli(FirstCrank, description=__doc__)
    commands = commands_of(options.repository / PAGE)
    with tempfile.TemporaryDirectory(prefix="first-crank-") as folder, console.status("following the page"):
        seconds = follow(commands, Path(folder), options.repository)
    rows: list[dict[str, Any]] = [
        {"seconds": taken, "command": command} for command, taken in zip(commands, seconds, strict=True)
    ]
    until = 1 + next(k for k, command in enumerate(commands) if command.startswith(FIRST_CRANK))
    finish("first_crank", options, {"seconds_clone_to_first_crank": sum(seconds[:until])}, rows, BARS)


def commands_of(page: Path) -> list[str]:
    """The lines of all `sh` blocks of a page."""
    blocks = re.findall(r"^```sh\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE)
    return [line for block in blocks for line in block.splitlines() if line.strip()]


def follow(commands: list[str], folder: Path, repository: Path) -> list[float]:
    """Seconds that each command took, in one shell; raises with its last words when one fails."""
    script = ["set -e", f"mark() {{ echo {MARK} $EPOCHREALTIME; }}", "mark"]
    script += [line for command in commands for line in (command, "mark")]
    (folder / "home").mkdir()
    (folder / "work").mkdir()
    done = subprocess.run(
        ["bash", "-c", "\n".join(script)], cwd=folder / "work", env=bare(folder / "home", repository),
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    times = [float(line.split()[1].replace(",", ".")) for line in done.stdout.splitlines() if line.startswith(MARK)]
    if done.returncode:
        raise RuntimeError(f"`{commands[len(times) - 1]}` ended with {done.returncode}: {done.stdout[-2000:]}")
    return [after - before for before, after in itertools.pairwise(times)]


def bare(home: Path, repository: Path) -> dict[str, str]:
    """An environment with an empty home, the Python that runs this, and the address of the repository."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("XDG_", "VIRTUAL_ENV", "PYTHON", "JAX_", "XLA_"))}
    python = shutil.which("python3", path=str(Path(sys.base_prefix) / "bin"))
    if python is None:
        raise RuntimeError(f"there is no python3 in {sys.base_prefix}/bin")
    settings = [
        p for p in (Path.home() / ".config" / "pip" / "pip.conf", Path.home() / ".pip" / "pip.conf") if p.is_file()
    ]
    return {
        **kept,
        "HOME": str(home),
        "PATH": f"{Path(python).parent}:{os.environ['PATH']}",
        "GAPLESS": str(repository.resolve()),
        **({"PIP_CONFIG_FILE": str(settings[0])} if settings else {}),
    }


if __name__ == "__main__":
    main()
