"""The entry point for tables: any form of a table, checked once.

    DataFrame, array, roles or none  →  counts, adjustment, notes

Every public function with a table calls `prepare` first. It returns a `Prepared`, which `prepare` accepts again without
another check. So a function that calls other public functions checks its table once.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import pandas as pd

from disco.errors import InputError
from disco.table.adjustment import CATEGORICAL, Adjustment, Covariate
from disco.table.cells import as_frame
from disco.table.continuous import as_numbers
from disco.table.counts import as_they_are, problems, refuse
from disco.table.finding import Finding
from disco.table.role_checks import check_roles
from disco.table.roles import Given, Roles


@dataclass(frozen=True, eq=False)
class Prepared:
    """A checked table.

    Attributes:
        counts: int64, (rows, nodes), with text as names and rows from 0; float64 where any finite numbers will do.
        adjustment: covariates, exposure and groups of the rows, or None.
        notes: sentences on what is worth knowing but does not prevent the use of the table.
    """

    counts: pd.DataFrame
    adjustment: Adjustment | None = None
    notes: tuple[str, ...] = ()

    def take(self, rows: np.ndarray) -> "Prepared":
        """Some rows, by number or by true and false."""
        adjustment = None if self.adjustment is None else self.adjustment.take(rows)
        return replace(self, counts=self.counts.iloc[rows], adjustment=adjustment)

    def with_rows(self, names: pd.Index) -> "Prepared":
        """The same table with names of its rows, which problems of rows are reported with."""
        return replace(self, counts=self.counts.set_axis(names))


FEWEST_CONTROLS = 500  # rows without an intervention that are enough by themselves

Table: TypeAlias = pd.DataFrame | np.ndarray | Prepared


def prepare(
    table: Table,
    roles: Given | None = None,
    folds: int | None = 2,
    checked: Sequence[Finding] | None = None,
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
    nodes, adjustment = roles.split(frame)
    if nodes.shape[1] < 2:
        words = f'Only "{nodes.columns[0]}" is left as a count' if nodes.shape[1] else "No column is left as a count"
        raise InputError(f"{words}, and at least 2 are needed: give fewer columns another role.")
    prepared = _of_counts(nodes, folds, checked)
    if adjustment is not None:
        check_roles(prepared.counts, adjustment, roles, folds or 0)
    return replace(prepared, adjustment=adjustment)


def without_interventions(prepared: Prepared) -> tuple[Prepared, str]:
    """A table for what cannot use interventions, and a sentence on its rows; the table itself without interventions.

    Contexts become covariates. The rows are the controls; if they are too few, or a column is constant in them, all
    rows, with the arm as a covariate.
    """
    if prepared.adjustment is None:
        return prepared, ""
    adjustment = prepared.adjustment.contexts_as_covariates()
    if adjustment.interventions is None:
        return (replace(prepared, adjustment=adjustment) if prepared.adjustment.contexts else prepared), ""
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
    words = (
        f'The rows without an intervention are too few, so all were used, with "{interventions.name}" as a covariate.'
    )
    return replace(prepared, adjustment=replace(remaining, covariates=(*remaining.covariates, arm))), words


def finite(table: Table) -> pd.DataFrame:
    """The columns of a table of any size as float64; they need not be counts. Those of a prepared table as they are.

    Raises:
        InputError: as for `as_numbers`.
    """
    return table.counts if isinstance(table, Prepared) else as_numbers(table, None)


def _of_counts(frame: pd.DataFrame, folds: int | None, checked: Sequence[Finding] | None) -> Prepared:
    findings = problems(frame, folds) if checked is None else checked
    refuse(findings)
    counts = as_they_are(frame, np.int64)
    if folds is None:
        counts.index = frame.index
    return Prepared(counts, notes=tuple(map(str, findings)))


def _of_rows(adjustment: object, counts: pd.DataFrame) -> Adjustment:
    """The adjustment, checked to have these rows."""
    if not isinstance(adjustment, Adjustment):
        raise InputError("The table was prepared with its roles: give an adjustment, or no roles.")
    if adjustment.rows != len(counts):
        raise InputError(f"The adjustment has {adjustment.rows:,} rows, and the table {len(counts):,}.")
    return adjustment
