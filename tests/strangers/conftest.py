"""How a file from somebody else is refused: in one sentence, soon, in little memory, and without a trace."""

import resource
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gapless.core import GaplessError
from gapless.engine import Workspace, new_workspace

SOON_S = 15.0
LITTLE_KIB = 2**20


@pytest.fixture
def refusal(tmp_path: Path) -> Callable[..., str]:
    def refusal(call: Callable[..., Any], *arguments: Any) -> str:
        """What is said by a call that must refuse."""
        began, peak, there = time.monotonic(), _peak_kib(), _everything(tmp_path)
        with pytest.raises(GaplessError) as caught:
            call(*arguments)
        assert time.monotonic() - began < SOON_S
        assert _peak_kib() - peak < LITTLE_KIB
        assert _everything(tmp_path) == there
        assert str(caught.value).isprintable()
        return str(caught.value)

    return refusal


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return new_workspace(tmp_path / "cart", "cartpole", "swingup")


def _peak_kib() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _everything(folder: Path) -> dict[Path, bytes | None]:
    """All that lies below a folder; sparse giants by name alone."""
    small = {p for p in folder.rglob("*") if p.is_file() and p.stat().st_size < 2**20}
    return {p: p.read_bytes() if p in small else None for p in folder.rglob("*")}
