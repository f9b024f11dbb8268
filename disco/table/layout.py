"""What a table holds besides one row per observation and one column per count, and how to change it.

Counts of genes come with genes in rows, columns that describe the genes, and lines that sum up what no gene received.
Pivots have totals, gradebooks a line of the points possible, surveys one line per sighting. Each is recognised by names
and by arithmetic, and is a finding with edits (`disco.table.edits`), made only if the user accepts.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from disco.table import amounts, gene_rows, kinds
from disco.table.blocks import below, footnotes, side_table
from disco.table.cells import columns_of, is_blank, names_of, numbers_of
from disco.table.edits import Columns, Edit, FillDown, LeaveOut, RowNames, applied
from disco.table.finding import Finding, leaving_out_rows
from disco.table.guesses import MANY, Guess, guesses
from disco.table.kinds import KINDS
from disco.table.reshape import are_texts, has_row_names
from disco.table.rows import stretches
from disco.table.sightings import sightings
from disco.table.totals import Guessing, points, totals
from disco.table.values import are_whole
from disco.words import how_many, listed, plural

_ONCE = {kinds.GENES, kinds.VARIABLES, kinds.SIGHTINGS}  # suggested once for one table
_MOST_TIMES = 3  # that a kind is suggested for one table
_DISTINCT = 0.9  # least share of different names, if lines repeat
_NAMED = 4
_EVEN = 0.5  # most variance of the lengths of blocks, by that between texts in random rows
_LEAST_TEXTS = 0.1  # of a column that identifies lines, as a share of them

GUESSES = "guesses"
Looked: TypeAlias = dict[tuple[Edit, ...], dict[str, Any]]  # what was found in a table after some edits
_Look: TypeAlias = Callable[[pd.DataFrame], Finding | None]


def suggestion(
    table: pd.DataFrame, but: Collection[str] = (), spared: Collection[str] = (), looked: dict[str, Any] | None = None
) -> Finding | None:
    """The first edit to suggest, if any; the others follow once it is made or refused.

    Args:
        but: kinds that the user has refused.
        spared: columns that have a role, and are not left out.
        looked: what was found in this table, by kind, and its `GUESSES`; it receives what is missing.
    """
    looked = {} if looked is None else looked

    def guessed(table: pd.DataFrame) -> dict[int, Guess]:
        return looked[GUESSES] if GUESSES in looked else looked.setdefault(GUESSES, guesses(table))

    if names_of(table)[:1] and names_of(table)[0] in spared:
        but = {*but, kinds.NAMES}
    with_role = {*spared} & {*names_of(table)}
    of_amounts = {} if are_whole(table) else {kind: partial(look, but=with_role) for kind, look in _AMOUNTS.items()}
    of_guesses = {kinds.TOTALS: partial(totals, guessed=guessed), kinds.COPIES: partial(_copies, guessed=guessed)}
    looks: dict[str, _Look] = {**_LOOKS, **of_guesses, **of_amounts}
    for kind, look in looks.items():
        if kind not in but and (kind in _AMOUNTS or kind not in looked):  # amounts depend on the roles
            looked[kind] = look(table)
        if kind not in but and looked[kind] and (rest := _sparing(looked[kind], spared)) is not None:
            return rest
    return None


def _sparing(finding: Finding, columns: Collection[str]) -> Finding | None:
    """The finding without the edits that leave out some columns; None if no edit remains."""
    edits: list[Edit] = []
    for edit in finding.edits:
        if isinstance(edit, Columns):
            edit = Columns(without=tuple(name for name in edit.without if name not in columns))
        edits += [edit] if edit != Columns() else []
    rest = tuple(name for name in finding.columns if name not in columns)
    return replace(finding, columns=rest, edits=tuple(edits)) if edits and (rest or not finding.columns) else None


def tidied(
    table: pd.DataFrame, kinds: Collection[str] = KINDS, spared: Collection[str] = (), looked: Looked | None = None
) -> Iterator[tuple[Finding, pd.DataFrame]]:
    """All suggestions of some kinds in turn, each with the table after it; `spared` as in `suggestion`.

    A kind may recur, as totals of rows that were columns before.
    """
    refused, times, edits = {*KINDS} - {*kinds}, Counter[str](), tuple[Edit, ...]()
    looked = {} if looked is None else looked
    while (finding := suggestion(table, refused, spared, looked.setdefault(edits, {}))) is not None:
        table, edits = applied(table, finding.edits), (*edits, *finding.edits)
        times[finding.kind] += 1
        if finding.kind in _ONCE or times[finding.kind] == _MOST_TIMES:
            refused |= {finding.kind}
        yield finding, table


def _blank(table: pd.DataFrame) -> Finding | None:
    names, is_empty, empty = names_of(table), np.full(len(table), table.shape[1] > 1), list[int]()
    for at, (_, column) in enumerate(columns_of(table)):  # one by one: the table may be large
        is_missing = is_blank(column)
        empty += [at] if is_missing.all() else []
        is_empty &= is_missing
    empty = [at for at in empty if names.count(names[at]) == sum(names[position] == names[at] for position in empty)]
    rows = np.flatnonzero(is_empty)
    if not (empty or len(rows)) or len(empty) == len(names) or len(rows) == len(table):
        return None
    what = [plural(len(empty), f"column {empty[0] + 1}", f"{len(empty):,} columns")] if empty else []
    what += [plural(len(rows), f"row {rows[0] + 1:,}", f"{len(rows):,} rows")] if len(rows) else []
    count = len(empty) + len(rows)
    edits: list[Edit] = [LeaveOut(stretches(rows + 1))] if len(rows) else []
    edits += [Columns(without=tuple(names[at] for at in empty))] if empty else []
    message = f"{' and '.join(what).capitalize()} {plural(count, 'is', 'are')} empty."
    return Finding(kinds.BLANK, message, f"{plural(count, 'It is', 'They are')} left out.", edits=tuple(edits))


def _copies(table: pd.DataFrame, guessed: Guessing = guesses) -> Finding | None:
    """Lines that occur twice in the file, although almost all lines have distinct names."""
    if not isinstance(table.index, pd.RangeIndex) or not any(_tells_apart(cells) for _, cells in columns_of(table)):
        return None
    keys = table.iloc[:, [*guessed(table)]]
    candidates = table[keys.duplicated(keep=False).to_numpy()]  # copies have equal names
    rows = candidates.index[candidates.duplicated()].to_numpy()
    if not len(rows) or keys.drop(index=rows).duplicated().mean() > 1 - _DISTINCT:
        return None
    words = f"{how_many(len(rows), 'line')} {plural(len(rows), 'repeats', 'repeat')}"
    return leaving_out_rows(kinds.COPIES, f"{words} an earlier one in every cell, names included.", rows.tolist())


def _tells_apart(column: pd.Series) -> bool:
    if pd.api.types.is_numeric_dtype(column):
        return False
    return bool(numbers_of(column)[1].any()) and column.nunique() > max(MANY, _LEAST_TEXTS * len(column))


def _names(table: pd.DataFrame) -> Finding | None:
    if not has_row_names(table) or not are_texts(table.iloc[:, 0]):
        return None
    nearly = "" if table.iloc[:, 0].is_unique else "nearly "
    message = f'"{names_of(table)[0]}" has another text in {nearly}every row.'
    return Finding(kinds.NAMES, message, "It names the rows.", edits=(RowNames(),))


def _labels(table: pd.DataFrame) -> Finding | None:
    """Leading columns of texts, as of a site or a year, that are blank in all but the first row of each block of rows.

    The texts differ within a block of the columns before; the blocks' lengths, less than those of random texts.
    """
    names, block = list[str](), np.zeros(len(table), int)
    for name, column in columns_of(table):
        starts = ~is_blank(column)
        if pd.api.types.is_numeric_dtype(column) or not starts[:1].any():
            break
        if starts.all():
            continue
        texts = pd.DataFrame({"block": block[starts], "text": column[starts].astype(str)})
        lengths = np.diff(np.flatnonzero([*starts, True]))
        is_even = 2 <= lengths.mean() < len(table) and lengths.var() < _EVEN * lengths.mean() * (lengths.mean() - 1)
        is_label = is_even and numbers_of(column)[1][starts].all() and not texts.duplicated().any()
        if not is_label or not starts[np.diff(block, prepend=-1) > 0].all():
            break
        names, block = [*names, name], np.cumsum(starts)
    which = listed([f'"{name}"' for name in names], _NAMED)
    message = f"In {which}, a text stands only in the first row of each block of rows."
    remedy = "Each text is taken for the blank cells below it."
    return (
        Finding(kinds.LABELS, message, remedy, columns=tuple(names), edits=(FillDown(tuple(names)),)) if names else None
    )


_LOOKS: Mapping[str, _Look] = {
    kinds.FOOTNOTES: footnotes,
    kinds.BELOW: below,
    kinds.BESIDE: side_table,
    kinds.BLANK: _blank,
    kinds.SUMMARIES: gene_rows.summaries,
    kinds.TOTALS: totals,
    kinds.POINTS: points,
    kinds.LABELS: _labels,
    kinds.COPIES: _copies,
    kinds.SIGHTINGS: sightings,
    kinds.ANNOTATION: lambda table: gene_rows.measures(table) or gene_rows.annotation(table),
    kinds.GENES: gene_rows.genes,
    kinds.VARIABLES: gene_rows.variables,
    kinds.NAMES: _names,
}
_AMOUNTS = {kinds.ZEROS: amounts.zeros, kinds.NORMALISED: amounts.normalised, kinds.ESTIMATES: amounts.estimates}
