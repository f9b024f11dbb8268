"""The fit of a run: its work, its time, its files, its networks on the device."""

from dataclasses import dataclass, field
from typing import Any, ClassVar

from disco.runs.status import Status, Work
from disco.schema import fits

CHECKPOINT = "checkpoint.safetensors"  # of an unfinished fit


@dataclass(frozen=True)
class FitStatus(Status):
    """The status of a fit, whose steps are epochs or nodes.

    Attributes:
        versions: versions of the packages that affect its result.
        estimate: {seconds, bytes, by_stage} estimated before the start.
        seconds_off, bytes_off: measured divided by estimated, when done.
        peak_bytes: peak memory of the process or the device.
        best_epochs: stage → best epoch of each fold.
        rows_used: number of rows, when done.
        notes: with experiments, which rows it used, and sentences on their rules.
        loss: the stage's validation loss at its last measured epoch, averaged over folds.
    """

    versions: dict[str, str] = field(default_factory=dict)
    estimate: dict[str, Any] | None = None
    seconds_off: float | None = None
    bytes_off: float | None = None
    peak_bytes: int | None = None
    best_epochs: dict[str, list[int]] = field(default_factory=dict)
    rows_used: int | None = None
    notes: list[str] = field(default_factory=list)
    loss: float | None = None

    SIGNED: ClassVar[tuple[str, ...]] = ("loss",)

    def check(self) -> None:
        """Also refuse an estimate that is not positive numbers."""
        super().check()
        numbers = {name: value for name, value in (self.estimate or {}).items() if name != "by_stage"}
        known = {name: numbers[name] for name in ("seconds", "bytes", "low", "high") if name in numbers}
        if self.estimate is not None and not (
            "seconds" in known
            and fits(known, dict[str, float])
            and min(known.values()) > 0
            and fits(self.estimate.get("by_stage", {}), dict[str, float])
        ):
            raise ValueError("estimate has values that are not numbers")


FIT = Work(
    "fit",
    "fit",
    "status.json",
    ("joint", "projection", "ordering", "parents", "selector", "artefacts"),
    FitStatus,
    "disco.subjects.fit.execution",
    unasked="unfitted",
    result="edges.csv",
    on_device=True,
)
