"""Charts of trust: every period and every promise is drawn where its figures say."""

import re
from itertools import pairwise
from pathlib import Path

from gapless.report import Promise, Visits, trust_section, write_trust
from gapless.report.trust_charts import doubt_chart, promise_chart

VISITS = Visits("with guards", [0.01, 0.1, 1.0], [0.02, 0.2, 2.0], 1.0)
PROMISES = [Promise("hop", 3.0, 3.0, True), Promise("hop", 4.0, 2.0, False)]


def places(chart: str, class_: str) -> list[tuple[float, float]]:
    found = re.findall(rf'<circle cx="([\d.]+)" cy="([\d.]+)" r="[\d.]+" class="dot {class_}"', chart)
    return [(float(x), float(y)) for x, y in found]


def test_error_that_grows_with_doubt_climbs_to_the_right() -> None:
    drawn = places(doubt_chart([VISITS], 840.0), "after")
    assert len(drawn) == 3
    assert all(a[0] < b[0] and a[1] > b[1] for a, b in pairwise(drawn))


def test_a_promise_that_was_too_high_stands_above_one_that_was_kept() -> None:
    chart = promise_chart(PROMISES, 840.0)
    (kept,), (broken,) = places(chart, "after"), places(chart, "before")
    assert broken[1] < kept[1]
    assert broken[0] < kept[0]
    assert "believed 4.00" in chart


def test_the_page_holds_both_charts_and_says_the_rank_aloud(tmp_path: Path) -> None:
    page = write_trust([VISITS], PROMISES, "Policies in clones", tmp_path / "trust.html").read_text()
    assert page.count("<svg") >= 4
    assert "rank correlation 1.0" in page
    assert trust_section([VISITS], PROMISES).anchor == "trust"
