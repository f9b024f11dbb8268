"""The rows before every row of a series: what its counts may come from besides the counts of the same row.

Rows are ordered by unit and time. A row has a full past if its unit has a row at each of the steps before it; a gap
breaks a series. Rows without a full past serve as the past of others alone.

A column's memory is the mean of all its earlier counts in the series, each row back with .8 of the weight. Where a rate
drifts, it says more of the present than one row, and without it two drifting columns seem to depend on each other.
"""

import hashlib
from dataclasses import dataclass, replace

import numpy as np

from disco.errors import InputError
from disco.words import how_many, plural

KEEP = 0.8  # of a row's weight in the memory, one row further back
_WAVES, _ROWS_A_TERM = 4, 10  # of a column of the past where it is adjusted for


@dataclass(frozen=True, eq=False)
class Past:
    """The counts before each of some rows."""

    names: tuple[str, ...]  # of the columns
    counts: np.ndarray  # lag - 1 in the second place, (rows, lags, columns) int64
    memory: np.ndarray  # the mean of a column's own earlier counts, or rates with an exposure, (rows, columns)
    exposure: np.ndarray | None  # of the same rows, (rows, lags), or None
    steps: np.ndarray  # the time of the rows in whole steps, (rows,)
    positions: np.ndarray  # of the rows in the table as given, from 0, (rows,)
    unit: str  # of a step, such as week
    gaps: int  # places where a series breaks
    alone: int  # rows that are only a past

    @property
    def scaled(self) -> np.ndarray:
        """Square roots of counts and memory, or of rates at the mean exposure, as far as they vary, (rows, columns)."""
        relative = 1.0 if self.exposure is None else (self.exposure / self.exposure.mean())[..., None]
        lagged = (self.counts / relative).reshape(len(self.counts), -1)
        columns = np.sqrt(np.concatenate([lagged, self.memory], axis=1))
        return columns[:, np.ptp(columns, axis=0) > 0]

    def columns(self) -> dict[str, np.ndarray]:
        """What a search takes as causes, by name, the earliest first: memories, and counts or their rates, (rows,)."""
        back = range(self.lags, 0, -1)
        columns = {column_name(name, 0): column for name, column in zip(self.names, self.memory.T, strict=True)}
        for lag in back:
            rates = self.counts[:, lag - 1] / (1.0 if self.exposure is None else _relative(self.exposure)[:, [lag - 1]])
            columns |= {column_name(name, lag): column for name, column in zip(self.names, rates.T, strict=True)}
        return columns

    @property
    def waves(self) -> int:
        """How many bends of each column the rows can carry."""
        return int(np.clip(len(self.counts) / (_ROWS_A_TERM * max(self.counts[0].size, 1)) - 1, 0, _WAVES))

    @property
    def lags(self) -> int:
        """How many steps back it goes."""
        return self.counts.shape[1]

    def rates(self, counts: np.ndarray, lag: int) -> np.ndarray:
        """Counts of the rows `lag` steps before, (rows,), at their mean exposure; as they are without exposures."""
        if self.exposure is None:
            return counts
        return counts / _relative(self.exposure)[:, lag - 1]

    def take(self, rows: np.ndarray) -> "Past":
        """The past of some of the rows, by number or by mask."""
        exposure = None if self.exposure is None else self.exposure[rows]
        fields = {name: getattr(self, name)[rows] for name in ("counts", "memory", "steps", "positions")}
        return replace(self, exposure=exposure, **fields)

    def update(self, digest: "hashlib._Hash") -> None:
        """Add all that matters to a digest."""
        digest.update(repr(self.names).encode() + self.counts.astype("<i8").tobytes())
        digest.update(self.memory.astype("<f8").tobytes())
        if self.exposure is not None:
            digest.update(self.exposure.astype("<f8").tobytes())

    def __str__(self) -> str:
        gaps = f"; {how_many(self.gaps, 'gap')}" if self.gaps else ""
        return (
            f"One row per {self.unit}{gaps}. {how_many(self.alone, 'row')} without {how_many(self.lags, 'row')} before "
            f"{plural(self.alone, 'it serves', 'them serve')} as the past of others alone."
        )


def column_name(node: str, lag: int) -> str:
    """The name of a node's column so many steps before; of its memory for 0."""
    return f"{node} ({lag} before)" if lag else f"{node} (memory)"


def past_of(
    names: tuple[str, ...],
    counts: np.ndarray,
    steps: np.ndarray,
    lags: int,
    units: np.ndarray | None,
    exposure: np.ndarray | None,
    step: str,
) -> Past:
    """The past of the rows that have one, ordered by unit and time.

    Args:
        counts: (rows, columns), with `names`.
        steps: the time of every row in whole steps, (rows,); `step` is one of them in words.
        units: the number of every row's unit, (rows,), if there are several series.
        exposure: of the rows, (rows,), if there is one.

    Raises:
        InputError: two rows of a unit have the same time, or no row has a full past.
    """
    units = np.zeros(len(counts), np.int64) if units is None else units
    order = np.lexsort((steps, units))
    unit, steps = units[order], steps[order]
    same = np.flatnonzero((unit[1:] == unit[:-1]) & (steps[1:] == steps[:-1]))
    if len(same):
        pair = order[same[0]] + 1, order[same[0] + 1] + 1
        more = f", and {how_many(len(same) - 1, 'more pair')}" if len(same) > 1 else ""
        raise InputError(
            f"Rows {min(pair):,} and {max(pair):,} are at the same time{more}: name the column that tells the units "
            "apart as the group, add the rows up, or leave all but one out."
        )
    back = [_is_before(unit, steps, lag) for lag in range(1, lags + 1)]
    has_past = np.logical_and.reduce(back)
    if not has_past.any():
        longest = int(np.bincount(unit).max())
        raise InputError(
            f"No row has {how_many(lags, 'row')} before it: the longest series has {how_many(longest, 'row')}, with "
            f"one per {step}. Ask for fewer lags."
        )
    rows = np.flatnonzero(has_past)
    earlier = rows[:, None] - np.arange(1, lags + 1)
    inner = unit[1:] == unit[:-1]
    return Past(
        names,
        counts[order][earlier],
        _memory(counts[order] / (1.0 if exposure is None else _relative(exposure)[order][:, None]), back[0])[rows],
        None if exposure is None else exposure[order][earlier],
        steps[rows],
        order[rows],
        step,
        int(np.count_nonzero(inner & (np.diff(steps) > 1))),
        len(order) - len(rows),
    )


def _relative(exposure: np.ndarray) -> np.ndarray:
    """Exposures by their geometric mean."""
    return exposure / np.exp(np.log(exposure).mean())


def _memory(values: np.ndarray, goes_on: np.ndarray) -> np.ndarray:
    """The weighted mean of the earlier rows of each series, (rows, columns); 0 without any.

    `goes_on` says which of the ordered rows follow the one above, (rows,) bool.
    """
    means, total, weight = np.zeros(values.shape), np.zeros(values.shape[1]), 0.0
    for row in range(1, len(values)):
        total, weight = (KEEP * total + values[row - 1], KEEP * weight + 1.0) if goes_on[row] else (0.0 * total, 0.0)
        means[row] = total / max(weight, 1.0)
    return means


def _is_before(unit: np.ndarray, steps: np.ndarray, lag: int) -> np.ndarray:
    """Whether the row `lag` places before an ordered row is its own unit's, as many steps earlier, (rows,) bool."""
    is_before = np.zeros(len(unit), bool)
    is_before[lag:] = (unit[lag:] == unit[:-lag]) & (steps[lag:] - steps[:-lag] == lag)
    return is_before
