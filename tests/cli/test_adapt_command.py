"""The command that adapts: what it explains, how it refuses, and one small adaptation of a twin from beginning to end."""

import json
from pathlib import Path

import pytest

from gapless.cli import main
from gapless.core import prior_belief
from gapless.engine import Workspace, new_workspace

TWIN = "twin:cartpole?seed=1"
SETTINGS = {"method.worlds": 16, "method.steps": 16, "method.epochs": 1, "method.minibatches": 1, "method.budget": 512}
TINY = [part for name, value in {**SETTINGS, "looks": 1}.items() for part in (f"--recipe.train.{name}", str(value))]


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return new_workspace(tmp_path / "bench", "cartpole", "swingup")


def refused(arguments: list[str], capsys: pytest.CaptureFixture) -> str:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    return " ".join(capsys.readouterr().err.split())


def asked(workspace: Workspace, method: str, *more: str) -> list[str]:
    return ["adapt", "--workspace", str(workspace.folder), "--robot", TWIN, "--method", method, *more]


def believe(workspace: Workspace) -> None:
    def build(folder: Path) -> dict:
        (folder / "belief.json").write_text(json.dumps(prior_belief(workspace.parameters).to_dict()))
        return {}

    workspace.store.make("belief", {}, {"crank": 0}, build)


def test_it_explains_itself(capsys: pytest.CaptureFixture) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["adapt", "--help"])
    assert ended.value.code == 0
    said = capsys.readouterr().out
    assert "--method" in said and "strategy-bo" in said and "--robot-seconds" in said


def test_what_is_missing_or_unknown_costs_one_sentence(workspace: Workspace, capsys: pytest.CaptureFixture) -> None:
    assert "has no belief yet. Run `gapless learn` first" in refused(asked(workspace, "simopt"), capsys)
    assert "there is no way of adapting 'magic'" in refused(asked(workspace, "magic"), capsys)
    nowhere = ["adapt", "--workspace", str(workspace.folder / "none"), "--robot", TWIN, "--method", "rma"]
    assert "is not a workspace" in refused(nowhere, capsys)


@pytest.mark.slow
def test_a_strategy_is_searched_and_the_page_shows_it(workspace: Workspace, capsys: pytest.CaptureFixture) -> None:
    believe(workspace)
    figures = workspace.folder / "adapted.json"
    command = asked(workspace, "strategy-bo", "--episodes", "2", "--force", "--json", str(figures), *TINY)
    main(command)
    made = json.loads(figures.read_text())
    assert len(made["tries"]) == 2 and made["method"] == "strategy-bo"
    main(command)  # finds what was made
    assert len(workspace.store.all("logs")) == 2
    main(["report", "--workspace", str(workspace.folder)])
    assert "strategy-bo: return of each try" in (workspace.folder / "report.html").read_text()
    assert "Tried by strategy-bo" in capsys.readouterr().out
