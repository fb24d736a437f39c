"""Classes that a user names, and what is said when they cannot be had."""

from pathlib import Path

import pytest

from gapless.core import GaplessError
from gapless.core.loading import load_class


def test_a_class_is_loaded_from_a_file_and_from_a_package(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("class Machine:\n    legs = 4\n")
    assert load_class(f"{tmp_path}/mine.py:Machine", "robot").legs == 4
    assert load_class("gapless.tasks:SwingUp", "task").name == "swingup"


@pytest.mark.parametrize(
    "spec",
    ["machine", "nowhere.py:Machine", "no.such.package:Machine", "gapless.tasks:Missing", ":", "broken.py:Machine"],
)
def test_what_cannot_be_loaded_is_named_with_the_forms_there_are(
    spec: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("broken.py").write_text("class Machine(\n")
    with pytest.raises(GaplessError, match="robot") as caught:
        load_class(spec, "robot")
    assert "package.module:Class" in str(caught.value)
