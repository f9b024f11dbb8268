"""Checks of roles before anything starts, and the rows in which a column cannot have its role."""

from collections import Counter

import numpy as np
import pandas as pd

from disco.errors import InputError
from disco.table.adjustment import CATEGORICAL, RANDOMISED, Adjustment, Covariate
from disco.table.cells import names_of, numbers_of
from disco.table.role_columns import kind_of, plain
from disco.table.roles import Roles

_LARGEST = 2 / 3  # of all rows in one group, at most


def check_roles(counts: pd.DataFrame, adjustment: Adjustment, roles: Roles, folds: int) -> None:
    """Refuse roles that are impossible with these counts.

    Args:
        counts: of the nodes, checked.
        adjustment: from the other columns.
        roles: those that divided the table into both.
        folds: of the fit.

    Raises:
        InputError: the groups cannot be divided, a covariate or the exposure determines a node, or a covariate
            separates an arm from the controls.
    """
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
    """Refuse a covariate that determines a node."""
    order = np.argsort(covariate.values, kind="stable")
    starts = np.flatnonzero(np.diff(covariate.values[order], prepend=np.nan) != 0)
    for name, column in counts.items():
        values = column.to_numpy()[order]
        lowest = np.minimum.reduceat(values, starts)
        if not np.array_equal(lowest, np.maximum.reduceat(values, starts)):
            continue
        steps = np.diff(lowest)
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
                "changes: ignore one of the two."
            )


def unusable_rows(table: pd.DataFrame, roles: Roles) -> dict[str, np.ndarray]:
    """The rows in which a column cannot have its role: name → mask, (rows,); columns without such rows are left out.

    Such a row has a missing cell, a cell that is not a number where one is needed, an exposure that is not above zero,
    or a level that no other row has. A computed exposure has the name of its kind.
    """
    names, unusable = names_of(table), {}
    times = Counter(names)
    columns = {name: table.iloc[:, index] for index, name in enumerate(names) if times[name] == 1}
    for name, declaration in roles.columns.items():
        if name in columns and roles.role(name) not in ("count", "intervention", "ignore"):
            kind = kind_of(columns[name]) if isinstance(declaration, str) else declaration[1]
            unusable[name] = _unusable(columns[name], roles.role(name), kind, roles.group_effects)
    if roles.exposure is not None:
        nodes = [numbers_of(column)[0] for name, column in columns.items() if roles.role(name) == "count"]
        if nodes:
            unusable[roles.exposure] = np.nansum(nodes, axis=0) <= 0
    return {name: rows for name, rows in unusable.items() if rows.any()}


def _unusable(column: pd.Series, role: str, kind: str, group_effects: bool) -> np.ndarray:
    column = plain(column)
    values, invalid = numbers_of(column)
    missing = np.isnan(values) & ~invalid
    if role == "group" and not group_effects:
        return missing
    if role == "group" or (role in ("covariate", "context") and kind in (CATEGORICAL, RANDOMISED)):
        levels = column.astype(str)
        return missing | (levels.map(levels[~missing].value_counts()) == 1).to_numpy(dtype=bool)
    values = pd.to_numeric(column, errors="coerce").to_numpy(dtype=float)
    is_usable = np.isfinite(values) & ((values > 0) | (role != "exposure"))
    return ~is_usable
