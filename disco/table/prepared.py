"""The entry point for tables: any form of a table, checked once.

    DataFrame, array, roles or none  →  counts, adjustment, notes; or any finite numbers

Every public function with a table calls `prepare` first. It returns a `Prepared`, which `prepare` accepts again without
another check. So a function that calls other public functions checks its table once.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import pandas as pd

from disco.errors import InputError
from disco.table.adjustment import CATEGORICAL, CONTINUOUS, Adjustment, Covariate
from disco.table.cells import as_frame, columns_of, names_of, numbers_of
from disco.table.clock import clock
from disco.table.counts import as_they_are, problems, refuse
from disco.table.finding import Finding
from disco.table.past import Past, past_of
from disco.table.roles import Given, Roles
from disco.words import how_many


@dataclass(frozen=True, eq=False)
class Prepared:
    """A checked table."""

    # int64, (rows, nodes), with text as names and rows from 0; float64 where any finite numbers will do
    counts: pd.DataFrame
    adjustment: Adjustment | None = None  # covariates, exposure and groups of the rows, or None
    notes: tuple[str, ...] = ()  # sentences on what is worth knowing but does not prevent the use of the table

    def take(self, rows: np.ndarray) -> "Prepared":
        """Some rows, by number or by mask."""
        adjustment = None if self.adjustment is None else self.adjustment.take(rows)
        return replace(self, counts=self.counts.iloc[rows], adjustment=adjustment)

    @property
    def past(self) -> Past | None:
        """The rows before, of rows in the order of time."""
        return None if self.adjustment is None else self.adjustment.past

    @property
    def positions(self) -> np.ndarray:
        """The positions of the rows in the table as given, from 0, (rows,): in time, some are left out."""
        return np.arange(len(self.counts)) if self.past is None else self.past.positions

    @property
    def rows_given(self) -> int:
        """The number of rows of the table as given."""
        return len(self.counts) + (0 if self.past is None else self.past.alone)

    def with_rows(self, names: pd.Index) -> "Prepared":
        """The same table with names of the rows as given, for messages about rows."""
        return replace(self, counts=self.counts.set_axis(names[self.positions]))

    def rows_of(self, columns: pd.DataFrame) -> pd.DataFrame:
        """These rows of other columns of the table as given; a frame without rows remains."""
        return columns if self.past is None or not len(columns) else columns.iloc[self.positions]


FEWEST_CONTROLS = 500  # rows without an intervention that are enough by themselves
LEAST_ROWS = 20  # the fewest with which networks and splines are fitted to numbers that are not counts
_LARGEST = 2 / 3  # of all rows in one group, at most
_MOST_STRETCHES = 60  # of one series, as its groups

Table: TypeAlias = pd.DataFrame | np.ndarray | Prepared


def prepare(
    table: Table, roles: Given | None = None, folds: int | None = 2, checked: Sequence[Finding] | None = None
) -> Prepared:
    """The counts of a table, and the adjustment from its other columns.

    Args:
        table: all columns; only the counts if an adjustment is given. A prepared one is not checked again, and an
            adjustment given with it replaces its own.
        roles: roles, a mapping of columns to roles, or the adjustment itself.
        folds: the number of folds of the rows. None without a graph search: then any numbers of rows and columns are
            allowed, constant columns too, and rows keep their index.
        checked: the problems of the counts for these folds, if their cells were checked already.

    Raises:
        InputError: it is not a table, its columns cannot be used as counts or in their roles, roles are given for an
            array, or the adjustment has another number of rows.
    """
    if isinstance(table, Prepared):
        return table if roles is None else replace(table, adjustment=_of_rows(roles, table.counts))
    frame = as_frame(table)
    if roles is None or isinstance(roles, Adjustment):
        adjustment = None if roles is None else _of_rows(roles, frame)
        return replace(_of_counts(frame, folds, checked), adjustment=adjustment)
    if not isinstance(table, pd.DataFrame):
        raise InputError("Roles are given by the names of columns, and an array has none: give a DataFrame.")
    roles = roles if isinstance(roles, Roles) else Roles(roles)
    if (roles.lags is not None or roles.season or not roles.trend) and not roles.named("time"):
        raise InputError("Lags, a season and a trend belong to a time: give a column the role time.")
    nodes, adjustment = roles.split(frame)
    if nodes.shape[1] < 2:
        words = f'Only "{nodes.columns[0]}" is left as a count' if nodes.shape[1] else "No column is left as a count"
        raise InputError(f"{words}, and at least 2 are needed: give fewer columns another role.")
    prepared = _of_counts(nodes, folds, checked)
    if adjustment is not None:
        _check_roles(prepared.counts, adjustment, roles, folds or 0)
    prepared = replace(prepared, adjustment=adjustment)
    return _in_time(prepared, roles, frame, folds) if roles.steps_back else prepared


def without_interventions(prepared: Prepared) -> tuple[Prepared, str]:
    """A table for methods without interventions, and a sentence on its rows; unchanged if there are none.

    Contexts become covariates. The rows are the controls; if they are too few, or a column is constant in them, all
    rows, with the arm as a covariate.
    """
    if prepared.adjustment is None:
        return prepared, ""
    adjustment = prepared.adjustment.as_covariates()
    if adjustment.interventions is None:
        unchanged = not (prepared.adjustment.contexts or prepared.past)
        return (prepared if unchanged else replace(prepared, adjustment=adjustment)), ""
    interventions, remaining = adjustment.interventions, replace(adjustment, interventions=None)
    controls = interventions.arm == 0
    counts = prepared.counts[controls]
    if controls.sum() >= FEWEST_CONTROLS and (counts.nunique() > 1).all():
        remaining = remaining.take(controls)
        words = f"The {controls.sum():,} rows without an intervention were used."
        return replace(
            prepared, counts=counts.reset_index(drop=True), adjustment=None if remaining.is_only_arms else remaining
        ), words
    arm = Covariate(interventions.name, CATEGORICAL, interventions.arm, ("control", *interventions.arms))
    words = f'The rows without an intervention are too few, so all were used, with "{arm.name}" as a covariate.'
    return replace(prepared, adjustment=replace(remaining, covariates=(*remaining.covariates, arm))), words


def finite(table: Table) -> pd.DataFrame:
    """The columns of a table of any size as float64, as `as_numbers`; a prepared table is not checked again."""
    return table.counts if isinstance(table, Prepared) else as_numbers(table, None)


def _of_counts(frame: pd.DataFrame, folds: int | None, checked: Sequence[Finding] | None) -> Prepared:
    findings = problems(frame, folds) if checked is None else checked
    refuse(findings)
    counts = as_they_are(frame, np.int64)
    if folds is None:
        counts.index = frame.index
    return Prepared(counts, notes=tuple(map(str, findings)))


def _in_time(prepared: Prepared, roles: Roles, frame: pd.DataFrame, folds: int | None) -> Prepared:
    """The rows that have a full past, ordered by unit and time; a single series is cut into stretches as its groups."""
    names, counts = names_of(frame), prepared.counts
    adjustment = prepared.adjustment or Adjustment(len(counts))
    times = clock([frame.iloc[:, names.index(name)] for name in roles.named("time")], adjustment.group)
    around = adjustment.group, adjustment.exposure
    past = past_of(tuple(counts), counts.to_numpy(), times.steps, roles.steps_back, *around, times.unit)
    with_past = prepared.take(past.positions)
    counts_in_time = with_past.counts if folds is None else with_past.counts.reset_index(drop=True)
    findings = problems(counts_in_time, folds)
    refuse(findings)
    adjustment = with_past.adjustment or Adjustment(len(counts_in_time))
    group = adjustment.group
    if group is None:
        stretches = min(max(round(len(counts_in_time) ** 0.5), folds or 2), _MOST_STRETCHES)
        group = np.arange(len(counts_in_time)) * stretches // len(counts_in_time)
    notes = (*map(str, findings), str(past))
    covariates = (*adjustment.covariates, *_along_time(past.steps, roles))
    return Prepared(counts_in_time, replace(adjustment, covariates=covariates, past=past, group=group), notes)


def _along_time(steps: np.ndarray, roles: Roles) -> Iterator[Covariate]:
    """The covariates of a season, whose smooths make any wave of it together, and of a trend."""
    if roles.season is not None:
        turn = 2 * np.pi * (steps % roles.season) / roles.season
        waves = {"season cosine": np.cos(turn), "season sine": np.sin(turn), "season sine 2": np.sin(2 * turn)}
        for name, wave in waves.items():
            if np.ptp(values := np.round(wave, 9)) > 0:  # not the sine of a season of two steps
                yield Covariate(name, CONTINUOUS, values)
    if roles.trend:
        yield Covariate("trend", CONTINUOUS, steps.astype(float))


def _of_rows(adjustment: object, counts: pd.DataFrame) -> Adjustment:
    if not isinstance(adjustment, Adjustment):
        raise InputError("The table was prepared with its roles: give an adjustment, or no roles.")
    if adjustment.rows != len(counts):
        raise InputError(f"The adjustment has {adjustment.rows:,} rows, and the table {len(counts):,}.")
    return adjustment


def _check_roles(counts: pd.DataFrame, adjustment: Adjustment, roles: Roles, folds: int) -> None:
    """Refuse groups that cannot be divided, and covariates or an exposure that determine a node or separate an arm."""
    _check_group(adjustment, roles, folds)
    for covariate in adjustment.covariates:
        _check_determines(counts, covariate)
        _check_separates(adjustment, covariate)
    if adjustment.exposure is not None:
        _check_rates(counts, adjustment.exposure, (*roles.named("exposure"), roles.exposure or "")[0])


def _check_group(adjustment: Adjustment, roles: Roles, folds: int) -> None:
    """Refuse a single group, groups of one row each, and fewer groups than folds."""
    if adjustment.group is None:
        return
    name = (*roles.named("group"), f"{roles.blocks} blocks of rows")[0]
    sizes = np.bincount(adjustment.group)
    if len(sizes) == 1:
        raise InputError(f'The group "{name}" is the same in every row: ignore that column.')
    if (sizes == 1).all():
        raise InputError(f'Every row is its own group in "{name}": ignore that column.')
    if (largest := sizes.max() / sizes.sum()) > _LARGEST:
        raise InputError(
            f'One group of "{name}" has {largest:.0%} of the rows, so hardly any are left to train on: make another '
            "column the group, or make this one a covariate."
        )
    if len(sizes) < folds:
        raise InputError(
            f'"{name}" has {len(sizes)} groups, too few for {folds} folds, since rows of a group stay together: use '
            "fewer folds, or make it a covariate."
        )


def _check_determines(counts: pd.DataFrame, covariate: Covariate) -> None:
    order = np.argsort(covariate.values, kind="stable")
    starts = np.flatnonzero(np.diff(covariate.values[order], prepend=np.nan) != 0)
    values = counts.to_numpy()[order]
    lowest, highest = (of.reduceat(values, starts, axis=0) for of in (np.minimum, np.maximum))
    for at in np.flatnonzero((lowest == highest).all(axis=0)):
        name, steps = counts.columns[at], np.diff(lowest[:, at])
        if covariate.kind == CATEGORICAL or (steps > 0).all() or (steps < 0).all():
            how = "is constant in each level" if covariate.kind == CATEGORICAL else "always rises or falls with it"
            raise InputError(
                f'The covariate "{covariate.name}" determines "{name}", which {how}, so it has no other cause: ignore '
                "one of the two."
            )


def _check_separates(adjustment: Adjustment, covariate: Covariate) -> None:
    """Refuse a categorical covariate of which no level has rows of an arm and controls."""
    interventions = adjustment.interventions
    if interventions is None or covariate.kind != CATEGORICAL:
        return
    with_controls = np.unique(covariate.values[interventions.arm == 0])
    for number, label in enumerate(interventions.arms, start=1):
        if not np.isin(covariate.values[interventions.arm == number], with_controls).any():
            raise InputError(
                f'No level of the covariate "{covariate.name}" has both controls and rows of the arm "{label}" of '
                f'"{interventions.name}", so nothing can be compared: make "{covariate.name}" the group, or ignore it.'
            )


def _check_rates(counts: pd.DataFrame, exposure: np.ndarray, exposure_name: str) -> None:
    """Refuse an exposure of which a node is a multiple, such as a copy of it."""
    for name, column in counts.items():
        rates = column.to_numpy() / exposure
        if np.ptp(rates) <= 1e-12 * rates.max():
            raise InputError(
                f'"{name}" is the same multiple of the exposure "{exposure_name}" in every row, so its rate never '
                "changes: ignore it, or choose another exposure."
            )


def as_numbers(table: pd.DataFrame | np.ndarray, rows: int | None = LEAST_ROWS) -> pd.DataFrame:
    """The table as float64, with text as names and rows numbered from 0; an array's columns become x1 to xd.

    Args:
        rows: the minimum for a graph search. None without a search: then any numbers of rows and columns are allowed,
            and constant columns too.

    Raises:
        InputError: it is not a table, has too few rows or columns, a name is missing or repeated, a cell is not a
            finite number, or a column is constant or has an extreme unit.
    """
    count = len(as_frame(table))
    if rows is not None and 0 < count < rows:
        raise InputError(f"The table has {how_many(count, 'row')}; at least {rows} are needed.")
    refuse(problems(table, None if rows is None else 1, need_counts=False))
    numbers = as_they_are(table, np.float64)
    for name, column in numbers.items():
        _check_unit(column.to_numpy(), str(name))
    return numbers


def is_continuous(table: pd.DataFrame | np.ndarray) -> bool:
    """Whether every column has only finite numbers, and at least half of the columns are not counts."""
    columns = [numbers_of(column)[0] for _, column in columns_of(table)]
    if len(columns) < 2 or not all(np.isfinite(column).all() for column in columns):
        return False
    return 2 * sum(not _are_counts(column) for column in columns) >= len(columns)


def no_counts(table: pd.DataFrame | np.ndarray) -> str | None:
    """The first column of finite numbers that are not counts; None without one."""
    for name, column in columns_of(table):
        values = numbers_of(column)[0]
        if np.isfinite(values).all() and not _are_counts(values):
            return name
    return None


def _are_counts(values: np.ndarray) -> bool:
    return bool(((values >= 0) & (values == np.floor(values))).all())


def _check_unit(values: np.ndarray, name: str) -> None:
    """Refuse a column whose variance no float can hold."""
    with np.errstate(over="ignore", invalid="ignore"):
        variance = values.var()
    if not 0 < variance < np.inf and (values != values[0]).any():
        raise InputError(f'Column "{name}" has numbers whose squares are too large or too small: give another unit.')
