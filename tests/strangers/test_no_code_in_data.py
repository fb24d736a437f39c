"""Nothing in the package can turn data into code, or unpack an archive."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import gapless

SOURCES = sorted(Path(gapless.__file__).parent.rglob("*.py"))
MODULES = {"pickle", "cPickle", "dill", "cloudpickle", "joblib", "shelve", "marshal", "yaml", "tarfile", "torch"}
WRITES_ONLY = {"exchange/actuator_torch.py": {"torch"}, "exchange/rsl_rl_env.py": {"torch"}}
"""What may use such a module all the same, because it never loads anything with it."""
CALLS = {"eval", "exec", "compile_command", "extract", "extractall", "unpack_archive", "load_module", "read_pickle"}


def imported(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield (node.module or "").partition(".")[0]


def called(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")


def pickles_allowed(tree: ast.AST) -> bool:
    return any(
        isinstance(node, ast.keyword) and node.arg == "allow_pickle" and ast.unparse(node.value) != "False"
        for node in ast.walk(tree)
    )


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: f"{p.parent.name}/{p.name}")
def test_no_file_of_ours_can_unpickle_evaluate_or_unpack(path: Path) -> None:
    tree = ast.parse(path.read_text())
    allowed = WRITES_ONLY.get(f"{path.parent.name}/{path.name}", set())
    assert not (MODULES - allowed) & set(imported(tree))
    assert not (CALLS | ({"load"} if allowed else set())) & set(called(tree))
    assert not pickles_allowed(tree)


@pytest.mark.parametrize(
    "text",
    ["import pickle", "from torch import load", "eval('1')", "z.extractall()", "np.load(f, allow_pickle=True)"],
)
def test_this_search_finds_what_it_looks_for(text: str) -> None:
    tree = ast.parse(text)
    assert MODULES & set(imported(tree)) or CALLS & set(called(tree)) or pickles_allowed(tree)
