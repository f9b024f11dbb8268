"""Numbers that stand for counts: blank cells that mean 0, estimates, and normalised counts; each has a finding."""

from collections.abc import Collection

import numpy as np
import pandas as pd

from disco.table.cells import is_blank, names_of
from disco.table.edits import BlankAsZero, Edit, LeaveOut, Restore, Round
from disco.table.finding import Finding
from disco.table.gene_rows import are_counts
from disco.table.kinds import ESTIMATES, NORMALISED, ZEROS
from disco.table.reshape import has_turned, is_pivoted
from disco.table.rows import in_words, stretches
from disco.table.values import Numbers, among_marks, columns, counts_behind, fractional, has_decimals, numbers
from disco.words import how_many, plural

_LEAST_COLUMNS = 3
_LEAST_BLANK, _FEWER_BLANK = 0.2, 0.02  # shares of the cells of a sparse table; the smaller one if rare kinds tell
_RARER_CORRELATION = -0.7  # rank correlation of the columns' means and blank shares, if rare kinds are blank
_FEW_COUNTS = 2  # at most the smallest count of most columns of a sparse table
_HAVE_FEW = 0.75  # least share of the columns with blank cells that have such a count, if rare kinds are blank
_MOST_ZERO = 0.01  # zeros for each blank cell, where blank cells mean 0
_TOGETHER_CORRELATION = 0.8  # correlation of the blank cells of two columns
_LEAST_DECIMALS = 0.6  # share of the columns with estimates
_LEAST_WHOLE = 0.2  # share of estimates above 0 that are whole


def zeros(table: pd.DataFrame, but: Collection[str]) -> Finding | None:
    """Blank cells where a table of counts has no zeros, but ones and twos."""
    if is_pivoted(table) or table.isna().to_numpy().mean() < _FEWER_BLANK / 2:  # most tables: no copy of their numbers
        return None
    numeric_part = Numbers.of([*columns(table, but), *among_marks(table, but)], len(table))
    values, blank = numeric_part.values, table.iloc[:, numeric_part.positions].apply(is_blank).to_numpy()
    if values.shape[1] < _LEAST_COLUMNS or blank.any(axis=0).mean() < 0.5:
        return None
    if blank.mean() < _LEAST_BLANK and not (blank.mean() >= _FEWER_BLANK and _are_rare(values, blank)):
        return None
    filled = values[np.isfinite(values)]
    if (values == 0).sum() > _MOST_ZERO * blank.sum() or (filled < 0).any() or (filled % 1 != 0).any():
        return None
    if (np.nanmin(values, axis=0) <= _FEW_COUNTS).mean() < 0.5 or _are_blank_together(blank):
        return None
    cells = how_many(int(blank.sum()), "cell")
    message = f"{cells} of {values.size:,} are blank, and hardly any is 0: blank may mean 0."
    return Finding(ZEROS, message, "Blank cells of counts become 0.", edits=(BlankAsZero(tuple(sorted(but))),))


def _are_rare(values: np.ndarray, blank: np.ndarray) -> bool:
    """Whether columns have the more blank cells the smaller their counts are, most of them 1 or 2 in some cell."""
    few = pd.DataFrame({"mean": np.nanmean(values, axis=0), "blank": blank.mean(axis=0)})
    is_rare = few.corr("spearman").iloc[0, 1] <= _RARER_CORRELATION
    has_few = np.nanmin(values, axis=0)[blank.any(axis=0)] <= _FEW_COUNTS
    return len(few) > _LEAST_COLUMNS and bool(is_rare) and bool(has_few.mean() >= _HAVE_FEW)


def _are_blank_together(blank: np.ndarray) -> bool:
    """Whether columns are blank in the same rows, as fields of one missing record, such as a day and a month."""
    varied = blank[:, blank.any(axis=0) & ~blank.all(axis=0)]
    if varied.shape[1] < 2:
        return False
    with_others = np.corrcoef(varied, rowvar=False) - 2 * np.eye(varied.shape[1])
    return bool(np.mean(with_others.max(axis=0) > _TOGETHER_CORRELATION) >= 0.5)


def normalised(table: pd.DataFrame, but: Collection[str]) -> Finding | None:
    """Values that are exactly counts times one number for each row."""
    if not _are_most(table, but, 0.5):
        return None
    behind = counts_behind(table, but)
    if isinstance(behind, str):
        return None
    residual = max(behind.residual, float(np.finfo(float).eps))
    message = f"The values are {behind.scale}: multiples of one number for each row, to {residual:.0e} of their size."
    edits: list[Edit] = [Restore(tuple(sorted(but)))]
    remedy = "The counts are restored exactly."
    if count := len(behind.open_rows):
        rows = stretches(behind.open_rows + 1)
        edits.insert(0, LeaveOut(rows))
        which = f"{plural(count, 'Row', 'Rows')} {in_words(rows)} {plural(count, 'has', 'have')}"
        remedy += f" {which} too few values for that and {plural(count, 'is', 'are')} left out."
    return Finding(NORMALISED, message, remedy, edits=tuple(edits))


def estimates(table: pd.DataFrame, but: Collection[str]) -> Finding | None:
    """Counts of which some have decimals, as salmon, kallisto and RSEM estimate them; other decimals are measures."""
    turned = has_turned(table)  # of genes in columns, some may be whole in all samples, hardly any sample in all genes
    if not turned and not _are_most(table, but, _LEAST_DECIMALS):
        return None
    fractions = numbers(table, but) if turned else fractional(table, but)
    values = fractions.values
    if turned and (np.nan_to_num(values) % 1 != 0).any(axis=1).mean() < _LEAST_DECIMALS:
        return None
    if not np.isfinite(values).all() or values.min() < 0:
        return None
    above = values[values > 0]
    is_whole = above % 1 == 0
    names = map(str, table.index) if turned else (names_of(table)[at] for at in fractions.positions)
    if is_whole.mean() < _LEAST_WHOLE and not are_counts([*names]):
        return None
    if (values.var(axis=0) > values.mean(axis=0)).mean() < 0.5:
        return None
    change = np.abs(np.rint(values) - values).sum() / values.sum()
    cells = how_many(int((~is_whole).sum()), "cell")
    message = f"{cells} of {values.size:,} have decimals, as estimated counts have."
    remedy = f"They are rounded to whole numbers; all changes together are {change:.1%} of the total."
    return Finding(ESTIMATES, message, remedy, edits=(Round(tuple(sorted(but))),))


def _are_most(table: pd.DataFrame, but: Collection[str], share: float) -> bool:
    """Whether enough of the columns of numbers that are not all 0 have decimals."""
    flags = [(has_decimals(cells), bool(np.nan_to_num(cells).any())) for _, cells in columns(table, but)]
    decimals, filled = (sum(which) for which in zip(*flags, strict=True)) if flags else (0, 0)
    return decimals >= _LEAST_COLUMNS and decimals >= share * filled
