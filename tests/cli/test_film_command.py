"""`gapless film`: what is shown depends on what there is, and a robot without a clone is told how to get one."""

from pathlib import Path
from typing import Any

import pytest

from gapless.cli import film, main
from gapless.core import Log
from gapless.engine import new_workspace


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[list[Log]]:
    """The logs that would have been filmed."""
    kept: list[list[Log]] = []

    def shoot(physics: Any, clone: Any, logs: list[Log], belief: Any, out: Path) -> dict[str, Any]:
        kept.append(logs)
        return {"shown_s": 1.0, "speed": 0.5}

    monkeypatch.setattr(film, "shoot_beside", shoot)
    return kept


def test_a_fresh_workspace_is_filmed_swaying(tmp_path: Path, shown: list[list[Log]]) -> None:
    new_workspace(tmp_path / "pole", "cartpole", "swingup")
    main(["film", str(tmp_path / "pole"), "--out", str(tmp_path / "film.mp4")])
    assert len(shown[0]) == 5
    assert all(log.source["simulated"] for log in shown[0])


def test_a_robot_that_was_never_cloned_is_refused(
    tmp_path: Path, shown: list[list[Log]], capsys: pytest.CaptureFixture
) -> None:
    new_workspace(tmp_path / "pole", "cartpole", "swingup")
    with pytest.raises(SystemExit) as ended:
        main(["film", str(tmp_path / "pole"), "--clones", str(tmp_path / "nowhere")])
    assert ended.value.code == 2
    assert "nowhere" in "".join(capsys.readouterr().err.split())
    assert not shown
