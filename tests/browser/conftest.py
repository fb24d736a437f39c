"""Pages as a reader meets them: written to disk, opened in headless Chromium at two widths, in light and in dark."""

import importlib.util
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from gapless.core import Log, Store, nominal_belief
from gapless.report import FILM, Chapter, shoot, write_comparison, write_report
from gapless.simulators import MujocoSimulator

WIDTHS = {"phone": (390, 844), "desk": (1280, 900)}
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
LONG = "a_rather_long_name_of_a_link.damping_of_its_second_joint"

ROCKING = """<mujoco><worldbody><body><joint name="hinge" type="hinge" axis="0 1 0" damping="0.05"/>
<geom type="capsule" fromto="0 0 0 0 0 -0.3" size="0.02" mass="0.3"/></body></worldbody>
<actuator><motor name="motor" joint="hinge" ctrlrange="-1 1" ctrllimited="true"/></actuator></mujoco>"""


def stories() -> ModuleType:
    """The makers of stores that the report's own tests use."""
    spec = importlib.util.spec_from_file_location("stories", Path(__file__).parents[1] / "report" / "conftest.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@dataclass
class Opened:
    """A page in the browser, with all that it complained about or asked for."""

    page: object
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


Open = Callable[..., Opened]


@pytest.fixture(scope="session")
def chromium() -> Iterator[object]:
    api = pytest.importorskip("playwright.sync_api", reason="pip install -e '.[browser]' brings Playwright")
    found = next((path for path in map(shutil.which, BROWSERS) if path), None)
    if found is None:
        pytest.skip("there is no Chromium; scripts/install-chromium installs it")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def open_page(chromium: object) -> Iterator[Open]:
    contexts = []

    def opened(path: Path | str, screen: str = "desk", scheme: str = "light", motion: str = "no-preference") -> Opened:
        width, height = WIDTHS[screen]
        size = {"width": width, "height": height}
        context = chromium.new_context(viewport=size, color_scheme=scheme, reduced_motion=motion)  # type: ignore[attr-defined]
        contexts.append(context)
        found = Opened(context.new_page())
        found.page.on("console", lambda m: found.complaints.append(m.text) if m.type in ("error", "warning") else None)
        found.page.on("pageerror", lambda error: found.complaints.append(str(error)))
        found.page.on("request", lambda request: found.requests.append(request.url[:200]))
        found.page.goto(path if isinstance(path, str) else path.as_uri())
        return found

    yield opened
    for context in contexts:
        context.close()


@pytest.fixture(scope="session")
def rocking(make_simulator: Callable[..., MujocoSimulator], simulate: Callable[..., Log]) -> tuple:
    """A pendulum's simulator, and a log of three seconds in which it swings."""
    simulator = make_simulator(ROCKING)
    push = {"motor": 0.3 * np.sin(np.arange(150) * 0.1)[:, None]}
    return simulator, simulate(simulator, nominal_belief(simulator.parameters).mean(), push)


@pytest.fixture(scope="session")
def pages(tmp_path_factory: pytest.TempPathFactory, rocking: tuple) -> dict[str, Path]:
    """Every kind of page by name."""
    folder, made = tmp_path_factory.mktemp("pages"), stories()
    whole, crowded, empty = (Store(folder / name) for name in ("whole", "crowded", "empty"))
    for crank, (low, got) in enumerate(((2.6, 1.9), (3.1, 3.4), (3.4, 3.9)), start=1):
        made.turn(whole, crank, low, got)
    _add_film(whole, rocking)
    for crank in range(1, 13):
        made.turn(crowded, crank, 2.0 + 0.1 * crank, 3.0 - 0.02 * crank)
    _crowd(crowded, made)
    chapters = [Chapter(n, "Robot cartpole, task swingup", s) for n, s in (("whole", whole), (LONG, crowded))]
    return {
        "whole": write_report(whole, folder / "whole.html", "Swing-up", "Robot cartpole, task swingup"),
        "crowded": write_report(crowded, folder / "crowded.html", LONG, LONG, "there is no ffmpeg here"),
        "empty": write_report(empty, folder / "empty.html", "Nothing yet", "Robot cartpole, task swingup"),
        "several": write_comparison([*chapters, Chapter("empty", "Robot arm, task slide", empty)], folder / "all.html"),
    }


def _add_film(store: Store, rocking: tuple) -> None:
    simulator, log = rocking
    belief = nominal_belief(simulator.parameters)
    store.make(FILM, {}, {"crank": 3}, lambda folder: shoot(simulator, log, belief, folder / f"{FILM}.mp4"))


def _crowd(store: Store, made: ModuleType) -> None:
    """A belief over long names, findings, maps from tiny to huge, an aborted recording, and an episode that was stopped."""
    figures = made.belief_figures(1)
    for k, parameter in enumerate(figures["parameters"]):
        parameter["name"] = f"{LONG}_{k}"
    figures["residual"] = {"acts_on": [LONG, LONG], "held_out_before": 0.31, "held_out_after": 0.12}
    made.add(store, "belief", figures, {}, crank=12, again=True)
    finding = {
        "kind": "permuted",
        "channels": [LONG, f"{LONG}_2"],
        "evidence": f"{LONG} looks swapped",
        "advice": "Swap.",
    }
    found = [finding | {"fold": 18.0}, finding | {"kind": "sign", "fold": 140.0}, finding | {"fold": None}]
    made.add(store, "preflight", {"findings": found}, {}, crank=12)
    maps = {"maps": [made.map_figures(LONG, "rad", 0.00002), made.map_figures("joint", "", 4e4)]}
    made.add(store, "gap", made.gap_figures(1) | maps, {}, crank=12, again=True)
    reason = "cart.position reached 0.46 m and its limit is 0.45 m, so the gate cut the motor and waited for the reset"
    made.add(store, "aborted", {"robot_seconds": 7.0, "reason": reason}, {}, crank=12, purpose="excite")
    episode = {"episode": 3, "seconds": 1.7, "return": 0.2, "passed": False, "margin": -4.0, "stopped": reason}
    made.add(store, "logs", {"robot_seconds": 6.7, "episodes": [episode]}, {}, crank=12, purpose="deploy", again=True)
