"""The pages in a browser: nothing is fetched, nothing sticks out, nothing overlaps, everything can be read."""

from collections.abc import Callable
from pathlib import Path

import pytest

MEASURE = Path(__file__).with_name("measure.js").read_text()
PAGES = ("whole", "crowded", "empty", "several")
SCREENS = ("phone", "desk")
SCHEMES = ("light", "dark")

pytestmark = pytest.mark.browser

every_page = pytest.mark.parametrize("name", PAGES)
every_screen = pytest.mark.parametrize("screen", SCREENS)
every_scheme = pytest.mark.parametrize("scheme", SCHEMES)


def complaints(page: object, function: str) -> list[str]:
    """What one of the functions of measure.js finds wrong with the page."""
    return page.evaluate(f"() => {{ {MEASURE}; return {function}(); }}")  # type: ignore[attr-defined]


@every_page
@every_screen
@every_scheme
def test_page_opens_quietly_and_asks_the_network_for_nothing(open_page: Callable, pages: dict, name, screen, scheme):
    opened = open_page(pages[name], screen, scheme)
    opened.page.wait_for_timeout(200)
    assert opened.complaints == []
    assert [url for url in opened.requests if not url.startswith("data:")] == [pages[name].as_uri()]


@every_page
@every_screen
def test_nothing_sticks_out_of_the_page(open_page: Callable, pages: dict, name, screen):
    assert complaints(open_page(pages[name], screen).page, "sticksOut") == []


@every_page
@every_screen
def test_no_text_of_a_chart_touches_another(open_page: Callable, pages: dict, name, screen):
    assert complaints(open_page(pages[name], screen).page, "touchingText") == []


@every_page
@every_scheme
def test_all_text_stands_out_from_its_ground(open_page: Callable, pages: dict, name, scheme):
    assert complaints(open_page(pages[name], "desk", scheme).page, "faintText") == []


@every_page
@every_screen
def test_every_chart_says_what_it_shows(open_page: Callable, pages: dict, name, screen):
    assert complaints(open_page(pages[name], screen).page, "unnamedCharts") == []


@every_page
@every_screen
def test_every_link_of_the_bar_leads_to_its_section(open_page: Callable, pages: dict, name, screen):
    page = open_page(pages[name], screen, motion="reduce").page
    for link in page.locator("nav a").all():
        link.click()
        anchor = link.get_attribute("href")
        page.wait_for_function(
            "a => Math.abs(document.querySelector(a).getBoundingClientRect().top) < innerHeight", arg=anchor
        )
        assert page.url.endswith(anchor)


def test_switch_turns_light_into_dark_and_back(open_page: Callable, pages: dict):
    page = open_page(pages["whole"], "desk", "light").page
    grounds = []
    for _ in range(3):
        grounds.append(page.evaluate("() => getComputedStyle(document.body).backgroundColor"))
        page.locator("#theme").click()
    assert grounds[0] == grounds[2] != grounds[1]


@every_screen
def test_pointing_at_a_cell_of_a_map_says_where_it_is_and_how_wrong(open_page: Callable, pages: dict, screen):
    page = open_page(pages["whole"], screen).page
    page.locator("#unexplained g[data-tip] .heat.above").first.hover()
    assert "measured − predicted +" in page.locator("#tip").inner_text()


def test_maps_are_coloured_by_light_and_dark_and_pale_where_all_is_explained(open_page: Callable, pages: dict):
    ask = "() => ['above', 'below', 'seen'].map(c => getComputedStyle(document.querySelector('.heat.' + c)).fill)"
    light, dark = (open_page(pages["whole"], "desk", scheme).page.evaluate(ask) for scheme in SCHEMES)
    assert len({*light, *dark}) == 6
    shades = (
        "() => [...document.querySelectorAll('#unexplained [fill-opacity]')].map(c => +c.getAttribute('fill-opacity'))"
    )
    found = open_page(pages["whole"]).page.evaluate(shades)
    assert min(found) < 0.2 and max(found) == 1.0


@every_screen
def test_pointing_at_a_mark_shows_its_figures(open_page: Callable, pages: dict, screen):
    page = open_page(pages["whole"], screen).page
    page.locator("#forecasts circle[data-tip]:visible").first.hover()
    assert "forecast" in page.locator("#tip").inner_text()
