"""States of work in words, and lists."""

from collections.abc import Sequence

from disco.runs import FIT, Status, Work
from pages.shared.widgets.names import code

STOPS, WARNS = ":red[:material/error:]", ":orange[:material/warning:]"  # a finding before which nothing starts, or not
STATES = {
    "unfitted": "has not been fitted",
    "none": "has not been started",
    "queued": "is queued",
    "running": "is running",
    "done": "finished",
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


def why(status: Status) -> str:
    """Why work failed or was interrupted, one sentence; empty for other states."""
    lost = "Its process ended early, as when the computer is restarted or memory runs out."
    return status.error or (lost if status.state == "interrupted" else "")


def bullets(lines: Sequence[str], most: int | None = None, rest: str = "more.") -> str:
    """A list in Markdown; beyond `most` lines, the number of others, followed by `rest`."""
    more = 0 if most is None else len(lines) - most
    return "\n".join(f"- {line}" for line in [*lines[:most], *([f"and {more:,} {rest}"] if more > 0 else [])])
