"""`gapless report`: one page or one for several, and the scene that is filmed."""

from pathlib import Path

import pytest

from gapless.cli import main
from gapless.cli.report import unseen_scene
from gapless.core import Artifact, Store


def make(store: Store, kind: str, parents: dict[str, str], **recipe: object) -> Artifact:
    return store.make(kind, parents, {"crank": 1, **recipe}, lambda folder: {"robot_seconds": 1.0, "episodes": []})


@pytest.fixture
def workspaces(tmp_path: Path) -> list[str]:
    folders = [str(tmp_path / name) for name in ("one", "two")]
    for folder in folders:
        main(["new", folder, "--model", "cartpole", "--task", "swingup"])
    return folders


def test_several_workspaces_share_one_page(workspaces: list[str], tmp_path: Path) -> None:
    page = tmp_path / "site" / "page.html"
    main(["report", *workspaces, "--out", str(page)])
    assert "2 workspaces side by side" in page.read_text()


def test_workspaces_of_the_same_name_go_by_their_folders(tmp_path: Path) -> None:
    folders = [str(tmp_path / place / "bench") for place in ("here", "there")]
    for folder in folders:
        main(["new", folder, "--model", "cartpole", "--task", "swingup"])
    main(["report", *folders, "--out", str(tmp_path / "page.html")])
    assert all(folder in (tmp_path / "page.html").read_text() for folder in folders)


def test_a_workspace_can_be_named_without_its_option(workspaces: list[str]) -> None:
    main(["report", workspaces[0], "--no-film"])
    text = Path(workspaces[0], "report.html").read_text()
    assert "it was not asked for" in text


def test_film_shows_the_newest_deployment_under_a_belief_that_has_not_seen_it(tmp_path: Path) -> None:
    store = Store(tmp_path)
    before = make(store, "belief", {})
    make(store, "logs", {}, purpose="excite")
    deployed = make(store, "logs", {}, purpose="deploy")
    make(store, "belief", {"logs0": deployed.id})
    assert unseen_scene(store) == (deployed, before)


def test_without_a_deployment_there_is_nothing_to_film(tmp_path: Path) -> None:
    store = Store(tmp_path)
    make(store, "belief", {})
    make(store, "logs", {}, purpose="excite")
    assert unseen_scene(store) is None
