"""From command-line arguments to settings and columns."""

import argparse
import contextlib
import hashlib
import sys
from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from disco.cli.options import READ
from disco.cli.progress_bar import Progress
from disco.cli.roles import names_in, split
from disco.cli.saying import say, sentence
from disco.cli.suggested_options import suggested_options
from disco.cli.tidying import changed
from disco.errors import InputError
from disco.hidden.all_artefacts import AT_ONCE, ROLE, kinds_as_column
from disco.runs.origin import FromFile, Origin
from disco.table.cells import names_of
from disco.table.codes import coded_rows
from disco.table.counts import problems, refuse
from disco.table.edits import LeaveOut, applied, choice, positions
from disco.table.finding import Finding, in_lines
from disco.table.prepared import Prepared, prepare
from disco.table.read import MATRIX, read_table
from disco.table.roles import Roles, unusable_rows
from disco.table.rows import (
    Stretches,
    bad_cells,
    in_words,
    losses,
    proposal,
    row_names,
    row_numbers,
    stretches,
    with_more,
)
from disco.words import how_many, listed

_MOST_NOTES = 10
_MOST_ROWS = 1000  # that are left out and examined for lost counts
_LARGE_BYTES = 100_000_000  # of a file; reading it takes seconds, with progress


def assigned(option: str, texts: list[str], names: Collection[str] = ()) -> dict[str, str]:
    """The values by name of a repeated option name=value; InputError for another form, or a name that occurs twice.

    A name may contain =: a text is split after the longest of `names` that it begins with, else at its last =.
    """
    values: dict[str, str] = {}
    for text in texts:
        equals_at = [at for at, sign in enumerate(text) if sign == "="]
        if not equals_at:
            raise InputError(f"{option} needs name=value; got {text!r:.80}.")
        end = max((at for at in equals_at if text[:at] in names), default=equals_at[-1])
        if (name := text[:end]) in values:
            raise InputError(f"{name} is given twice by {option}.")
        values[name] = text[end + 1 :]
    return values


def as_numbers(option: str, texts: list[str]) -> dict[str, float]:
    """`assigned` for an option whose values are numbers; InputError also if a value is not a number."""
    numbers: dict[str, float] = {}
    for name, value in assigned(option, texts).items():
        try:
            numbers[name] = float(value)
        except ValueError:
            raise InputError(f"{name} must be a number; got {value!r:.80}.") from None
    return numbers


@dataclass(frozen=True)
class FilePart:
    """The chosen part of a file.

    Attributes:
        table: the columns with a role and the counts.
        rows_left_out: of the file.
        roles: of the columns that are not counts.
        problems: of the counts; None until they are checked for a number of folds.
    """

    table: pd.DataFrame
    rows_left_out: Stretches
    roles: Roles | None
    source: str
    origin: Origin | None
    problems: list[Finding] | None = None

    def prepared(self, folds: int, roles: Roles | None = None) -> Prepared:
        """The table for these folds, in its roles, or in `roles` if it has none; errors as `prepare`."""
        if self.roles is None and roles is not None:
            return prepare(self.table, roles, folds)
        return prepare(self.table, self.roles, folds, self.problems)


def read_counts(path: Path, arguments: argparse.Namespace, folds: int) -> FilePart:
    """The chosen part of a table's file, checked; the problems of usable counts are printed as notes on stderr.

    Raises:
        InputError: the file or the roles cannot be read, or a column is not in the file.
    """
    selection = read_part(path, arguments)
    for name in names_in(arguments.obs):
        if name not in (selection.roles or Roles()).columns:
            raise InputError(
                f'"{name}" of obs has no role: name it in --covariates, --exposure, --group or --ignore, or in the '
                "file of --roles."
            )
    counts = selection.table if selection.roles is None else selection.roles.counts(selection.table)
    findings = problems(counts, folds, selection.rows_left_out)
    _refuse(selection, findings)
    if not any(problem.blocking for problem in findings):
        notes = in_lines(findings)
        for note in notes[:_MOST_NOTES]:
            say(sentence(f"Note: {note}"), to=sys.stderr)
        if len(notes) > _MOST_NOTES:
            say(f"Note: {len(notes) - _MOST_NOTES} more such notes; the app lists them.", to=sys.stderr)
    return replace(selection, problems=findings)


def _refuse(selection: FilePart, findings: list[Finding]) -> None:
    """Raise the first problem of the roles, or of a column with the options that fix it; others are the caller's."""
    if selection.roles is not None:
        selection.roles.split(selection.table)
    of_columns = [problem for problem in findings if problem.columns]
    if any(problem.blocking for problem in of_columns) and (
        words := suggested_options(selection.table, selection.roles)
    ):
        try:
            refuse(of_columns)
        except InputError as error:
            raise InputError(f"{error} Options: {words}") from None


def read_part(path: Path, arguments: argparse.Namespace) -> FilePart:
    """The chosen part, unchecked and without notes; arguments and errors as `read_counts`."""
    reading = _reading(arguments)
    with Progress() as progress:
        is_large = path.exists() and path.stat().st_size > _LARGE_BYTES
        full_table = read_table(path, callback=progress if is_large else None, **reading)
    categories = full_table.attrs.get(MATRIX, {}).get("categories", ())
    edits, table, left_out, roles = changed(full_table, arguments, categories)
    chosen = _chosen(table, arguments, roles)
    requests = arguments.complete_rows, arguments.without_codes, arguments.unique_rows
    for is_requested, find_rows in zip(requests, (_incomplete, _coded, _copies), strict=True):
        if is_requested and (excluded := find_rows(chosen, roles, left_out)):
            left_out = with_more(left_out, len(chosen), positions(excluded, len(chosen)))
            chosen, edits = applied(chosen, (LeaveOut(excluded),)), (*edits, LeaveOut(excluded))
    names = names_of(table)
    if arguments.kinds and _is_usable(chosen, roles):  # problems are reported where the table is used
        with Progress() as progress:
            kinds = kinds_as_column(chosen, roles, progress if chosen.size > AT_ONCE else None)
        added = kinds.apart_from(names)
        chosen, roles = applied(chosen, (added,)), (roles or Roles()).with_roles({added.name: ROLE})
        edits, names = (*edits, added), [*names, added.name]
    edits = (*edits, *choice(names, names_of(chosen)))
    return FilePart(chosen, left_out, roles, str(path), Origin(FromFile(str(path), _digest(path), reading), edits))


def _is_usable(table: pd.DataFrame, roles: Roles | None) -> bool:
    try:
        prepare(table, roles)
    except InputError:
        return False
    return True


def _digest(path: Path) -> str:
    """The SHA-256 of a file; empty for a folder."""
    with contextlib.suppress(OSError), open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
    return ""


def _chosen(table: pd.DataFrame, arguments: argparse.Namespace, roles: Roles | None) -> pd.DataFrame:
    """The columns of --columns, plus those with a role."""
    chosen = chosen_columns(table, arguments.columns, arguments.without)
    if roles is None or arguments.columns is None:
        return chosen
    left_out = set(names_of(table)) - set(names_of(chosen_columns(table, None, arguments.without)))
    with_role = {name for name in roles.columns if name not in left_out} - set(names_of(chosen))
    return pd.concat([chosen, table.loc[:, [name in with_role for name in names_of(table)]]], axis=1)


def _reading(arguments: argparse.Namespace) -> dict[str, Any]:
    """The fields of `Reading` from --genes, --obs, and --read with texts such as "decimal=,"; \\t is also a tab."""
    fields: dict[str, Any] = {} if arguments.genes is None else {"genes": arguments.genes}
    fields |= {"obs": names_in(arguments.obs)} if arguments.obs else {}
    for text in arguments.read:
        name, equals, value = text.partition("=")
        if not equals or name not in READ:
            raise InputError(f"--read needs NAME=VALUE with one of {', '.join(READ)}; got {text!r}.")
        is_lines = READ[name].kind is int
        if is_lines and not value.isdecimal():
            raise InputError(f"--read {name} needs a number of lines; got {value!r}.")
        fields[name] = int(value) if is_lines else value.replace("\\t", "\t") if name == "separator" else value
    return fields


def _incomplete(table: pd.DataFrame, roles: Roles | None, left_out: Stretches) -> Stretches:
    """The rows with cells that are not counts or do not fit a column's role; prints which they are in the file.

    Columns in which most cells are not counts do not matter: their rows stay.
    """
    counts, bad = table if roles is None else roles.counts(table), np.zeros(len(table), bool)
    out = proposal(counts)
    bad[out.rows] = True
    if roles is not None:
        bad = np.logical_or.reduce([bad, *unusable_rows(table, roles).values()])
    if bad.any():
        count = how_many(int(bad.sum()), "row")
        what = "not counts" if roles is None else "not counts, or not what their role needs"
        numbers, names = stretches(row_numbers(len(table), left_out)[bad]), row_names(table, left_out)
        lost = losses(bad_cells(counts, np.flatnonzero(bad)[:_MOST_ROWS], left_out, list(out.columns))["why"])
        words = f"Left out {count} with cells that are {what}: {in_words(numbers, names=names)}."
        say(f"{words} {lost}".strip(), to=sys.stderr)
    return stretches(np.flatnonzero(bad) + 1)


def _coded(table: pd.DataFrame, roles: Roles | None, left_out: Stretches) -> Stretches:
    """The rows with a number that stands for a missing value; prints how many."""
    counts = table if roles is None else roles.counts(table)
    numbers = counts.loc[:, [pd.api.types.is_integer_dtype(kind) for kind in counts.dtypes]]
    rows = coded_rows(numbers.to_numpy())
    if len(rows):
        say(f"Left out {how_many(len(rows), 'row')} with a number that may stand for a missing value.", to=sys.stderr)
    return stretches(rows + 1)


def _copies(table: pd.DataFrame, roles: Roles | None, left_out: Stretches) -> Stretches:
    """The rows whose counts repeat an earlier row; prints how many."""
    bad = (table if roles is None else roles.counts(table)).duplicated().to_numpy()
    if bad.any():
        say(f"Left out {how_many(int(bad.sum()), 'row')} whose counts are those of an earlier row.", to=sys.stderr)
    return stretches(np.flatnonzero(bad) + 1)


def chosen_columns(table: pd.DataFrame, names: str | None, without: str | None = None) -> pd.DataFrame:
    """The columns of a comma-separated list, in its order (all if None), but `without`; InputError if unknown."""
    indices: dict[str, list[int]] = {}
    for index, column in enumerate(table.columns):
        indices.setdefault(str(column), []).append(index)
    requested = list(indices) if names is None else _names_in(names, indices)
    if names is None and without is None:
        return table
    left_out = set() if without is None else set(_names_in(without, indices))
    chosen = [index for name in dict.fromkeys(requested) if name not in left_out for index in indices[name]]
    return table.iloc[:, chosen if names is not None else sorted(chosen)]


def _names_in(text: str, indices: dict[str, list[int]]) -> list[str]:
    names = [name if name in indices else name.strip() for name in split(text)]
    missing = [name for name in names if name not in indices]
    if missing:
        raise InputError(f'There is no column "{missing[0]}"; the table has {listed(list(indices), 20)}.')
    return names
