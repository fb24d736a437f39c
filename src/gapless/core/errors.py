"""Errors that a user can act on: one sentence with the thing, what was found, the rule and the next step."""


class GaplessError(Exception):
    """A user's mistake or a broken input; the command line prints its sentence and exits with 2."""
