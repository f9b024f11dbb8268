"""Times, sizes and states in words."""

from datetime import UTC, datetime

from disco.runs import FIT, Status, Work
from disco.words import duration
from pages.shared.frame.names import code

STATES = {
    "unfitted": "has not been fitted",
    "none": "has not been started",
    "queued": "waits in the queue",
    "running": "is running",
    "done": "is done",
    "cancelled": "was cancelled",
    "failed": "failed",
    "interrupted": "was interrupted",
}
STAGES = {
    "joint": "Joint network",
    "projection": "Projection network",
    "ordering": "Causal order",
    "parents": "Parents",
    "selector": "Parents by the selector",
}


def standing(name: str, work: Work, status: Status) -> str:
    """The state of a run's work: `NAME` is running, The refinement of `NAME` was cancelled."""
    it = code(name) if work == FIT else f"The {work.noun} of {code(name)}"
    return f"{it} {STATES[status.state]}"


def size(count: float | None) -> str:
    """Bytes in the unit a person reads: 640 MB, 1.3 GB."""
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
    then, now = then.astimezone(), datetime.now().astimezone()
    if then.date() == now.date():
        return f"{then:%H:%M}"
    return f"{then:%d %b}" if then.year == now.year else f"{then:%d %b %Y}"


def _as_datetime(moment: datetime | str | float | None) -> datetime | None:
    if moment is None:
        return None
    if isinstance(moment, int | float):
        return datetime.fromtimestamp(moment, UTC)
    try:
        found = datetime.fromisoformat(moment) if isinstance(moment, str) else moment
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)
