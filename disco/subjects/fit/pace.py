"""The remaining time of a fit, from its pace so far; the initial estimate only weights its stages.

Work is measured in estimated seconds per stage. If w of W are done, and the last stretch did Δw in the time Δt, then (W
− w) · Δt / Δw remains, whatever the machine's load.
"""

from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from disco.progress import Event

_STRETCH = 30.0  # seconds over which the pace is measured, so that it follows changes of load
_FIRST = 1.0  # initial seconds in which only the estimate counts


class Pace:
    """The remaining time of a fit, updated by its events.

    Args:
        by_stage: stage → estimated seconds; None measures work as a share of the total instead.
    """

    def __init__(self, by_stage: dict[str, float] | None) -> None:
        self.by_stage = by_stage if by_stage and sum(by_stage.values()) > 0 else None
        self.seen: deque[tuple[float, float]] = deque()

    def hear(self, event: "Event", moment: float) -> None:
        """Record an event at a time in seconds."""
        self.seen.append((moment, self._work(event)))
        while len(self.seen) > 2 and self.seen[1][0] <= moment - _STRETCH:
            self.seen.popleft()

    def remaining(self) -> float | None:
        """Remaining seconds; None while unknown."""
        if not self.seen:
            return None
        (then, first_work), (moment, work) = self.seen[0], self.seen[-1]
        rest = max((sum(self.by_stage.values()) if self.by_stage else 1.0) - work, 0.0)
        if moment - then > _FIRST and work > first_work:
            return rest * (moment - then) / (work - first_work)
        return rest if self.by_stage else None

    def _work(self, event: "Event") -> float:
        """Estimated seconds of the finished work, or its share."""
        if self.by_stage is None:
            return event.progress
        stages = list(self.by_stage)
        if event.stage not in stages:  # selectors other than ocs, without estimated times
            return event.progress * sum(self.by_stage.values())
        earlier = sum(self.by_stage[name] for name in stages[: stages.index(event.stage)])
        return earlier + event.done / max(event.total, 1) * self.by_stage[event.stage]
