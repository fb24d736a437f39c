"""One command, `gapless`, with subcommands named after the loop."""

import json
import os
import sys
from pathlib import Path
from typing import Annotated, Any, Union

import tyro

from gapless.core import GaplessError
from gapless.core.artifact import plain, write_text
from gapless.engine import Recipe

from .commands import COMMANDS
from .console import complain
from .export import with_kind
from .options import InWorkspace, asked_recipe, with_recipe

DESCRIPTION = """Gapless learns your robot's simulator from its logs, trains a policy in it, and says beforehand what it will do.

The loop, on your own robot: doctor, new, then crank. By hand: new, collect or import, gap, learn, train, check, forecast, collect
again; report and export at any time. `gapless demo` shows all of it on a built-in robot."""


def main(arguments: list[str] | None = None) -> None:
    """Run a command; a user's mistake costs one sentence and exit status 2."""
    given = with_kind(sys.argv[1:] if arguments is None else arguments)
    try:
        given, recipe = asked_recipe(given)
        chosen = tyro.conf.OmitSubcommandPrefixes[_choice(recipe)]
        command: Any = tyro.cli(chosen, prog="gapless", description=DESCRIPTION, args=given)
        _compile_once()
        printed = command.run()
        if command.json is not None:
            write_text(Path(command.json), json.dumps(plain(printed), indent=1, ensure_ascii=False) + "\n")
        if command.status(printed):
            sys.exit(command.status(printed))
    except GaplessError as error:
        complain(str(error))
        sys.exit(2)
    except BrokenPipeError:  # whoever reads us, `head` for one, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except KeyboardInterrupt:
        complain("interrupted; what was finished is kept. Run the same command again to go on.")
        sys.exit(130)


def _choice(recipe: Recipe | None) -> Any:
    """All commands; those with a recipe have this one's settings as their usual ones."""
    listed = []
    for name, kind in COMMANDS.items():
        asked = tyro.conf.subcommand(name=name)
        if recipe is not None and issubclass(kind, InWorkspace):
            asked = tyro.conf.subcommand(name=name, default=with_recipe(kind, recipe))
        listed.append(Annotated[kind, asked])
    return Union[tuple(listed)]  # noqa: UP007 — made at run time


def _compile_once() -> None:
    """Keep compiled programs between runs, so that only the very first one waits for them."""
    import jax

    folder = Path.home() / ".cache" / "gapless" / "compiled"
    jax.config.update("jax_compilation_cache_dir", str(folder))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.3)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", 0)


if __name__ == "__main__":
    main()
