"""What README and docs say can be typed, opened and imported."""

import ast
import re
import shlex
from importlib import import_module
from pathlib import Path

import pytest
import tyro

from gapless.cli.commands import COMMANDS
from gapless.cli.export import with_kind
from gapless.cli.options import InWorkspace, asked_recipe, with_recipe

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "ARCHITECTURE.md", *sorted((ROOT / "docs").glob("*.md"))]
COMMAND = re.compile(r"^\s*gapless ([^#\n]*)", re.MULTILINE)
CODE = re.compile(r"^( *)```python\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#:]+)\)")
FILE = re.compile(r"`((?:[\w-]+/)+[\w-]+\.(?:py|md|xml|toml))`|\b(docs/[\w-]+\.md|benchmarks/\w+\.py)\b")


@pytest.fixture(params=PAGES, ids=lambda page: page.stem)
def page(request: pytest.FixtureRequest) -> Path:
    return request.param


def test_every_command_is_understood(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What is optional in a synopsis is asked for, and N is a number."""
    for command in COMMAND.findall(page.read_text()):
        given = with_kind(shlex.split(re.sub(r"[\[\]]|--help\b", "", command.replace(" N]", " 1]"))))
        (name, *rest), recipe = asked_recipe(given)
        kind = COMMANDS[name]
        usual = with_recipe(kind, recipe) if recipe is not None and issubclass(kind, InWorkspace) else None
        try:
            tyro.cli(tyro.conf.OmitSubcommandPrefixes[kind], args=rest, default=usual)
        except SystemExit:
            pytest.fail(f"{page.name}: gapless {command}\n{capsys.readouterr().err}")


def test_every_link_leads_somewhere(page: Path) -> None:
    assert not [link for link in LINK.findall(page.read_text()) if not (page.parent / link).exists()]


def test_every_page_is_found_from_the_readme() -> None:
    found, new = set(), {"README.md"}
    while new:
        found |= new
        texts = [(ROOT / "docs" / name if name != "README.md" else ROOT / name).read_text() for name in new]
        new = {page.name for page in PAGES[2:] if any(page.name in text for text in texts)} - found
    assert not {page.name for page in PAGES[2:]} - found


def test_every_file_that_is_named_exists(page: Path) -> None:
    roots = [ROOT, ROOT / "src" / "gapless", *(ROOT / "src" / "gapless").iterdir()]
    named = [first or second for first, second in FILE.findall(page.read_text())]
    assert not [n for n in named if not any((root / n).exists() for root in roots) and not n.startswith("my")]


def test_every_import_from_gapless_works(page: Path) -> None:
    for indent, code in CODE.findall(page.read_text()):
        tree = ast.parse("\n".join(line.removeprefix(indent) for line in code.splitlines()))
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "gapless":
                module = import_module(node.module or "")
                assert not [a.name for a in node.names if not hasattr(module, a.name)], f"{page.name}: {node.module}"
