"""Columns with a role, read and checked; and those computed from the rows."""

import re
from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from disco.errors import InputError
from disco.table.adjustment import CATEGORICAL, CONTINUOUS, COUNT, MOST_LEVELS, ORDINAL, RANDOMISED, Context, Covariate
from disco.table.cells import is_count, numbers_of
from disco.table.rows import row_in_words
from disco.words import how_many


def plain(column: pd.Series) -> pd.Series:
    """A column with a role as a run stores it: numbers, true and false, or text; dates are text."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(column.cat.categories.dtype if not column.isna().any() else object)
    column = column.infer_objects() if column.dtype == object else column
    if pd.api.types.is_datetime64_any_dtype(column) or pd.api.types.is_timedelta64_dtype(column):
        return column.astype(str).where(column.notna(), None)
    return column


def kind_of(column: pd.Series) -> str:
    """The default kind of a covariate: categorical if its cells are text, continuous otherwise."""
    column = plain(column)
    values, invalid = numbers_of(column)
    numbers = pd.to_numeric(column, errors="coerce")[column.notna()]  # decimal fractions and exponents too
    return CATEGORICAL if invalid.any() and numbers.isna().any() else CONTINUOUS


def covariate(column: pd.Series, declaration: str | tuple[str, str], role: str = "covariate") -> Covariate:
    """A checked covariate; `role` is its name in messages."""
    name, kind = str(column.name), kind_of(column) if isinstance(declaration, str) else declaration[1]
    _refuse_missing(column, role)
    if kind == CATEGORICAL:
        return levels_as_covariate(name, *group(column, role), role)
    values = pd.to_numeric(column, errors="coerce").to_numpy(dtype=float)
    if not np.isfinite(values).all():
        cell, row = column[~np.isfinite(values)].iloc[0], _first(~np.isfinite(values), column)
        raise InputError(
            f'The {kind} {role} "{name}" has "{cell}" in row {row}, which is not a number: correct the cell, or make '
            "it categorical."
        )
    if kind == COUNT and not is_count(values).all():
        row = _first(~is_count(values), column)
        raise InputError(f'The {role} "{name}" is not a count in row {row}: make it continuous.')
    if len(np.unique(values)) < 2:
        raise InputError(f'The {role} "{name}" is constant and explains nothing: ignore it.')
    if kind == ORDINAL:
        steps, index = np.unique(values, return_inverse=True)
        return Covariate(name, kind, index, tuple(f"{step:g}" for step in steps))
    return Covariate(name, kind, values)


def context(column: pd.Series, declaration: str | tuple[str, str]) -> Context:
    """A checked context: levels unless it is continuous."""
    kind = kind_of(column) if isinstance(declaration, str) else declaration[1]
    as_levels = ("context", CATEGORICAL if kind == RANDOMISED else kind)
    checked = covariate(column, as_levels, "context")
    return Context(checked.name, checked.kind, checked.values, checked.levels, kind == RANDOMISED)


def levels_as_covariate(name: str, codes: np.ndarray, levels: Sequence[str], role: str = "covariate") -> Covariate:
    """A checked categorical covariate."""
    if len(levels) < 2:
        raise InputError(f'The {role} "{name}" is constant and explains nothing: ignore it.')
    if len(levels) > MOST_LEVELS:
        raise InputError(
            f'The categorical {role} "{name}" has {len(levels):,} levels; at most {MOST_LEVELS} are allowed: '
            "make it continuous or the group, or join levels."
        )
    alone = np.bincount(codes) == 1
    if alone.any():
        raise InputError(
            f'The level "{levels[int(np.argmax(alone))]}" of "{name}" has only one row, too few to estimate an '
            f"effect ({alone.sum()} of {len(levels)} levels have): join it with another level, or leave the row out."
        )
    return Covariate(name, CATEGORICAL, codes, tuple(levels))


def exposure(column: pd.Series) -> np.ndarray:
    """A checked exposure, (n,)."""
    _refuse_missing(column, "exposure")
    values = pd.to_numeric(column, errors="coerce").to_numpy(dtype=float)
    if not (np.isfinite(values) & (values > 0)).all():
        bad = ~(np.isfinite(values) & (values > 0))
        raise InputError(
            f'The exposure "{column.name}" is "{column.iloc[int(np.argmax(bad))]}" in row {_first(bad, column)}; it '
            f"must be a number above zero, which {bad.sum():,} rows lack: leave those rows out, or choose another "
            "exposure."
        )
    return values


def group(column: pd.Series, role: str = "group") -> tuple[np.ndarray, list[str]]:
    """The number of every row's level, and the levels' names in natural order."""
    _refuse_missing(column, role)
    codes, levels = pd.factorize(column.astype(str), sort=False)
    order = sorted(range(len(levels)), key=lambda number: _natural(levels[number]))
    index = np.empty(len(levels), dtype=np.int64)
    index[order] = np.arange(len(levels))
    return index[codes], [str(levels[number]) for number in order]


def row_number(names: Iterable[str], rows: int, name: str) -> Covariate:
    """The numbers of the rows, from 1, as a covariate; `names` are those of the table's columns."""
    if name in names:
        raise InputError(f'A column is called "{name}", as the covariate of the row number is: rename it.')
    return Covariate(name, CONTINUOUS, np.arange(1.0, rows + 1))


def blocks(rows: int, count: int) -> tuple[np.ndarray, list[str]]:
    """Blocks of consecutive rows, of nearly equal size: the number of every row's, and their names."""
    if rows < 2 * count:
        raise InputError(
            f"{how_many(rows, 'row')} do not make {count:,} blocks of two rows or more: make fewer blocks."
        )
    return np.arange(rows) * count // rows, [f"block {number}" for number in range(1, count + 1)]


def _natural(text: str) -> list[tuple[int, float, str]]:
    """A sort key in which 2 comes before 10."""
    pieces = filter(None, re.split(r"([0-9]+)", text))
    return [(0, float(piece), "") if re.fullmatch("[0-9]+", piece) else (1, 0.0, piece) for piece in pieces]


def _refuse_missing(column: pd.Series, role: str) -> None:
    values, invalid = numbers_of(column)
    if missing := int((np.isnan(values) & ~invalid).sum()):
        raise InputError(
            f'The {role} "{column.name}" has {how_many(missing, "missing cell")}, the first in row '
            f"{_first(np.isnan(values) & ~invalid, column)}: fill them in, leave those rows out, or ignore the column."
        )


def _first(where: np.ndarray, column: pd.Series) -> str:
    """The first row where something holds: its number, from 1, and its name if it has one."""
    position = int(np.argmax(where))
    return row_in_words(position + 1, column.index[position])
