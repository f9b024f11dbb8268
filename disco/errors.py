"""Exceptions whose messages tell a user what to do."""

import errno

_NO_MEMORY = ("failed to map segment", "annot allocate memory", "can't allocate memory")  # of loaders and torch


class InputError(ValueError):
    """A table, setting or file cannot be used; the message says what is wrong, where, and what to do."""


class ScoreUnavailable(RuntimeError):
    """A curvature score has no admissible observations, so its stage stops (paper, Curvature Estimation)."""


class FitStopped(RuntimeError):
    """A callback stopped a fit; with a checkpoint, the fit can be resumed."""


def is_of_memory(error: BaseException) -> bool:
    """Whether an error means that there was too little memory, whichever library says so."""
    is_known = isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM)
    return is_known or type(error).__name__ == "OutOfMemoryError" or any(words in str(error) for words in _NO_MEMORY)


def printable(text: str, longest: int | None = None) -> str:
    """Foreign text for a message: without control characters, and cut to `longest` characters."""
    return "".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in text[:longest])
