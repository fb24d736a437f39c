"""Capital letters for films, drawn by hand: five pixels wide, seven high."""

import numpy as np
from jaxtyping import Bool

from gapless.core import GaplessError

GLYPHS = {
    "B": "#### #   ##   ##### #   ##   ##### ",
    "C": " ### #   ##    #    #    #   # ### ",
    "E": "######    #    #### #    #    #####",
    "J": "  ###   #    #    #    # #  #  ##  ",
    "L": "#    #    #    #    #    #    #####",
    "M": "#   ### ### # ##   ##   ##   ##   #",
    "N": "#   ###  ## # ##  ###   ##   ##   #",
    "O": " ### #   ##   ##   ##   ##   # ### ",
    "R": "#### #   ##   ##### # #  #  # #   #",
    "T": "#####  #    #    #    #    #    #  ",
    "U": "#   ##   ##   ##   ##   ##   # ### ",
}
SIZE, APART = 2, 1
"""Pixels of a film that a pixel of a letter is, and pixels of letters between two of them."""
LEFT, TOP = 16, 30


def lettered(titles: tuple[str, ...], size: tuple[int, int], panel: int) -> Bool[np.ndarray, "row column"]:
    """Where a picture of some width and height has letters: a title at the top left of each panel."""
    picture = np.zeros(size[::-1], bool)
    for k, title in enumerate(titles):
        word = np.kron(written(title), np.ones((SIZE, SIZE), bool))
        picture[TOP : TOP + len(word), k * panel + LEFT : k * panel + LEFT + word.shape[1]] = word
    return picture


def written(word: str) -> Bool[np.ndarray, "7 column"]:
    """A word, one pixel a pixel."""
    unknown = [c for c in word if c not in GLYPHS]
    if unknown or not word:
        raise GaplessError(
            f"films are lettered in {''.join(GLYPHS)} only (found {word!r}). Draw the letter in letters.py."
        )
    drawn = [np.array([c == "#" for c in GLYPHS[letter]]).reshape(7, 5) for letter in word]
    return np.concatenate([np.pad(glyph, ((0, 0), (0, APART))) for glyph in drawn], axis=1)
