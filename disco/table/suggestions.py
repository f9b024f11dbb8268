"""A suggestion to change a table: what is seen in it, and the edits that take account of it."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np

from disco.table.edits import Columns, Edit, LeaveOut
from disco.table.rows import in_words, stretches
from disco.words import plural


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
