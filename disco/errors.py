"""Exceptions whose message is a sentence that a user can act on."""


class InputError(ValueError):
    """A table, setting or file cannot be used; the message says what is wrong, where, and what to do."""


class ScoreUnavailable(RuntimeError):
    """A curvature score has no admissible observations, so its stage stops (paper, Curvature Estimation)."""


class FitStopped(RuntimeError):
    """A callback asked a fit to stop; if the fit keeps a checkpoint, it can be resumed."""


def printable(text: str, longest: int | None = None) -> str:
    """A foreign text in a sentence: without control characters, and cut to `longest` characters."""
    return "".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in text[:longest])
