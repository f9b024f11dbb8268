"""A finding: one thing that stands out in a table, what it means, and what to do about it."""

import csv
import io
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from disco.table.roles import Roles


@dataclass(frozen=True)
class Finding:
    """One thing that stands out in a table.

    Attributes:
        kind: one of `disco.table.artefacts.ARTEFACTS`, or of those of `disco.table.quality`.
        message: what was found, with its numbers: one sentence.
        advice: what to do, in one or two sentences.
        columns: the columns to leave out, if that is the advice, by position among the counts.
        rows: numbers of the rows to look at, from 1 in the table as loaded.
        aside: the columns to adjust for, if that is the advice, by name.
        roles: what to declare, if that is the advice and was tried on the table.
        kinds: the kind of every row, one capital letter each, if the advice is to adjust for them.
        flag: the advice as options of the command line; empty without a cure.
    """

    kind: str
    message: str
    advice: str
    columns: tuple[int, ...] = ()
    rows: tuple[int, ...] = ()
    aside: tuple[str, ...] = ()
    roles: Roles | None = None
    kinds: str = ""
    flag: str = ""

    def __str__(self) -> str:
        return f"{self.message} {self.advice}"


def without(names: Sequence[str]) -> str:
    """The option that leaves columns out."""
    return option("--without", names)


def option(flag: str, names: Sequence[str]) -> str:
    """A command's option with a list of names, as one types it in a shell; empty without names."""
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(names)
    joint = "=" if text.getvalue().startswith("-") else " "
    return f"{flag}{joint}{shlex.quote(text.getvalue())}" if names else ""
