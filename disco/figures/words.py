"""Numbers as figures and pages write them."""

import math

import numpy as np


def number(value: float) -> str:
    """Three significant digits, in powers of ten only where plain digits would not be readable."""
    if value is None or not math.isfinite(value):
        return "–"
    if value == 0:
        return "0"
    exponent = math.floor(math.log10(abs(value)))
    if -4 <= exponent < 5:
        return f"{value:.{max(0, 2 - exponent)}f}"
    return f"{value:.2e}"


def more(ratio: float) -> str:
    """A ratio of at least 1 as a person says it: `0.3 % more`, `1.8 times as much`."""
    if not math.isfinite(ratio):
        return "many times as much"
    if ratio < 1.1:
        return f"{100 * (ratio - 1):.1f} % more"
    return f"{ratio:.0f} times as much" if ratio >= 20 else f"{ratio:.1f} times as much"


def how_many(count: int, noun: str, plural: str | None = None) -> str:
    """A count with its noun: `1 edge`, `2 edges`."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def share(part: int, whole: int) -> str:
    """`2 of 3`, with `all 3` when it is all."""
    return f"all {whole}" if part == whole and whole > 1 else f"{part} of {whole}"


def log_ticks(low: float, high: float) -> tuple[list[float], list[str]]:
    """Tick places and words of a decadic axis from low to high, both positive."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    steps = (1,) if last - first > 4 else (1, 3) if last - first > 1 else (1, 2, 5)
    places = [step * 10.0**power for power in range(first, last + 1) for step in steps]
    inside = [place for place in places if low <= place * 1.0001 and place <= high * 1.0001]
    return inside, [_tick(place) for place in inside]


def _tick(place: float) -> str:
    if 1e-3 <= place < 1e5:
        return f"{place:g}"
    power = math.floor(math.log10(place) + 1e-9)
    return f"{place / 10.0**power:.0f}·10<sup>{power}</sup>".replace("1·", "").replace("-", "−")


def evenly(values: np.ndarray, most: int) -> np.ndarray:
    """At most `most` of the rows, evenly spaced, so that a picture stays quick to draw."""
    if len(values) <= most:
        return values
    return values[np.linspace(0, len(values) - 1, most).round().astype(int)]
