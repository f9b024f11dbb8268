"""Changes of a table by flags, and by `--tidy`, which handles what a table holds besides counts."""

import argparse
import sys
from collections.abc import Callable, Collection

import pandas as pd

from disco.cli.roles import given_roles, names_in
from disco.cli.saying import say, sentence
from disco.errors import InputError
from disco.table.cells import names_of
from disco.table.edits import AsNumbers, BlankAsZero, Edit, LeaveOut, RowNames, Transpose, applied, rows_left_out_by
from disco.table.finding import Finding
from disco.table.guesses import guesses
from disco.table.kinds import CERTAIN, GENES, KINDS
from disco.table.layout import suggestion, tidied
from disco.table.read import read_table
from disco.table.roles import Roles
from disco.table.rows import Stretches, numbered
from disco.table.samples import columns_of, in_words, joined, roles_of

_LEAST_COUNTS = 2
_NONE = "none"  # refuses all suggestions
_OPTIONAL = {*KINDS} - {*CERTAIN}  # kinds without which counts are right too


def changed(
    table: pd.DataFrame, arguments: argparse.Namespace, categories: Collection[str]
) -> tuple[tuple[Edit, ...], pd.DataFrame, Stretches, Roles | None]:
    """The changes, the table after them, the rows they leave out, and the columns' roles.

    Args:
        table: as read.
        categories: columns that are categorical covariates by default.

    Raises:
        InputError: a change cannot be made, there is no such suggestion or role, or counts would be wrong and the
            suggestion that fixes them is neither accepted nor refused.
    """
    edits: list[Edit] = []
    left_out: Stretches = ()

    def change(table: pd.DataFrame, edit: Edit) -> pd.DataFrame:
        nonlocal left_out
        left_out = rows_left_out_by(edit, left_out, len(table))
        edits.append(edit)
        return applied(table, (edit,))

    for edit in _edits(arguments):
        table = change(table, edit)
    kinds, roles = _kinds(arguments.tidy), given_roles(arguments, names_of(table), categories)
    spared = () if roles is None else roles.columns
    has_genes = arguments.transpose  # the names of genes suggest no role
    for finding, _ in () if kinds is None else tidied(table, kinds, spared):
        has_genes |= finding.kind == GENES
        say(sentence(f"Note: {finding}"), to=sys.stderr)
        for edit in finding.edits:
            table = change(table, edit)
    if arguments.blank is not None:
        table = change(table, BlankAsZero(tuple(sorted({*spared} & {*names_of(table)}))))
    certain = None if arguments.tidy == _NONE else suggestion(table, _OPTIONAL, spared)
    if certain is not None:
        flag = "--tidy" if kinds is None else f"--tidy {','.join([*kinds, certain.kind])}"
        words = f"With --tidy {_NONE}, the table is read as it is."
        raise InputError(f"{_offer(certain, flag)} {words}")
    for finding, _ in tidied(table, _OPTIONAL, spared) if arguments.tidy is None else ():
        say(sentence(f"Note: {_offer(finding, '--tidy')}"), to=sys.stderr)
    if arguments.samples is not None:
        table, roles = _with_samples(table, arguments, roles, change)
    if kinds and not has_genes:
        roles = _with_guesses(table, roles, names_in(arguments.without or ""))
    return tuple(edits), table, left_out, roles


def _offer(finding: Finding, flag: str) -> str:
    """What a table holds besides counts, and how a flag changes it, in sentences."""
    return f"{finding.message} With {flag}, {finding.remedy[0].lower()}{finding.remedy[1:]}"


def _with_samples(
    table: pd.DataFrame,
    arguments: argparse.Namespace,
    roles: Roles | None,
    change: Callable[[pd.DataFrame, Edit], pd.DataFrame],
) -> tuple[pd.DataFrame, Roles]:
    """The table with the columns of a sheet of samples and their roles; prints how they were joined."""
    sheet = read_table(arguments.samples)
    match = joined(table, sheet, arguments.by)
    added, roles = columns_of(table, sheet, match), roles or Roles()
    new_roles = {name: role for name, role in roles_of(added).items() if name not in roles.columns}
    say(sentence(f"Note: {arguments.samples.name} is joined. {match}"), to=sys.stderr)
    if new_roles:
        say(sentence(f"Note: roles of its columns: {in_words(new_roles)}"), to=sys.stderr)
    return change(table, added), roles.with_roles(new_roles)


def _kinds(text: str | None) -> list[str] | None:
    """The accepted kinds of suggestions; None without --tidy."""
    kinds = None if text is None else [] if text == _NONE else names_in(text)
    if unknown := [kind for kind in kinds or () if kind not in KINDS]:
        raise InputError(f"--tidy has no {unknown[0]!r}; it has {', '.join(KINDS)}, and {_NONE}.")
    return kinds


def _edits(arguments: argparse.Namespace) -> tuple[Edit, ...]:
    """The changes that flags request, in the order in which they are made."""
    edits: list[Edit] = [RowNames()] if arguments.row_names else []
    if arguments.transpose:
        edits.append(Transpose(arguments.most_varied))
    elif arguments.most_varied is not None:
        raise InputError("--most-varied chooses rows that become columns: add --transpose.")
    if arguments.by is not None and arguments.samples is None:
        raise InputError("--by names a column of a sheet of samples: add --samples.")
    if arguments.leave_out_rows is not None:
        edits.append(LeaveOut(numbered(arguments.leave_out_rows)))
    if arguments.as_numbers is not None:
        edits.append(AsNumbers(tuple(names_in(arguments.as_numbers))))
    return tuple(edits)


def _with_guesses(table: pd.DataFrame, roles: Roles | None, but: Collection[str]) -> Roles | None:
    """The roles with a guess for each other column unlike counts, except those of `but`; prints which."""
    names, roles = names_of(table), roles or Roles()
    has_role = {*roles.columns, *but}
    guessed = {names[at]: guess for at, guess in guesses(table).items() if names[at] not in has_role}
    if len(names) - len({*guessed, *has_role}) < _LEAST_COUNTS:
        guessed = {}  # reported as a table of numbers that are not counts
    for name, guess in guessed.items():
        caution = f". {guess.caution}" if guess.caution else ""
        say(sentence(f'Note: "{name}" {guess.why}: {guess}{caution}'), to=sys.stderr)
    roles = roles.with_roles({name: guess.declaration for name, guess in guessed.items()})
    return None if roles == Roles() else roles
