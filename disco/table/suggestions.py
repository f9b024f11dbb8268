"""A suggestion to change a table: what is seen in it, and the edits that take account of it.

Also what the looks at a table share: the labels of its rows.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from disco.table.cells import numbers_of
from disco.table.edits import Columns, Edit, LeaveOut
from disco.table.rows import in_words, stretches
from disco.words import plural

MOST_ROWS = 200_000  # of a table whose rows are looked at by their names


@dataclass(frozen=True)
class Suggestion:
    """One thing that a table holds besides counts, and the edits that take account of it.

    Attributes:
        kind: one of `disco.table.kinds.KINDS`.
        message: what is seen, one sentence.
        advice: what the edits do, one sentence.
        edits: in their order.
    """

    kind: str
    message: str
    advice: str
    edits: tuple[Edit, ...]

    def __str__(self) -> str:
        return f"{self.message} {self.advice}"

    def sparing(self, columns: Collection[str]) -> "Suggestion | None":
        """The same without leaving out some columns; None if nothing is left to do."""
        edits = []
        for edit in self.edits:
            if isinstance(edit, Columns):
                edit = Columns(without=tuple(name for name in edit.without if name not in columns))
            edits += [edit] if edit != Columns() else []
        return replace(self, edits=tuple(edits)) if edits else None


def without(kind: str, message: str, columns: Sequence[str]) -> Suggestion:
    """The suggestion to leave out columns."""
    advice = plural(len(columns), "It is left out.", "They are left out.")
    return Suggestion(kind, message, advice, (Columns(without=tuple(columns)),))


def leave_out(kind: str, rows: list[int], message: str) -> Suggestion:
    """The suggestion to leave out rows, by position."""
    numbers = stretches(np.array(rows) + 1)
    advice = f"{plural(len(rows), 'Row', 'Rows')} {in_words(numbers)} {plural(len(rows), 'is', 'are')} left out."
    return Suggestion(kind, message, advice, (LeaveOut(numbers),))


def labels_of_rows(table: pd.DataFrame) -> list[str]:
    """The names of the rows: their labels, or the cells of a first column that is text; none if there are neither.

    Of a table with more rows than a list of genes or of observations by name has, none are looked at.
    """
    if len(table) > MOST_ROWS:
        return []
    if not isinstance(table.index, pd.RangeIndex):
        return [str(name) for name in table.index]
    if not table.shape[1] or not len(table):
        return []
    first = table.iloc[:, 0]
    return ["" if pd.isna(cell) else str(cell) for cell in first] if numbers_of(first)[1].any() else []
