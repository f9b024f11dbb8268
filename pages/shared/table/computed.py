"""Facts about the loaded table, computed once per table and kept, since pages ask at every rerun."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pandas as pd
import streamlit as st

from disco.errors import InputError
from disco.settings import Settings
from disco.table import counts, ranks, rows, screening
from disco.table.cells import names_of
from disco.table.continuous import is_continuous
from disco.table.guesses import Guess
from disco.table.guesses import guesses as guess_roles
from disco.table.identifiers import identifiers
from disco.table.prepared import prepare
from disco.table.relations import Relation
from disco.table.relations import relations as find_relations
from disco.table.role_checks import unusable_rows
from disco.table.roles import Roles
from disco.table.support import level_support
from disco.words import how_many, plural
from pages.shared.table.drafts import Draft


def described(draft: Draft) -> pd.DataFrame:
    """`disco.table.counts.describe` of the whole table."""
    return _described(draft.key, draft.table)


def problems(draft: Draft) -> list[counts.Problem]:
    """What keeps the chosen columns from being counts or others from their roles, and notes on the counts."""
    found = _problems(draft.key, draft.columns, draft.settings.folds, draft.rows_left_out, draft.table)
    return [*found, *_of_roles(draft)]


def faulty(draft: Draft) -> list[tuple[bool, str]]:
    """For each column of the whole table: whether it blocks a fit, and the first complaint or note in words."""
    return _faulty(draft.key, draft.rows_left_out, draft.table)


def usable(draft: Draft) -> set[int]:
    """The columns of the whole table that hold counts without a problem and look like no index, by position."""
    return {place for place, (blocking, _) in enumerate(faulty(draft)) if not blocking} - index_like(draft).keys()


def chosen_counts(draft: Draft) -> pd.DataFrame | None:
    """The chosen columns as counts; None while something blocks, in them or in the columns with another role."""
    return None if _of_roles(draft) else _counts(draft.key, draft.columns, draft.settings.folds, draft.table)


def chosen_numbers(draft: Draft) -> pd.DataFrame | None:
    """The chosen columns, if at least half of them hold numbers that are no counts and the others counts."""
    return _chosen_numbers(draft.key, draft.columns, draft.table)


def _of_roles(draft: Draft) -> list[counts.Problem]:
    """Why the roles cannot be used: the columns with unusable rows or, without any, the first other reason."""
    roles, numbers = draft.roles.needed(), rows.row_numbers(len(draft.table), draft.rows_left_out)
    if roles is None:
        return []
    if found := unusable(draft):
        return [_of_rows(name, numbers[bad]) for name, bad in found.items()]
    why = _why_not(draft.key, draft.columns, draft.beside, roles, draft.settings.folds, draft.table)
    return [] if why is None else [counts.Problem(None, None, why, "")]


def _of_rows(name: str, bad: np.ndarray) -> counts.Problem:
    """The problem of a column that cannot play its role in some rows, given by their numbers."""
    what = f'"{name}" cannot play its role in {how_many(len(bad), "row")}, first in row {bad[0]}.'
    return counts.Problem(None, int(bad[0]), what, "Leave these rows out, or give the column another role.")


def guesses(draft: Draft) -> dict[int, Guess]:
    """The columns that look like no counts and await the reader's word: position → guess.

    Among those left out, only an identifier of groups is asked about.
    """
    found, names = _guesses(draft.key, draft.table), names_of(draft.table)
    times = Counter(names)
    asked = {*draft.columns, *index_like(draft)}
    return {
        position: guess
        for position, guess in found.items()
        if position in asked
        and names[position] not in draft.roles.columns
        and times[names[position]] == 1
        and (position in draft.columns or guess.role != "ignore")
    }


def has_guesses(draft: Draft) -> bool:
    """Whether any column looked like no count, as the table came."""
    return bool(_guesses(draft.key, draft.table))


def unusable(draft: Draft) -> dict[str, np.ndarray]:
    """`disco.table.role_checks.unusable_rows` of the draft, as far as they are less than half of the rows."""
    roles = draft.roles.needed()
    found = {} if roles is None else _unusable(draft.key, draft.columns, draft.beside, roles, draft.table)
    return {name: bad for name, bad in found.items() if bad.mean() < 0.5}


def relations(draft: Draft) -> list[Relation]:
    """The chosen columns that others determine exactly; none while something blocks."""
    table = chosen_counts(draft)
    return [] if table is None else _relations(draft.key, draft.columns, table)


def index_like(draft: Draft) -> dict[int, str]:
    """The columns of the whole table that look like an index: position → why."""
    return _index_like(draft.key, draft.table)


def mends(draft: Draft) -> rows.Proposal:
    """What to leave out of the chosen columns, by their places among them."""
    return _mends(draft.key, draft.columns, draft.table)


def spreads(draft: Draft) -> pd.DataFrame:
    """`disco.table.screening.spreads` of the chosen columns."""
    return _spreads(draft.key, draft.table).iloc[list(draft.columns)]


def coded(draft: Draft) -> tuple[pd.DataFrame, pd.DataFrame, np.ndarray]:
    """Counts, codes and held-out folds of the rows a fit would use; the columns must be counts."""
    return _coded(draft.key, draft.columns, draft.beside, draft.roles.needed(), draft.settings, draft.table)


def support(draft: Draft) -> pd.DataFrame:
    """`level_support` of the chosen columns."""
    return _support(draft.key, draft.columns, draft.beside, draft.roles.needed(), draft.settings, draft.table)


# A leading underscore keeps an argument out of the cache's key: the draft's key stands for the table.


@st.cache_resource(show_spinner="Describing the columns …", max_entries=16)
def _described(key: str, _table: pd.DataFrame) -> pd.DataFrame:
    return counts.describe(_table)


@st.cache_resource(show_spinner="Checking the table …", max_entries=32)
def _problems(
    key: str, columns: tuple[int, ...], folds: int, left_out: rows.Stretches, _table: pd.DataFrame
) -> list[counts.Problem]:
    part = _table.iloc[:, list(columns)]
    part.attrs = _table.attrs
    found = counts.problems(part, folds, left_out)
    return found if _table.shape[1] < 2 else [_choice(len(columns), _table.shape[1], problem) for problem in found]


def _choice(chosen: int, columns: int, problem: counts.Problem) -> counts.Problem:
    """A problem; that of too few columns as one of the choice, for the table has more."""
    if problem.kind != "columns":
        return problem
    message = f"{chosen} of {columns:,} columns {plural(chosen, 'is', 'are')} chosen as counts; at least 2 are needed."
    return replace(problem, message=message, remedy="Give more columns the role count on Data.")


@st.cache_resource(show_spinner=False, max_entries=16)
def _faulty(key: str, left_out: rows.Stretches, _table: pd.DataFrame) -> list[tuple[bool, str]]:
    names = ["" if name is None or name is pd.NA or name != name else str(name) for name in _table.columns]
    found: dict[str, tuple[bool, str]] = {}
    for problem in counts.problems(_table, 2, left_out):
        if problem.column is not None:
            message = problem.message.removeprefix(f'Column "{problem.column}"').lstrip(", ")
            blocking, words = found.get(problem.column, (False, message))
            found[problem.column] = (blocking or problem.blocking, words)
    return [found.get(name, (False, "")) for name in names]


@st.cache_resource(show_spinner="Checking the roles …", max_entries=16)
def _why_not(
    key: str, columns: tuple[int, ...], beside: tuple[int, ...], roles: Roles, folds: int, _table: pd.DataFrame
) -> str | None:
    part = _table.iloc[:, [*columns, *beside]]
    try:
        if _counts(key, columns, folds, _table) is None:  # what is wrong with them is said elsewhere
            roles.split(part)
        else:
            prepare(part, roles, folds)
    except InputError as error:
        return str(error)
    return None


@st.cache_resource(show_spinner=False, max_entries=16)
def _guesses(key: str, _table: pd.DataFrame) -> dict[int, Guess]:
    return guess_roles(_table)


@st.cache_resource(show_spinner=False, max_entries=16)
def _unusable(
    key: str, columns: tuple[int, ...], beside: tuple[int, ...], roles: Roles, _table: pd.DataFrame
) -> dict[str, np.ndarray]:
    return unusable_rows(_table.iloc[:, [*columns, *beside]], roles)


@st.cache_resource(show_spinner=False, max_entries=16)
def _index_like(key: str, _table: pd.DataFrame) -> dict[int, str]:
    return identifiers(_table)


@st.cache_resource(show_spinner=False, max_entries=16)
def _mends(key: str, columns: tuple[int, ...], _table: pd.DataFrame) -> rows.Proposal:
    return rows.proposal(_table.iloc[:, list(columns)])


@st.cache_resource(show_spinner=False, max_entries=16)
def _spreads(key: str, _table: pd.DataFrame) -> pd.DataFrame:
    return screening.spreads(_table)


@st.cache_resource(show_spinner=False, max_entries=8)
def _counts(key: str, columns: tuple[int, ...], folds: int, _table: pd.DataFrame) -> pd.DataFrame | None:
    try:
        return prepare(_table.iloc[:, list(columns)], folds=folds).counts
    except InputError:
        return None


@st.cache_resource(show_spinner=False, max_entries=8)
def _chosen_numbers(key: str, columns: tuple[int, ...], _table: pd.DataFrame) -> pd.DataFrame | None:
    part = _table.iloc[:, list(columns)]
    return part if is_continuous(part) else None


@st.cache_resource(show_spinner="Looking for columns that others determine …", max_entries=16)
def _relations(key: str, columns: tuple[int, ...], _table: pd.DataFrame) -> list[Relation]:
    return find_relations(_table)


@st.cache_resource(show_spinner=False, max_entries=8)
def _coded(
    key: str,
    columns: tuple[int, ...],
    beside: tuple[int, ...],
    roles: Roles | None,
    settings: Settings,
    _table: pd.DataFrame,
) -> tuple[pd.DataFrame, pd.DataFrame, np.ndarray]:
    whole = prepare(_table.iloc[:, [*columns, *beside]], roles, settings.folds)
    given = whole.take(ranks.sampled_rows(len(whole.counts), settings))
    group = None if given.adjustment is None else given.adjustment.group
    fold = ranks.fold_of_rows(len(given.counts), settings.folds, settings.seed, group)
    return given.counts, ranks.transform_table(given, settings), fold


@st.cache_resource(show_spinner="Counting rows per level …", max_entries=16)
def _support(
    key: str,
    columns: tuple[int, ...],
    beside: tuple[int, ...],
    roles: Roles | None,
    settings: Settings,
    _table: pd.DataFrame,
) -> pd.DataFrame:
    before, after, fold = _coded(key, columns, beside, roles, settings, _table)
    if settings.folds_by == "counts":
        held_out = [part.held_out for part in ranks.split_ranks(before[sorted(before.columns)].to_numpy(), settings)]
        after = pd.DataFrame(np.concatenate(held_out), columns=sorted(before.columns))[before.columns]
        fold = np.repeat([0, 1], len(before))
    return level_support(before, after, fold, settings.min_level_rows)
