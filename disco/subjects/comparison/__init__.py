"""Other methods on the table of a run."""

from dataclasses import dataclass

from disco.runs.status import Status, Work


@dataclass(frozen=True)
class ComparisonStatus(Status):
    """The status of a comparison, whose steps are methods; `method` is the current one."""

    method: str = ""


COMPARE = Work(
    "compare",
    "comparison",
    "comparing_status.json",
    ("methods",),
    ComparisonStatus,
    "disco.subjects.comparison.comparing",
    result="compare.csv",
    compiled=True,
)
