"""The shape of a curve, so that a hump is not described by its ends.

A turn counts only if the mean goes back by more than the band is wide, and by a tenth of its range.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd

from disco.words import number

_LOW, _HIGH = 0.1, 0.9  # quantiles of a node's values between which its effects are described
_TURN = 0.1  # of the range of the means: a smaller return is not a turn
_LEVEL = 0.05  # of the range: as near to the last mean, a curve is level
_LEVEL_FROM = 0.7  # of the range of values, at the latest
PLAIN = "rises", "falls", "changes little"  # words of shapes that two values describe


def usual_range(values: np.ndarray, every: np.ndarray | None = None) -> tuple[float, float]:
    """A low and a high of a node's values, (rows,): their 10% and 90% quantiles; if equal, that and the others' median.

    The others are among `every`, by default the values, if these are all equal.
    """
    low, high = (float(value) for value in np.quantile(values, [_LOW, _HIGH], method="lower"))
    if low < high:
        return low, high
    pool = every if every is not None and (values == low).all() else values
    second = float(np.quantile(pool[pool != low], 0.5, method="lower")) if (pool != low).any() else low
    return min(low, second), max(low, second)


class Shape(NamedTuple):
    """How a mean goes over the values of a node.

    Attributes:
        moves: −1 or 1 for every part in which it clearly falls or rises; none if it changes little.
        at: the value at which it turns, if it does so once, or from which on it is level; else NaN.
    """

    moves: tuple[int, ...]
    at: float

    @property
    def turns(self) -> bool:
        """Whether it both rises and falls, so that its ends do not tell what it does."""
        return len(self.moves) > 1

    @property
    def words(self) -> str:
        """The shape as a verb, such as "rises until about 12, then falls"."""
        if not self.moves:
            return PLAIN[2]
        if len(self.moves) > 2:
            return "rises and falls several times"
        first = PLAIN[self.moves[0] < 0]
        at = f"{self.at:g}" if self.at == round(self.at, 0) else number(self.at)
        if self.turns:
            return f"{first} until about {at}, then {'falls' if self.moves[1] < 0 else 'rises'}"
        return first if np.isnan(self.at) else f"{first} until about {at}, then levels off"


def shape(curve: pd.DataFrame) -> Shape:
    """The shape of a curve with columns value, ascending, mean, low and high, the bounds of its band."""
    values, means = curve["value"].to_numpy(float), curve["mean"].to_numpy(float)
    span, width = np.ptp(means), float(np.median(curve["high"] - curve["low"]))
    extremes = _extremes(means, max(width, _TURN * span))
    if not extremes and abs(means[-1] - means[0]) > width / 2:
        extremes = [0, len(means) - 1]
    moves = tuple(int(move) for move in np.sign(np.diff(means[extremes])))
    if len(moves) == 2:
        return Shape(moves, float(values[extremes[1]]))
    level = values[np.flatnonzero(np.abs(means - means[-1]) > _LEVEL * span).max(initial=-1) + 1]
    is_level = len(moves) == 1 and level <= values[0] + _LEVEL_FROM * np.ptp(values)
    return Shape(moves, float(level) if is_level else np.nan)


def _extremes(means: np.ndarray, least: float) -> list[int]:
    """Where the clear moves of means begin and end: positions whose means differ by more than `least`."""
    extremes, top, bottom, sign = list[int](), 0, 0, 0
    for at, mean in enumerate(means):
        top, bottom = (at if mean >= means[top] else top), (at if mean <= means[bottom] else bottom)
        if sign >= 0 and means[top] - mean > least:
            extremes, sign, bottom = [*extremes, top], -1, at
        elif sign <= 0 and mean - means[bottom] > least:
            extremes, sign, top = [*extremes, bottom], 1, at
    return [*extremes, top if sign > 0 else bottom] if extremes else []


def over_range(curve: pd.DataFrame, on: str, cause: str) -> str:
    """A sentence for every case in which the mean turns or levels off, so that two values do not tell what it does.

    `curve` is from `disco.effects.curve.curve`.
    """
    sentences = []
    for _, rows in curve.groupby("case", sort=True):
        form, when = shape(rows), rows["when"].iloc[0]
        if form.turns or np.isfinite(form.at):
            start = f"{when[0].upper()}{when[1:]}, over" if when else "Over"
            sentences.append(f"{start} all values of {cause}, the mean of {on} {form.words}.")
    return " ".join(sentences)
