"""Progress reports of a running fit."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from disco.training import Epoch


@dataclass(frozen=True)
class Event:
    """One report of a fit's progress.

    Attributes:
        stage: joint, projection, ordering or parents; selector if the selector is not ocs.
        done, total: epochs of training, removals of the ordering, nodes of parent selection.
        progress: share of the whole work that is done, 0 to 1.
        train, validation: one loss per fold, NaN if there is none; None outside training.
        best_epoch: the epoch whose state each fold would serve, 0 before the first validation; None outside training.
        message: the same in words.
    """

    stage: str
    done: int
    total: int
    progress: float
    train: tuple[float, ...] | None = None
    validation: tuple[float, ...] | None = None
    best_epoch: tuple[int, ...] | None = None
    message: str = ""


Callback = Callable[[Event], bool | None]


class Report:
    """Turns the reports of each stage into events with the progress of the whole work."""

    def __init__(self, callback: Callback | None, flops: dict[str, float]) -> None:
        self.callback, self.flops = callback, flops

    def epoch(self, stage: str, epoch: Epoch, total: int) -> bool:
        """Report a training epoch; returns False if the fit must stop."""
        losses = {"train": epoch.train, "validation": epoch.validation, "best_epoch": epoch.best}
        return self._send(stage, epoch.number, total, epoch.number / total, "epoch", losses)

    def step(self, stage: str, done: int, total: int, share: float) -> bool:
        """Report a removal or a node; returns False if the fit must stop."""
        return self._send(stage, done, total, share, "step" if stage == "ordering" else "node", {})

    def _send(self, stage: str, done: int, total: int, share: float, unit: str, losses: dict[str, Any]) -> bool:
        if self.callback is None:
            return True
        stages = list(self.flops)
        before = sum(self.flops[name] for name in stages[: stages.index(stage)])
        progress = (before + share * self.flops[stage]) / sum(self.flops.values())
        event = Event(stage, done, total, min(progress, 1.0), message=f"{stage}: {unit} {done} of {total}", **losses)
        return self.callback(event) is not False
