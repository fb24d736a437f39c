"""`gapless preflight` tells bugs from gaps, and the engine refuses to learn from bugs."""

from pathlib import Path

import numpy as np
import pytest

from gapless.cli import main
from gapless.logs import read_mapping

CLOCK = np.arange(0, 4.0, 0.02)
MAPPING = """
time = "t"
[channels.motor]
columns = ["u"]
[channels."cart.position"]
columns = ["x"]
[channels."pole.angle"]
columns = ["q"]
"""


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A workspace with a recording whose pole has stopped answering half-way."""
    main(["new", str(tmp_path / "bench"), "--model", "cartpole", "--task", "swingup"])
    rng = np.random.default_rng(0)
    angle = 0.2 * np.sin(5 * CLOCK) + 1e-3 * rng.normal(size=len(CLOCK))
    angle[100:] = angle[100]
    rows = np.column_stack([CLOCK, 3 * np.sin(3 * CLOCK), 0.1 * np.sin(3 * CLOCK), angle])
    np.savetxt(tmp_path / "run.csv", rows, delimiter=",", header="t,u,x,q", comments="")
    (tmp_path / "mapping.toml").write_text(MAPPING)
    files = [str(tmp_path / "run.csv"), "--mapping", str(tmp_path / "mapping.toml")]
    main(["import", *files, "--workspace", str(tmp_path / "bench")])
    return tmp_path / "bench"


def test_a_bug_is_shown_and_ends_with_status_one(
    workspace: Path, tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["preflight", str(workspace), "--fix", str(tmp_path / "mapping.toml")])
    said = " ".join(capsys.readouterr().out.split())
    assert ended.value.code == 1
    assert "frozen" in said and "no mapping can put this right" in said
    assert read_mapping(tmp_path / "mapping.toml").channels["pole.angle"].columns == ("q",)


def test_nothing_is_learnt_from_logs_with_a_bug(workspace: Path, capsys: pytest.CaptureFixture) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["learn", "--workspace", str(workspace)])
    said = " ".join(capsys.readouterr().err.split())
    assert ended.value.code == 2
    assert "pole.angle does not change" in said and "no-preflight" in said


@pytest.mark.parametrize("command", ["preflight", "learn"])
def test_what_was_found_is_on_the_page(workspace: Path, command: str) -> None:
    with pytest.raises(SystemExit):
        main([command, "--workspace", str(workspace)])
    main(["report", str(workspace), "--no-film"])
    page = (workspace / "report.html").read_text()
    assert "1 wrong convention in the logs" in page and "pole.angle does not change" in page
