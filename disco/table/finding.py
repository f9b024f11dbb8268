"""A finding: something that stands out in a table or prevents its use, with its remedy, and its cure as data."""

import csv
import io
import shlex
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from disco.table.edits import Columns, Edit, LeaveOut
from disco.table.roles import Roles
from disco.table.rows import in_words, stretches
from disco.words import how_many, listed, plural, series

_NAMED = 8
_PLURALS = {"Leave it out": "Leave them out", "Its position in the order is": "Their positions in the order are"}


@dataclass(frozen=True)
class Finding:
    """Something that stands out in a table, in words and data for console, pages and files."""

    # one of `disco.table.kinds.KINDS`, of `disco.table.artefacts.ARTEFACTS`, of `disco.table.quality`, or of
    # `disco.table.counts`
    kind: str
    message: str  # what it is, with its numbers, in a full sentence
    remedy: str = ""  # what to do, in full sentences; "" if the message says it
    blocking: bool = False  # whether the table cannot be used before this is solved
    columns: tuple[str, ...] = ()  # the names of the columns concerned
    # the numbers of the rows concerned, from 1 in the table as loaded; only the first of many bad cells
    rows: tuple[int, ...] = ()
    edits: tuple[Edit, ...] = ()  # changes of the table that solve it, in their order
    roles: Roles | None = None  # what to declare, if that solves it
    flag: str = ""  # the same as options of the command line; "" without a cure
    fault: str = ""  # what several columns with this finding have, such as "blank cells"; "" if each is described alone
    example: str = ""  # the cell that shows the fault; "" if it says no more

    def __str__(self) -> str:
        return f"{self.message} {self.remedy}".rstrip()

    @property
    def without(self) -> tuple[str, ...]:
        """The names of the columns that its edits leave out."""
        return tuple(name for edit in self.edits if isinstance(edit, Columns) for name in edit.without)


def leaving_out_columns(kind: str, message: str, columns: Sequence[str], remedy: str = "", flag: str = "") -> Finding:
    """The finding whose cure leaves out columns, by name."""
    remedy = remedy or plural(len(columns), "It is left out.", "They are left out.")
    return Finding(kind, message, remedy, columns=tuple(columns), edits=(Columns(without=tuple(columns)),), flag=flag)


def leaving_out_rows(kind: str, message: str, rows: Sequence[int]) -> Finding:
    """The finding whose cure leaves out rows, by position."""
    numbers = stretches(np.array(rows) + 1)
    remedy = f"{plural(len(rows), 'Row', 'Rows')} {in_words(numbers)} {plural(len(rows), 'is', 'are')} left out."
    return Finding(kind, message, remedy, edits=(LeaveOut(numbers),))


def option(flag: str, names: Sequence[str]) -> str:
    """A command's option with a list of names, quoted for a shell; empty without names."""
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(names)
    joint = "=" if text.getvalue().startswith("-") else " "
    return f"{flag}{joint}{shlex.quote(text.getvalue())}" if names else ""


def in_lines(
    findings: Iterable[Finding], code: Callable[[str], str] = '"{}"'.format, plain: Callable[[str], str] = str
) -> list[str]:
    """One line for all findings that differ only in the column, with its name by `code` and sentences by `plain`."""
    groups: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        words = finding.fault or finding.message.replace(f'"{"".join(finding.columns[:1])}"', "", 1)
        groups.setdefault((words, finding.remedy), []).append(finding)
    return [_line(group, code, plain) for group in groups.values()]


def _line(group: Sequence[Finding], code: Callable[[str], str], plain: Callable[[str], str]) -> str:
    first, count, remedy = group[0], len(group), group[0].remedy
    message = plain(first.message)
    if count > 1 and first.fault:
        examples = [finding.example for finding in group if finding.example]
        marks = [text for text in examples if any(map(str.isdigit, text)) and not any(map(str.isalpha, text))]
        such = f', such as "{plain((marks or examples)[0])}"' if examples else ""
        names = named(["".join(finding.columns[:1]) for finding in group], code)
        message = f"{how_many(count, 'column')} have {first.fault}{such}: {names}."
    elif count > 1:
        message += f" The same holds for {how_many(count - 1, 'more column')}."
    for singular, several in _PLURALS.items() if count > 1 else ():
        remedy = remedy.replace(singular, several)
    return f"{message} {plain(remedy)}".rstrip()


def named(names: Sequence[str], code: Callable[[str], str]) -> str:
    """The names of columns in a sentence: `a`, `b` and `c`; only the first if there are many."""
    words = [code(name) for name in names]
    return series(words) if len(words) <= _NAMED else listed(words, _NAMED)
