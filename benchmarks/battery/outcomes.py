"""How a step of the battery ends, and what a result must be: finite numbers, or NaN, which means "missing"."""

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

RESULT, SENTENCE, TRACEBACK, STOPPED = "result", "sentence", "traceback", "stopped"


@dataclass(frozen=True)
class Outcome:
    """How a step ended (with a result, a sentence, a traceback, or stopped by `alive`), and its words."""

    step: str
    outcome: str
    words: str = ""
    seconds: float = 0.0


class Wrong(AssertionError):
    """A result that is of no use to a reader."""


def is_sentence(text: str) -> bool:
    """Whether a text is fit for a reader: one line that ends like a sentence."""
    return bool(text.strip()) and "\n" not in text and text.rstrip().endswith((".", "?")) and len(text) < 600


def checked(frame: pd.DataFrame, *never_missing: str) -> pd.DataFrame:
    """The frame, checked to hold only finite numbers or NaN, and no NaN in the columns `never_missing`.

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
    """The number, checked to be finite.

    Raises:
        Wrong: it is not.
    """
    if not math.isfinite(value):
        raise Wrong(f"{what} is {value}.")
    return value
