"""The refinement of a run: its work, its time, its files."""

from dataclasses import dataclass, field
from typing import Any, ClassVar

from disco.runs.status import Status, Work
from disco.schema import fits


@dataclass(frozen=True)
class RefinementStatus(Status):
    """The status of a refinement, whose steps are searches or bootstrap tables.

    Attributes:
        start, sweep, score: its running search; nats.
        best: the highest score so far; nats.
        choice: the fields of `disco.refine.Choice`.
    """

    start: str = ""
    sweep: int = 0
    score: float | None = None
    best: float | None = None
    choice: dict[str, Any] = field(default_factory=dict)

    SIGNED: ClassVar[tuple[str, ...]] = ("score", "best")

    def check(self) -> None:
        """Also refuse a choice that is not numbers."""
        super().check()
        if not fits(self.choice, dict[str, float | bool]):
            raise ValueError("choice has values that are not numbers")


REFINE = Work(  # older versions of DISCO refined without a status
    "refine",
    "likelihood search",
    "refining_status.json",
    ("artefacts", "screen", "prior", "search", "evidence", "bootstrap"),
    RefinementStatus,
    "disco.subjects.refinement.refining",
    result="refined.json",
    compiled=True,
)
