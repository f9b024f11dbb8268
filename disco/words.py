"""Numbers, durations and plurals in words, for sentences and figures."""

import math


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


def duration(seconds: float | None) -> str:
    """A time span in its two largest useful units: 8 s, 3 min 20 s, 2 h 5 min."""
    if seconds is None or seconds != seconds or seconds < 0:
        return "unknown"
    whole = round(seconds)
    if whole < 1:
        return "under 1 s"
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        minutes, rest = divmod(whole, 60)
        return f"{minutes} min" + (f" {rest} s" if rest and minutes < 10 else "")
    hours, minutes = divmod(round(whole / 60), 60)
    if hours < 48:
        return f"{hours} h" + (f" {minutes} min" if minutes else "")
    return f"{round(hours / 24)} days"


def more(ratio: float) -> str:
    """A ratio of at least 1 in words: `0.3 % more`, `1.8 times as much`."""
    if not math.isfinite(ratio):
        return "many times as much"
    if ratio < 1.1:
        return f"{100 * (ratio - 1):.1f} % more"
    return f"{ratio:.0f} times as much" if ratio >= 20 else f"{ratio:.1f} times as much"


def how_many(count: int, noun: str, several: str | None = None) -> str:
    """A count with its noun: `1 edge`, `2 edges`."""
    return f"{count:,} {noun if count == 1 else several or noun + 's'}"


def plural(count: int, one: str, several: str) -> str:
    """The form of a verb or a noun that goes with a count: `is` or `are`."""
    return one if count == 1 else several


def share(part: int, whole: int) -> str:
    """`2 of 3`, or `all 3` if the part is the whole."""
    return f"all {whole}" if part == whole and whole > 1 else f"{part} of {whole}"
