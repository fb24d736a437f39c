"""The page of `gapless world play` in a browser: what is drawn, dropped and pushed happens in both worlds."""

import json
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from gapless.engine.play import Session, answers
from gapless.report import LocalServer, world_page

MEASURE = Path(__file__).with_name("measure.js").read_text()
PAINTED = """name => {
  const canvas = document.getElementById(name);
  const seen = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
  let count = 0;
  for (let k = 3; k < seen.length; k += 4) count += seen[k] > 0;
  return count / (seen.length / 4);
}"""

pytestmark = pytest.mark.browser


class Game:
    """A running server and the game behind it."""

    def __init__(self, session: Session, server: LocalServer) -> None:
        self.session, self.url = session, server.url

    def ask(self, path: str, asked: dict[str, Any] | None = None) -> dict[str, Any]:
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(f"{self.url}{path}", json.dumps(asked or {}).encode(), headers)
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)

    def bodies(self) -> list[dict[str, Any]]:
        return self.ask("state")["bodies"]


@pytest.fixture(scope="session")
def running(make_members: Callable) -> Iterator[Game]:
    session = Session(make_members(2), bodies=3)
    session.warm()
    with LocalServer(world_page(), answers(session)) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield Game(session, server)
        server.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def going(running: Game) -> None:
    """A game that the last test has paused goes on."""
    running.ask("pause", {"paused": False})


@pytest.fixture
def empty(running: Game, open_page: Callable) -> tuple[Game, Any]:
    """A table without bodies, and the page that shows it."""
    running.ask("clear", {"kind": "table"})
    page = open_page(running.url).page
    page.wait_for_function("() => state && document.body.classList.contains('table')")
    return running, page


def until(page: Any, game: Game, told: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """The state as soon as it is as told."""
    for _ in range(100):
        state = game.ask("state")
        if told(state):
            return state
        page.wait_for_timeout(100)
    raise AssertionError(f"it never came: {state}")


def at(page: Any, canvas: str, x: float, y: float) -> tuple[float, float]:
    """Where a point of the world, in m, is on the screen."""
    box = page.locator(f"#{canvas}").bounding_box()
    scale = box["width"] / 4.8
    return box["x"] + box["width"] / 2 + scale * x, box["y"] + box["height"] / 2 - scale * y


def drag(page: Any, canvas: str, *points: tuple[float, float], drop: bool = True) -> None:
    page.mouse.move(*at(page, canvas, *points[0]))
    page.mouse.down()
    for point in points[1:]:
        page.mouse.move(*at(page, canvas, *point), steps=4)
    if drop:
        page.mouse.up()


@pytest.mark.parametrize("screen", ["phone", "desk"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_page_is_quiet_readable_and_within_its_bounds(running: Game, open_page: Callable, screen: str, scheme: str):
    running.ask("reset", {"kind": "fall"})
    opened = open_page(running.url, screen, scheme)
    opened.page.wait_for_function("() => state && state.time > 0.1")
    for function in ("sticksOut", "faintText"):
        assert opened.page.evaluate(f"() => {{ {MEASURE}; return {function}(); }}") == []
    assert opened.complaints == []
    assert {url for url in opened.requests if not url.startswith("data:")} <= {
        running.url + path for path in ("", "state", "run")
    }
    assert 0.01 < opened.page.evaluate(PAINTED, "truth") < 0.5
    assert 0.01 < opened.page.evaluate(PAINTED, "network") < 0.5


def test_tap_drops_a_body_into_both_worlds(empty: tuple[Game, Any]):
    game, page = empty
    page.get_by_text("Circle", exact=True).click()
    page.mouse.click(*at(page, "network", 1.0, -0.5))
    state = until(page, game, lambda s: len(s["bodies"]) == 1)
    assert state["bodies"][0]["radius"] == pytest.approx(0.25)
    for x, y, _ in (state["truth"][0], *(member[0] for member in state["members"])):
        assert (x, y) == pytest.approx((1.0, -0.5), abs=0.02)


def test_dragged_box_and_stroke_become_bodies_of_that_shape(empty: tuple[Game, Any]):
    game, page = empty
    drag(page, "truth", (-1.5, 0.5), (-0.7, 1.0))
    (box,) = until(page, game, lambda s: len(s["bodies"]) == 1)["bodies"]
    assert sorted(map(tuple, box["corners"]))[0] == pytest.approx((-0.4, -0.25), abs=0.02)
    page.get_by_text("Polygon", exact=True).click()
    drag(page, "truth", (0.5, 0.0), (1.3, 0.0), (0.9, 0.7))
    (_, triangle) = until(page, game, lambda s: len(s["bodies"]) == 2)["bodies"]
    assert len(triangle["corners"]) == 3


def test_next_body_is_made_of_what_the_sliders_say(empty: tuple[Game, Any]):
    game, page = empty
    page.locator("#mass").fill("1")
    page.locator("#restitution").fill("0.75")
    page.locator("#drag").fill("0.9")
    assert "10 kg" in page.locator(".slider.mass").inner_text()
    page.mouse.click(*at(page, "truth", 0.0, 0.0))
    (body,) = until(page, game, lambda s: len(s["bodies"]) == 1)["bodies"]
    assert (body["mass"], body["restitution"], body["drag"]) == pytest.approx((10.0, 0.75, 0.9), abs=0.01)


@pytest.mark.parametrize("canvas", ["truth", "network"])
def test_body_follows_the_mouse_in_both_worlds(empty: tuple[Game, Any], canvas: str):
    game, page = empty
    game.ask("add", {"circle": {"centre": [-1.0, 0.0], "radius": 0.3}})
    page.wait_for_function("() => state.bodies.length === 1")
    drag(page, canvas, (-1.0, 0.0), (1.0, 0.5), drop=False)
    state = until(page, game, lambda s: s["truth"][0][0] > 0.9 and s["members"][1][0][0] > 0.9)
    page.mouse.up()
    assert len(state["bodies"]) == 1
    assert state["members"][0][0][:2] == pytest.approx(state["truth"][0][:2], abs=0.1)


def test_body_drawn_onto_another_is_refused_in_words(empty: tuple[Game, Any]):
    game, page = empty
    game.ask("add", {"circle": {"centre": [0.0, 0.0], "radius": 0.3}})
    page.wait_for_function("() => state.bodies.length === 1")
    drag(page, "truth", (-0.5, -0.5), (0.5, 0.5))
    page.get_by_text("Something is there already. Draw where there is room.").wait_for()
    assert len(game.bodies()) == 1


def test_paused_world_stands_still_and_steps_one_frame_at_a_time(running: Game, open_page: Callable):
    page = open_page(running.url).page
    page.wait_for_function("() => state && state.time > 0")
    page.locator("#pause").click()
    page.wait_for_timeout(300)
    before = running.ask("state")["time"]
    page.wait_for_timeout(300)
    assert running.ask("state")["time"] == before
    page.locator("#step").click()
    page.wait_for_function(f"() => state.time > {before}")
    page.wait_for_timeout(300)
    assert running.ask("state")["time"] == pytest.approx(before + 1 / 60, abs=2e-3)
    page.locator("#pause").click()
    page.wait_for_function(f"() => state.time > {before} + 0.1")


def test_switch_to_the_table_begins_anew_and_asks_how_it_rubs(running: Game, open_page: Callable):
    running.ask("reset", {"kind": "fall"})
    page = open_page(running.url).page
    page.wait_for_function("() => state && state.kind === 'fall'")
    assert not page.locator("#drag").is_visible()
    page.get_by_text("Table", exact=True).click()
    page.wait_for_function("() => state.kind === 'table'")
    assert page.locator("#drag").is_visible()
    assert len(running.bodies()) == 3


def test_buttons_clear_and_reset(running: Game, open_page: Callable):
    page = open_page(running.url).page
    page.wait_for_function("() => state")
    page.locator("#clear").click()
    until(page, running, lambda s: s["bodies"] == [])
    page.locator("#reset").click()
    until(page, running, lambda s: len(s["bodies"]) == 3)


def test_aligned_network_has_no_error(empty: tuple[Game, Any]):
    game, page = empty
    game.ask("add", {"circle": {"centre": [0.0, 0.0], "radius": 0.3}})
    page.locator("#pause").click()
    page.wait_for_timeout(300)
    position = game.session.moving.motion.position.at[:, 0, 0].add(0.2)
    game.session.moving = game.session.moving._replace(motion=game.session.moving.motion._replace(position=position))
    assert game.ask("state")["error"] == pytest.approx(0.2, abs=1e-3)
    page.locator("#align").click()
    page.wait_for_function(
        "() => state.error === 0 && document.getElementById('figure-error').textContent === '0.0 cm'"
    )


def test_pointing_at_a_body_says_what_it_is_made_of(empty: tuple[Game, Any]):
    game, page = empty
    game.ask("add", {"circle": {"centre": [0.0, 0.0], "radius": 0.3}, "mass": 4.0})
    page.wait_for_function("() => state.bodies.length === 1")
    page.mouse.move(*at(page, "network", 0.05, 0.0))
    assert "4.0 kg" in page.locator("#tip").inner_text()
    page.mouse.move(*at(page, "network", 1.5, 0.0))
    assert page.locator("#tip").is_hidden()


def test_overlay_draws_box2d_over_the_network(empty: tuple[Game, Any]):
    game, page = empty
    game.ask("add", {"circle": {"centre": [0.0, 0.0], "radius": 0.3}})
    page.locator("#pause").click()
    page.wait_for_function("() => state.bodies.length === 1")
    shot = "() => document.getElementById('network').toDataURL()"
    before = page.evaluate(shot)
    page.locator("#overlay").check()
    assert page.evaluate(shot) != before


def test_paused_page_shows_where_bodies_will_go_and_forgets_it_when_they_go(empty: tuple[Game, Any]):
    game, page = empty
    game.ask("add", {"circle": {"centre": [0.0, 0.0], "radius": 0.3}})
    page.locator("#pause").click()
    page.wait_for_function("() => futures && futures.members.length === 2 && futures.truth.length === 1")
    drag(page, "truth", (0.0, 0.0), (1.0, 0.0), drop=False)
    page.wait_for_function("() => futures && futures.members[1][0].at(-1)[0] > 0.8")
    assert game.ask("state")["truth"][0][0] == pytest.approx(0.0, abs=1e-3)
    page.mouse.up()
    page.locator("#pause").click()
    page.wait_for_function("() => futures === null")


def test_page_says_when_its_server_is_gone_and_goes_on_when_it_is_back(running: Game, open_page: Callable):
    page = open_page(running.url).page
    page.wait_for_function("() => state && state.time > 0")
    page.context.set_offline(True)
    page.get_by_text("The server has stopped.").wait_for()
    page.context.set_offline(False)
    page.wait_for_function("() => document.getElementById('said').textContent === ''", timeout=10_000)
    before = running.ask("state")["time"]
    page.wait_for_function(f"() => state.time > {before}")


def test_two_tabs_share_one_clock_and_one_pause(running: Game, open_page: Callable):
    pages = [open_page(running.url).page for _ in range(2)]
    for page in pages:
        page.wait_for_function("() => state && state.time > 0")
    before, began = running.ask("state")["time"], time.monotonic()
    pages[0].wait_for_timeout(3000)
    assert (
        0.3 < running.ask("state")["time"] - before <= time.monotonic() - began + 0.2
    )  # what may be made up for at once
    pages[0].locator("#pause").click()
    pages[1].wait_for_function("() => document.getElementById('pause').textContent === 'Go'")
    running.ask("clear")
    pages[1].wait_for_function("() => state.bodies.length === 0")
    pages[1].locator("#pause").click()
    pages[0].wait_for_function("() => document.getElementById('pause').textContent === 'Pause'")
