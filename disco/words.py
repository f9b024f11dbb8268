"""Numbers, sizes, times and plurals in words, for sentences and figures."""

import math
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from os.path import commonprefix

_SAME = 1e-9  # shares that differ by less are equal
# From which share on, in the glossary under "compatible graphs".
_OF_GRAPHS = (
    (1 - _SAME, "all"),
    (0.95, "nearly all"),
    (0.55, "most"),
    (0.45, "about half"),
    (0.1, "some"),
    (_SAME, "few"),
    (0, "none"),
)
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def number(value: float) -> str:
    """Three significant digits, in powers of ten only where plain digits would be hard to read."""
    if value is None or not math.isfinite(value):
        return "–"
    if value == 0:
        return "0"
    exponent = math.floor(math.log10(abs(value)))
    if -4 <= exponent < 5:
        return f"{value:.{max(0, 2 - exponent)}f}"
    digits, power = f"{value:.2e}".split("e")
    return f"{digits}·10{str(int(power)).translate(_RAISED)}"


def with_error(value: float, error: float) -> str:
    """A number and its error, this with two significant digits and both with the same decimals: 0.308 ± 0.046."""
    if not (math.isfinite(error) and error > 0):
        return f"{number(value)} ± {number(error)}"
    decimals = max(0, 1 - math.floor(math.log10(error)))
    return f"{value:.{decimals}f} ± {error:.{decimals}f}"


def ratio(value: float) -> str:
    """A ratio of rates, or an agreement, as every page writes it: 2.85; empty for NaN."""
    return "" if math.isnan(value) else f"{value:.2f}"


def nats(value: float) -> str:
    """Nats in words; `not available` for NaN."""
    return "not available" if math.isnan(value) else f"{number(value)} nats"


def of_graphs(share: float) -> str:
    """A share of the compatible graphs in words: it counts graphs, and is not a probability."""
    return next(word for threshold, word in _OF_GRAPHS if share >= threshold)


def duration(seconds: float | None) -> str:
    """A time span in its two largest useful units: 8 s, 3 min 20 s, 2 h 5 min."""
    if seconds is None or seconds != seconds or seconds < 0:
        return "unknown"
    rounded = round(seconds)
    if rounded < 1:
        return "under 1 s"
    if rounded < 60:
        return f"{rounded} s"
    if rounded < 3600:
        minutes, rest = divmod(rounded, 60)
        return f"{minutes} min" + (f" {rest} s" if rest and minutes < 10 else "")
    hours, minutes = divmod(round(rounded / 60), 60)
    if hours < 48:
        return f"{hours} h" + (f" {minutes} min" if minutes else "")
    return f"{round(hours / 24)} days"


def roughly(seconds: float) -> str:
    """A time span that is only an estimate: 40 s, 4 min, 2 h 5 min."""
    step = 10 if seconds <= 120 else 60
    return duration(step * math.ceil(max(seconds, 1.0) / step))


def place(number: int) -> str:
    """A place in a queue: next, 2nd, 3rd, 11th."""
    last = 0 if number // 10 % 10 == 1 else number % 10
    return "next" if number == 1 else str(number) + {1: "st", 2: "nd", 3: "rd"}.get(last, "th")


def size(count: float | None) -> str:
    """Bytes in a readable unit: 640 MB, 1.3 GB."""
    if count is None or count != count:
        return "unknown"
    value = float(count)
    for unit in ("bytes", "kB", "MB"):
        if value < 1000:
            return f"{value:.0f} {unit}"
        value /= 1000
    return f"{value:.1f} GB"


def ago(moment: datetime | str | float | None) -> str:
    """How long ago something happened: just now, 5 min ago, 21 Nov 2026."""
    then = _as_datetime(moment)
    if then is None:
        return ""
    seconds = (datetime.now(UTC) - then).total_seconds()
    if seconds < 60:
        return "just now"
    if seconds < 24 * 3600:
        return f"{duration(seconds // 60 * 60)} ago"
    return f"{then:%d %b %Y}"


def clock(moment: datetime | str | float | None) -> str:
    """When something happened, short: 14:05 today, 21 Nov this year, else 21 Nov 2025."""
    then = _as_datetime(moment)
    if then is None:
        return ""
    then, current = then.astimezone(), datetime.now().astimezone()
    if then.date() == current.date():
        return f"{then:%H:%M}"
    return f"{then:%d %b}" if then.year == current.year else f"{then:%d %b %Y}"


def how_many(count: int, noun: str, several: str | None = None) -> str:
    """A count with its noun: `1 edge`, `2 edges`."""
    return f"{count:,} {noun if count == 1 else several or noun + 's'}"


def plural(count: int, singular: str, several: str) -> str:
    """The form of a verb or a noun that goes with a count: `is` or `are`."""
    return singular if count == 1 else several


def share(count: int, total: int) -> str:
    """`2 of 3`, or `all 3` if both are equal."""
    return f"all {total}" if count == total and total > 1 else f"{count} of {total}"


def shortened(name: object, longest: int) -> str:
    """A name on one line, with an ellipsis in the middle if it is long: similar names often differ at their ends."""
    text = " ".join(str(name).split()) or "(empty)"
    if len(text) <= longest:
        return text
    end = (longest - 1) * 7 // 17
    return f"{text[: longest - 1 - end].rstrip()}…{text[len(text) - end :].lstrip()}"


def shared_start(names: Sequence[str]) -> str:
    """What all of at least three names begin with, up to a separator after which a letter follows in each; or empty."""
    start = commonprefix(list(names)) if len(names) > 2 else ""
    cuts = [match.end() for match in re.finditer(r"[\W_]+", start)]
    return next((start[:cut] for cut in reversed(cuts) if all(name[cut : cut + 1].isalpha() for name in names)), "")


def listed(items: Sequence[str], limit: int, joint: str = ", ") -> str:
    """The first parts and the number of others: `a, b and 3 more`."""
    omitted = len(items) - limit
    return joint.join(items[:limit]) + (f" and {omitted:,} more" if omitted > 0 else "")


def series(items: Sequence[str]) -> str:
    """All parts in a sentence: `a, b and c`."""
    return " and ".join(filter(None, [", ".join(items[:-1]), *items[-1:]]))


def _as_datetime(moment: datetime | str | float | None) -> datetime | None:
    if moment is None:
        return None
    if isinstance(moment, int | float):
        return datetime.fromtimestamp(moment, UTC)
    try:
        value = datetime.fromisoformat(moment) if isinstance(moment, str) else moment
    except ValueError:
        return None
    return value if value.tzinfo else value.replace(tzinfo=UTC)
