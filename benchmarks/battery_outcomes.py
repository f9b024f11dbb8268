"""How a step of the battery ends, and what a result must be: numbers that are finite, or NaN, which says "missing"."""

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

RESULT, SENTENCE, TRACEBACK, STOPPED = "result", "sentence", "traceback", "stopped"


@dataclass(frozen=True)
class Outcome:
    """How a step ended: with a result, a sentence, a traceback, or stopped by `alive`; and the words of it."""

    step: str
    outcome: str
    words: str = ""
    seconds: float = 0.0


class Wrong(AssertionError):
    """A result that no reader could use."""


def is_sentence(text: str) -> bool:
    """Whether words are fit for a reader: one line that ends as a sentence does."""
    return bool(text.strip()) and "\n" not in text and text.rstrip().endswith((".", "?")) and len(text) < 600


def stated(frame: pd.DataFrame, *never_missing: str) -> pd.DataFrame:
    """The same frame, all of whose numbers are finite or NaN; some columns have no gap.

    Raises:
        Wrong: a number is infinite, or is missing where it must not be.
    """
    for name in frame:
        column = frame[name]
        if pd.api.types.is_float_dtype(column) and np.isinf(column.to_numpy()).any():
            raise Wrong(f"{name} holds an infinite number.")
    for name in never_missing:
        if frame[name].isna().any():
            raise Wrong(f"{name} has a gap.")
    return frame


def number(value: float, what: str) -> float:
    """The same number, finite.

    Raises:
        Wrong: it is not.
    """
    if not math.isfinite(value):
        raise Wrong(f"{what} is {value}.")
    return value
