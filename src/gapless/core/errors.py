"""Errors that a user can act on: one sentence with the thing, what was found, the rule and the next step."""

LONGEST = 4000
"""Characters of a sentence at most; a damaged file may name any number of things."""


class GaplessError(Exception):
    """A user's mistake or a broken input; the command line prints its sentence and exits with 2."""

    def __init__(self, sentence: str) -> None:
        super().__init__(printable(sentence))


def printable(text: str) -> str:
    """The text on one line, without anything that a terminal would obey: names come out of files that anybody wrote."""
    kept = text if len(text) <= LONGEST else f"{text[: LONGEST // 2]} … {text[-LONGEST // 2 :]}"
    return "".join(_spelled(letter) for letter in kept)


def _spelled(letter: str) -> str:
    if letter.isprintable():
        return letter
    return " " if letter.isspace() else letter.encode("unicode_escape").decode("ascii")
