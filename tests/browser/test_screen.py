"""The film in a browser: it plays when it comes into view, and stands still for those who want less motion."""

from collections.abc import Callable

import pytest

pytestmark = pytest.mark.browser

ADVANCED = "() => document.querySelector('video').currentTime > 0.2"


def test_film_plays_once_it_is_seen(open_page: Callable, pages: dict):
    page = open_page(pages["whole"]).page
    assert page.evaluate("() => document.querySelector('video').paused")
    page.locator("video").scroll_into_view_if_needed()
    page.wait_for_function(ADVANCED, timeout=10_000)


def test_film_waits_for_those_who_want_less_motion(open_page: Callable, pages: dict):
    page = open_page(pages["whole"], motion="reduce").page
    page.locator("video").scroll_into_view_if_needed()
    page.wait_for_function("() => document.querySelector('video').readyState >= 2", timeout=10_000)
    page.wait_for_timeout(500)
    assert page.evaluate("() => document.querySelector('video').paused")
    assert page.evaluate("() => document.querySelector('video').controls")


def test_film_is_as_wide_as_its_column_on_a_phone(open_page: Callable, pages: dict):
    box = open_page(pages["whole"], "phone").page.locator("video").bounding_box()
    assert 330 <= box["width"] <= 390
    assert box["height"] > 150


def test_page_without_a_film_says_why(open_page: Callable, pages: dict):
    page = open_page(pages["crowded"]).page
    assert page.locator("video").count() == 0
    assert "there is no ffmpeg here" in page.locator("#film").inner_text()
