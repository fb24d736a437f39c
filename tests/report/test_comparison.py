"""The page for several workspaces."""

from html.parser import HTMLParser
from pathlib import Path

import pytest

from gapless.core import Store
from gapless.report import Chapter, write_comparison


class Words(HTMLParser):
    """The text of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(page)

    def handle_data(self, data: str) -> None:
        self.found.append(data)


def words(out: Path, **stores: Store) -> str:
    chapters = [Chapter(name, f"Robot {name}", store) for name, store in stores.items()]
    return " ".join(Words(write_comparison(chapters, out).read_text()).found).replace("\u00a0", " ")


def test_all_outcomes_are_scored_beside_what_was_claimed(whole: Store, tmp_path: Path):
    text = words(tmp_path / "page.html", first=whole, second=whole)
    assert "4 of 6 outcomes fell inside the interval stated beforehand; 80 % was claimed." in text


def test_every_workspace_has_its_row_and_its_charts(whole: Store, tmp_path: Path):
    text = words(tmp_path / "page.html", first=whole, second=whole)
    for name in ("first", "second"):
        assert f"Robot {name}" in text
        assert f"{name}: return on the robot and its forecast" in text
        assert f"{name}: the gap against robot time" in text
        assert f"{name}: causes of its gap" in text


def test_robot_time_adds_up_over_the_workspaces(whole: Store, tmp_path: Path):
    assert "194 s" in words(tmp_path / "page.html", first=whole, second=whole)


@pytest.mark.parametrize("kind", ["collected", "empty"])
def test_workspace_with_nothing_to_compare_is_listed_all_the_same(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path
):
    text = words(tmp_path / "page.html", young=request.getfixturevalue(kind), other=request.getfixturevalue(kind))
    assert "Robot young" in text
    assert "No forecast has met its outcome yet." in text


def test_same_stores_give_the_same_bytes(whole: Store, tmp_path: Path):
    pages = [write_comparison([Chapter("a", "b", whole)], tmp_path / f"{k}.html").read_bytes() for k in range(2)]
    assert pages[0] == pages[1]
