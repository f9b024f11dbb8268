"""Exceptions whose messages tell a user what to do."""


class InputError(ValueError):
    """A table, setting or file cannot be used; the message says what is wrong, where, and what to do."""


class ScoreUnavailable(RuntimeError):
    """A curvature score has no admissible observations, so its stage stops (paper, Curvature Estimation)."""


class FitStopped(RuntimeError):
    """A callback stopped a fit; with a checkpoint, the fit can be resumed."""


def printable(text: str, longest: int | None = None) -> str:
    """Foreign text for a message: without control characters, and cut to `longest` characters."""
    return "".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in text[:longest])
