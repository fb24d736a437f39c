"""One page that tells the story of a workspace and needs nothing from anywhere else."""

from pathlib import Path

from gapless.core import Store
from gapless.core.artifact import write_text

from .document import document
from .header import header
from .sections import sections
from .story import Story, read_story


def write_report(store: Store, out: Path, title: str, subtitle: str, without_film: str = "") -> Path:
    """Write the page over everything the store holds, and return where it is.

    `without_film` says why there is no film, where there is none.
    """
    out.parent.mkdir(parents=True, exist_ok=True)
    write_text(out, page(read_story(store), title, subtitle, without_film))
    return out


def page(story: Story, title: str, subtitle: str, without_film: str = "") -> str:
    """The whole document; the same story gives the same bytes."""
    return document(title, header(story, title, subtitle), sections(story, without_film))
