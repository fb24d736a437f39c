"""The page: whole, self-contained, tolerant of what is missing, and safe with any text."""

import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from gapless.core import Store
from gapless.report import write_report

HEADINGS = (
    "The loop, crank by crank",
    "Robot against simulation",
    "Bug or gap?",
    "The chosen motion",
    "Predicted against measured",
    "The gap by horizon and channel",
    "What nothing explains yet",
    "Parameters",
    "What causes the gap",
    "Learning curves",
    "Forecast against outcome",
    "Verdicts and stops",
    "Lineage",
)
HOSTILE = "<script>alert('&\")</script>"
KINDS = ("logs", "aborted", "preflight", "belief", "gap", "attribution", "policy", "check", "forecast", "outcome")


class Elements(HTMLParser):
    """Collects tags, attributes and text, and checks that every element is closed in order."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.text: list[str] = []
        self.tags: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in ("style", "script"):
            self.text.append(data)


def render(store: Store) -> str:
    out = write_report(store, store.folder.parent / "site" / "report.html", "Swing-up", "Robot: cart-pole")
    return out.read_text()


def words(store: Store) -> str:
    return " ".join(Elements(render(store)).text)


def test_page_of_three_cranks_has_every_section_in_order(filmed: Store):
    page = render(filmed)
    places = [page.index(f"<h2>{heading}</h2>") for heading in HEADINGS]
    assert places == sorted(places)
    assert "Not there yet" not in page


def test_header_says_in_one_sentence_what_came_of_it(whole: Store):
    assert (
        "After 3 cranks and 97 robot seconds the policy scores 3.90, inside its forecast of 3.40 to 4.20, and passes."
        in words(whole)
    )


def test_tiles_give_the_ratio_of_the_gap_and_the_verdict(whole: Store):
    text = words(whole)
    assert "0.84 → 0.02" in text
    assert "42 times smaller" in text
    assert "✓ hit" in text
    assert "✓ passes" in text


def test_missed_forecast_is_counted_as_a_miss(whole: Store):
    assert "2 of 3 outcomes fell inside the interval." in words(whole)


@pytest.mark.parametrize("kind", ["whole", "collected", "empty"])
def test_page_is_well_formed(kind: str, request: pytest.FixtureRequest):
    elements = Elements(render(request.getfixturevalue(kind)))
    assert elements.open == []


def test_page_asks_nothing_of_the_network(filmed: Store):
    page = render(filmed)
    attributes = Elements(page).attributes
    links = [value for _, name, value in attributes if name in ("src", "href", "srcset", "action")]
    assert links
    assert all(link.startswith(("#", "data:video/mp4;")) for link in links)
    assert not re.search(r"https?:|url\(|@import|fetch\(|XMLHttpRequest", page)
    assert any(value.startswith("default-src 'none';") for _, name, value in attributes if name == "content")


def test_links_of_the_page_lead_somewhere(whole: Store):
    attributes = Elements(render(whole)).attributes
    ids = {value for _, name, value in attributes if name == "id"}
    assert {value[1:] for _, name, value in attributes if name == "href"} <= ids


def test_same_store_gives_the_same_bytes(whole: Store):
    assert render(whole) == render(Store(whole.folder))


def test_empty_workspace_names_the_first_command(empty: Store):
    text = words(empty)
    assert "Nothing has been made yet: gapless collect records the first logs." in text
    assert all(heading in text for heading in HEADINGS)


def test_collected_workspace_shows_its_logs_and_the_next_command(collected: Store):
    text = words(collected)
    assert "12 robot seconds are recorded; gapless learn" in text
    assert "3 episodes" in text


@pytest.mark.parametrize("kind", KINDS)
def test_page_survives_an_artifact_without_figures(kind: str, put: Callable[..., Any], empty: Store):
    put(kind, {})
    assert Elements(render(empty)).open == []


@pytest.mark.parametrize("kind", KINDS)
def test_page_survives_every_figure_being_null(kind: str, whole: Store):
    for artifact in whole.all(kind):
        blank_figures(artifact.file("artifact.json"), without)
    assert Elements(render(whole)).open == []


def test_page_survives_every_number_being_null(whole: Store):
    for artifact in whole.all():
        blank_figures(artifact.file("artifact.json"), without_numbers)
    page = render(whole)
    assert Elements(page).open == []
    assert "None" not in " ".join(Elements(page).text)


@pytest.mark.parametrize("kind", KINDS)
def test_page_survives_a_kind_that_was_never_made(kind: str, whole: Store):
    for artifact in whole.all(kind):
        artifact.file("artifact.json").unlink()
    assert Elements(render(whole)).open == []


def test_hostile_names_are_shown_and_never_run(put: Callable[..., Any], empty: Store):
    estimate = {"nominal": 1.0, "prior_low": 0.0, "prior_high": 2.0, "mean": 1.0, "low95": 0.9, "high95": 1.1}
    part = {"acts_on": [HOSTILE], "held_out_before": 0.2, "held_out_after": 0.1}
    untold = {"untold": HOSTILE, "untold_together": [[[HOSTILE, 1.0], [HOSTILE, 2.0]]], "refused": HOSTILE}
    parameters = [{**estimate, "name": HOSTILE, "unit": HOSTILE, "family": HOSTILE}]
    put("belief", {"parameters": parameters, **untold, "residual": part})
    put("attribution", {"families": [{"family": HOSTILE, "explained": 0.5}], "together": 0.6, "unexplained": 0.4})
    curve = {
        "channel": HOSTILE,
        "unit": HOSTILE,
        "time_s": [0, 1],
        "measured": [0, 1],
        "before": [0, 2],
        "after": [0, 1],
    }
    errors = {HOSTILE: [0.1, 0.2]}
    side = {"name": HOSTILE, "unit": HOSTILE, "low": 0.0, "high": 1.0}
    cells = {"channel": HOSTILE, "unit": HOSTILE, "x": side, "y": side, "mean": [[0.1, None]], "count": [[1, 0]]}
    gap = {"horizons_s": [0.1, 1.0], "before": errors, "after": errors, "floor": errors, "curves": [curve]}
    put("gap", {**gap, "maps": [cells]})
    finding = dict.fromkeys(("kind", "evidence", "advice"), HOSTILE)
    put("preflight", {"findings": [{**finding, "channels": [HOSTILE], "fold": 3.0}]})
    moved = {"kind": HOSTILE, "name": HOSTILE, "unit": HOSTILE, "expected": [0, 1], "measured": [0, 1]}
    motion = {"time_s": [0, 1], "channels": [moved], "now": {HOSTILE: 1.0}, "after": {HOSTILE: 0.5}}
    put("logs", {"robot_seconds": 1.0, "episodes": [], "motions": [motion]})
    out = write_report(empty, empty.folder / "report.html", HOSTILE, HOSTILE)
    elements = Elements(out.read_text())
    assert elements.tags.count("script") == 1
    assert HOSTILE in "".join(elements.text)


def test_aborted_episodes_count_as_robot_time(put: Callable[..., Any], empty: Store):
    put("aborted", {"robot_seconds": 7.0, "reason": "cart at its limit"})
    assert "7.0 s" in words(empty)
    assert "1 aborted" in words(empty)


def test_reasons_of_stopped_and_aborted_episodes_are_told(put: Callable[..., Any], empty: Store):
    put("aborted", {"robot_seconds": 7.0, "reason": "the recording was interrupted"})
    stopped = {
        "episode": 3,
        "seconds": 1.7,
        "passed": False,
        "margin": -1.0,
        "stopped": "cart.position is at its limit",
    }
    put("logs", {"robot_seconds": 6.7, "episodes": [stopped]})
    text = words(empty)
    assert "the recording was interrupted" in text
    assert "cart.position is at its limit" in text


def test_page_says_how_well_the_belief_explains_logs_it_has_not_seen(whole: Store):
    assert "Chi-square on held-out logs is 1.1 per degree of freedom" in words(whole)


def test_least_margin_on_the_robot_is_told_for_every_crank(whole: Store):
    assert "least −1.7" in words(whole)  # crank 1 got 1.8 at worst, and 3.5 was wanted
    assert "least 0.30" in words(whole)


def test_film_is_inside_the_page(filmed: Store):
    assert 'src="data:video/mp4;base64,bm90IHJlYWxseSBhIGZpbG0="' in render(filmed)


def test_page_without_a_film_says_why_in_one_sentence(whole: Store):
    out = write_report(whole, whole.folder.parent / "report.html", "Swing-up", "Robot", "there is no ffmpeg here")
    assert "No film: there is no ffmpeg here." in " ".join(Elements(out.read_text()).text)


def test_every_chart_has_a_title_and_is_told_aloud(whole: Store):
    page = render(whole)
    charts = page.count("<svg viewBox")
    assert page.count("<figcaption>") >= 9
    assert len(re.findall(r'<svg viewBox="[^"]*" role="img" aria-label="[^"]{25,}"', page)) == charts


def test_long_lineage_waits_to_be_unfolded(put: Callable[..., Any], empty: Store):
    for crank in range(41):
        put("logs", {"robot_seconds": 1.0, "episodes": []}, crank=crank)
    assert "Show all 41" in words(empty)


def blank_figures(record: Path, blank: Callable[[Any], Any]) -> None:
    stored = json.loads(record.read_text())
    record.write_text(json.dumps({**stored, "figures": blank(stored["figures"])}))


def without(figures: dict[str, Any]) -> dict[str, Any]:
    return dict.fromkeys(figures)


def without_numbers(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: without_numbers(v) for k, v in value.items()}
    if isinstance(value, list):
        return [without_numbers(v) for v in value]
    return value if isinstance(value, str) else None


def test_causes_are_shown_in_both_currencies(whole: Store):
    page = render(whole)
    assert "Whose fault the error half a second ahead is" in page
    assert "What the policy loses by each cause" in page
    assert "90 % " in page


def test_causes_without_a_policy_are_shown_in_prediction_error_only(put: Callable[..., Any], empty: Store):
    put("attribution", {"families": [{"family": "friction", "explained": 0.5}], "others": []})
    page = render(empty)
    assert "The largest cause is friction" in page
    assert "What the policy loses by each cause" not in page
