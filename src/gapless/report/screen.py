"""The film on the page: a video inside the document, with a legend that reads without colours' names."""

from base64 import b64encode

from gapless.core import Artifact

from .figures import real
from .markup import Markup, tag
from .story import FILM, crank_of
from .titled import caption
from .wording import terse

LEGEND = (("robot", "robot, as measured"), ("nominal", "data-sheet model"), ("identified", "learned model"))
TITLE = "An episode that the learned model has not seen: robot and simulations under the same commands"
SPOKEN = "Film of the robot, with the data-sheet model and the learned model drawn over it."


def screen(film: Artifact) -> Markup:
    """Legend and video; it plays when first seen, unless the reader wants less motion."""
    filmed = b64encode(film.file(f"{FILM}.mp4").read_bytes()).decode()
    video = tag(
        "video",
        src=f"data:video/mp4;base64,{filmed}",
        aria_label=SPOKEN,
        controls="",
        loop="",
        muted="",
        playsinline="",
        preload="auto",
    )
    keys = [tag("span", tag("i", class_=f"swatch {class_}"), words) for class_, words in LEGEND]
    return tag("figure", caption(TITLE), tag("p", *keys, class_="legend"), video, class_="film")


def about(film: Artifact) -> str:
    """What to look at, in a sentence or two."""
    crank, stretch, speed = crank_of(film), real(film.figures.get("stretch_s")), real(film.figures.get("speed"))
    what = f"The policy of crank {crank}" if crank else "A policy"
    pace = "at half speed" if speed == 0.5 else f"at {terse(speed)} times its speed"
    return (
        f"{what} on the robot, {pace}. Both simulations get the robot’s commands and nothing else; every "
        f"{terse(stretch)} s, when the line at the film’s top is full, they are put back onto the robot."
    )
