"""The plan of a fit: the rows for each part, and the length of training.

It follows from the number of rows n and the settings, before any row is drawn. With B folds:

    used     = min(n, max_rows)
    rows     = used, or the larger half of them with disjoint_rows
    train    = rows − ⌈rows / B⌉
               all rows with folds_by counts, whose folds hold out half of every count
    holdout  = validation_share · train, at least 1 and at most validation_rows and train − 1
    epochs   = max(epochs requested, ⌈steps requested / batches⌉), with batches = ⌈rows per epoch / batch_size⌉

Folds differ by at most one row, unless rows of a group stay together: then the numbers are those of the drawn folds.
`train` is the smallest: all folds share a batch, so each visits that many rows.
"""

import math
from dataclasses import dataclass

from disco.paper.ranks import Folds
from disco.paper.settings import Settings

_MOST_SECOND = 1 << 28  # second differences in memory at once, 1 GB


@dataclass(frozen=True)
class Schedule:
    """The length of one network's training.

    Attributes:
        epochs: largest number of epochs; the joint network may stop earlier.
        rows: per fold and epoch.
        batches: optimiser updates per epoch.
    """

    epochs: int
    rows: int
    batches: int

    @classmethod
    def of(cls, rows: int, batch_size: int, epochs: int, steps: int) -> "Schedule":
        """At least `epochs` epochs and at least `steps` updates."""
        batches = math.ceil(rows / batch_size)
        return cls(max(epochs, math.ceil(steps / batches)), rows, batches)


@dataclass(frozen=True)
class Plan:
    """The use of a table's rows in a fit.

    Attributes:
        used: number of rows used at all.
        rows: number of rows for networks and order.
        parent_rows: number of rows for the parents.
        train: rows of a score-training split.
        holdout: rows of that split for early stopping of the joint network; approximate with groups.
        evaluated: held-out rows of a fold at which curvature is evaluated, unless `most_evaluated` is less.
        joint, projection: the two networks' schedules; without a projection network its epochs are 0.
    """

    settings: Settings
    used: int
    rows: int
    parent_rows: int
    train: int
    holdout: int
    evaluated: int
    joint: Schedule
    projection: Schedule

    @classmethod
    def of(cls, rows: int, settings: Settings, folds: Folds | None = None) -> "Plan":
        """The plan for a table of `rows` rows, enough for the folds; `folds` if already drawn."""
        used = rows if settings.max_rows is None else min(rows, settings.max_rows)
        fitted, parent_rows = ((used + 1) // 2, used // 2) if settings.disjoint_rows else (used, used)
        train, held_out = fitted - math.ceil(fitted / settings.folds), fitted // settings.folds
        if settings.folds_by == "counts":
            train = held_out = fitted
        elif folds is not None:
            fitted, parent_rows = len(folds.rows), sum(len(fold.rows) for fold in folds.parent_ranks)
            train = min(len(fold.train) for fold in folds.ranks)
            held_out = min(len(fold.held_out) for fold in folds.ranks)
        holdout = max(1, min(settings.validation_rows, round(settings.validation_share * train), train - 1))
        joint_rows = train - holdout
        if folds is not None:
            holdouts = [fold.shuffled(number, holdout, settings)[1] for number, fold in enumerate(folds.ranks)]
            joint_rows = min(len(fold.train) - held for fold, held in zip(folds.ranks, holdouts, strict=True))
        size = settings.batch_size
        return cls(
            settings,
            used,
            fitted,
            parent_rows,
            train,
            holdout,
            evaluated=min(held_out, settings.evaluation_rows or held_out),
            joint=Schedule.of(joint_rows, size, settings.joint_epochs, settings.joint_steps),
            projection=Schedule.of(train, size, settings.projection_epochs, settings.projection_steps)
            if "projection" in settings.networks
            else Schedule(0, 0, 0),
        )


def most_evaluated(settings: Settings, nodes: int) -> int | None:
    """The most held-out rows per fold at which curvature is evaluated; None if all.

    With projection=schur each of them has a second difference for every pair of nodes in memory.
    """
    if "projection" in settings.networks:
        return settings.evaluation_rows
    bound = max(4, _MOST_SECOND // (settings.folds * nodes**2))
    return min(bound, settings.evaluation_rows or bound)
