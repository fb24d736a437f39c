"""`gapless fleet` on workspaces whose beliefs were written by hand."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gapless.cli import main
from gapless.core import Gaussian, prior_belief
from gapless.engine import new_workspace
from gapless.simulators import read_parameters


def _believing(folder: Path, gain: float) -> Path:
    workspace = new_workspace(folder, "cartpole", "swingup", 0)
    prior = prior_belief(workspace.parameters)
    centre = np.array([gain if n == "motor.gain" else c for n, c in zip(prior.names, prior.centre, strict=True)])
    belief = Gaussian(prior.names, centre, prior.covariance / 1e4, prior.low, prior.high)

    def build(draft: Path) -> dict[str, Any]:
        (draft / "belief.json").write_text(json.dumps(belief.to_dict()))
        return {}

    workspace.store.make("belief", {}, {"crank": 0}, build)
    return folder


def test_the_next_robot_begins_with_what_the_fleet_has_in_common(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    folders = [str(_believing(tmp_path / f"robot{k}", gain)) for k, gain in enumerate((1.18, 1.20, 1.22))]
    out = tmp_path / "params.toml"
    main(["fleet", *folders, "--out", str(out)])
    assert "The fleet" in capsys.readouterr().out
    known = {p.name: p for p in read_parameters(out)}
    assert known["motor.gain"].nominal == pytest.approx(1.2, abs=0.01)
    assert 1.0 < known["motor.gain"].low < 1.18 < 1.22 < known["motor.gain"].high < 1.4


def test_one_robot_is_no_fleet(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["fleet", str(_believing(tmp_path / "robot", 1.2))])
    assert ended.value.code != 0
    assert "at least two robots" in capsys.readouterr().err
