"""Properties of the loaded table, computed once per table and cached, since pages need them at every rerun."""

from collections import Counter
from contextlib import suppress
from dataclasses import replace

import numpy as np
import pandas as pd

from disco.errors import InputError
from disco.paper import ranks
from disco.paper.support import ENOUGH, level_support, merged_counts
from disco.paper.support import coded as coded_rows
from disco.table import counts, dispersion, roles, rows, values
from disco.table.artefacts import going_with
from disco.table.cells import columns_of, names_of
from disco.table.edits import AddColumns
from disco.table.finding import Finding
from disco.table.guesses import Guess, are_rising_dates
from disco.table.guesses import guesses as guess_roles
from disco.table.identifiers import identifiers
from disco.table.kinds import KINDS, NAMES
from disco.table.layout import GUESSES, Looked, tidied
from disco.table.past import Past
from disco.table.prepared import Prepared, is_continuous, prepare
from disco.table.read import MATRIX
from disco.table.row_findings import exposure_of_all as exposure_of_all_columns
from disco.words import how_many, listed, plural
from pages.shared.compute.cache import cached
from pages.shared.table.drafts import LAYOUT, TURN, Draft

_MOST_READ = 5_000_000  # cells of a file, to add up all its columns
_MOST_NAMED = 5  # columns
_MOST_ROWS = 5_000  # evenly spread, in which columns are compared

# The key of each fact; the draft's key stands for its table.


def _table_key(draft: Draft) -> tuple:
    return (draft.key,)


def _columns_key(draft: Draft) -> tuple:
    return draft.key, draft.columns


def _roles_key(draft: Draft) -> tuple:
    return *_columns_key(draft), draft.adjusted, repr(draft.roles.needed())


@cached(_table_key, "Describing the columns …")
def described(draft: Draft) -> pd.DataFrame:
    """`disco.table.counts.describe` of the whole table."""
    return counts.describe(draft.table)


def problems(draft: Draft) -> list[Finding]:
    """Why chosen columns are not counts or others cannot play their roles, and notes on the counts."""
    return [*_of_counts(draft), *_of_roles(draft)]


@cached(lambda draft: (*_columns_key(draft), draft.settings.folds, draft.rows_left_out), "Checking the table …")
def _of_counts(draft: Draft) -> list[Finding]:
    columns = draft.table.shape[1]
    positions = list(draft.columns) if columns > 1 else list(range(columns))
    chosen, of_cells = draft.table.iloc[:, positions], [_of_cells(draft)[at] for at in positions]
    chosen.attrs = draft.table.attrs
    listed = counts.problems(chosen, draft.settings.folds, draft.rows_left_out, of_cells=of_cells)
    return listed if columns < 2 else [_choice(len(draft.columns), columns, problem) for problem in listed]


@cached(lambda draft: (draft.key, draft.rows_left_out))
def _of_cells(draft: Draft) -> list[list[Finding]]:
    """Problems and notes of each column of the whole table."""
    return counts.problems_of_cells(draft.table, draft.rows_left_out)


def _choice(chosen: int, columns: int, problem: Finding) -> Finding:
    """A problem; too few columns is described as one of the choice, since the table has more."""
    if problem.kind != "columns":
        return problem
    message = (
        f"{chosen:,} of {columns:,} columns {plural(chosen, 'is', 'are')} chosen as counts; at least 2 are needed."
    )
    return replace(problem, message=message, remedy="Give more columns the role count on Data.")


def _of_roles(draft: Draft) -> list[Finding]:
    """Why the roles cannot be used: the columns with unusable rows or, if none, the first other reason."""
    if draft.roles.needed() is None:
        return []
    if bad_rows := unusable(draft):
        numbers, index = rows.row_numbers(len(draft.table), draft.rows_left_out), draft.table.index
        return [_of_rows(draft, name, numbers[bad], index[bad][0]) for name, bad in bad_rows.items()]
    return _why_not(draft)


def _of_rows(draft: Draft, name: str, bad: np.ndarray, first: object) -> Finding:
    which, at = rows.row_in_words(bad[0], first), int(np.argmax(unusable(draft)[name]))
    why = roles.why_unusable(draft.table, draft.roles, name, at)
    what = f'"{name}" cannot play its role in {how_many(len(bad), "row")}, first in row {which}: {why}.'
    remedy = "Leave these rows out, or give the column another role."
    return Finding("role", what, remedy, blocking=True, columns=(name,), rows=(int(bad[0]),))


@cached(lambda draft: (*_roles_key(draft), draft.settings.folds), "Checking the roles …")
def _prepared(draft: Draft) -> Prepared | InputError:
    """The chosen columns with their adjustment, or why they cannot be used."""
    columns = draft.table.iloc[:, [*draft.columns, *draft.adjusted]]
    try:
        return prepare(columns, draft.roles.needed(), draft.settings.folds, _of_counts(draft))
    except InputError as error:
        return error.with_traceback(None)  # which would keep the table


def _why_not(draft: Draft) -> list[Finding]:
    columns = draft.table.iloc[:, [*draft.columns, *draft.adjusted]]
    error = _prepared(draft)
    if any(problem.blocking for problem in _of_counts(draft)):  # said elsewhere; the roles may be wrong too
        error = _split_error(columns, draft.roles)
    if not isinstance(error, InputError):
        return []
    about = [name for name in names_of(columns) if f'"{name}"' in str(error)] or draft.roles.named("time")
    return [Finding("role", str(error), blocking=True, columns=tuple(about))]


def _split_error(columns: pd.DataFrame, declared: roles.Roles) -> InputError | None:
    try:
        declared.split(columns)
    except InputError as error:
        return error
    return None


@cached(lambda draft: (draft.key, draft.rows_left_out))
def faulty(draft: Draft) -> list[tuple[bool, str]]:
    """For each column of the whole table: whether it blocks a fit, and its first problem or note in words."""
    names = ["" if name is None or name is pd.NA or name != name else str(name) for name in draft.table.columns]
    faults: dict[str, tuple[bool, str]] = {}
    for problem in counts.problems(draft.table, 2, draft.rows_left_out, of_cells=_of_cells(draft)):
        for name in problem.columns:
            message = problem.message.removeprefix(f'Column "{name}"').lstrip(", ")
            blocking, words = faults.get(name, (False, message))
            faults[name] = (blocking or problem.blocking, words)
    return [faults.get(name, (False, "")) for name in names]


def usable(draft: Draft) -> set[int]:
    """The columns of the whole table that hold counts without problems and do not look like an index, by position."""
    return {index for index, (blocking, _) in enumerate(faulty(draft)) if not blocking} - index_like(draft).keys()


def chosen_counts(draft: Draft) -> pd.DataFrame | None:
    """The chosen columns as counts, in all rows; None while they, or the others with a role, have blocking problems."""
    prepared = _prepared(draft)
    if isinstance(prepared, InputError) or _of_roles(draft):
        return None
    return prepared.counts if prepared.past is None else _every_row(draft)


@cached(lambda draft: (*_columns_key(draft), draft.settings.folds))
def _every_row(draft: Draft) -> pd.DataFrame:
    """The chosen counts of a series in all rows, as loaded."""
    return prepare(draft.table.iloc[:, [*draft.columns]], checked=_of_counts(draft)).counts


def past(draft: Draft) -> Past | None:
    """The rows before each row that a fit would use; None without a time, or with one that cannot be used."""
    return None if isinstance(prepared := _prepared(draft), InputError) else prepared.past


def usable_table(draft: Draft) -> pd.DataFrame | None:
    """The chosen counts, followed by the columns with another role, with row names; None as for `chosen_counts`."""
    table = chosen_counts(draft)
    if table is None:
        return None
    adjusted = draft.table.iloc[:, list(draft.adjusted)].reset_index(drop=True)
    return pd.concat([table, adjusted.set_axis(names_of(adjusted), axis=1)], axis=1).set_axis(draft.table.index)


def possible_adjustments(draft: Draft) -> dict[int, Guess]:
    """The columns that look like a covariate or a group and are neither counts nor adjusted for: position → guess."""
    used = {*draft.columns, *draft.adjusted}
    return {
        at: guess for at, guess in _guesses(draft).items() if at not in used and guess.role in ("covariate", "group")
    }


@cached(_columns_key)
def chosen_numbers(draft: Draft) -> pd.DataFrame | None:
    """The chosen columns, if at least half of them hold numbers that are not counts and the rest hold counts."""
    columns = draft.table.iloc[:, list(draft.columns)]
    return columns if is_continuous(columns) else None


def guesses(draft: Draft) -> dict[int, Guess]:
    """The columns that do not look like counts and that the reader has not yet decided on: position → guess.

    Of the columns left out, only an identifier of groups is included.
    """
    names = names_of(draft.table)
    times = Counter(names)
    candidates = {*draft.columns, *index_like(draft)}
    return {
        position: guess
        for position, guess in _guesses(draft).items()
        if position in candidates
        and names[position] not in draft.roles.columns
        and times[names[position]] == 1
        and (position in draft.columns or guess.role != "ignore")
    }


def has_guesses(draft: Draft) -> bool:
    """Whether any column of the table as loaded did not look like counts."""
    return bool(_guesses(draft))


@cached(_table_key)
def _guesses(draft: Draft) -> dict[int, Guess]:
    return guess_roles(draft.table)


@cached(_table_key)
def maybe_effects(draft: Draft) -> set[int]:
    """The guessed covariates with a caution that vary with some column that may hold counts, by position."""
    cautious = {at: guess for at, guess in _guesses(draft).items() if guess.caution}
    table = draft.table[:: -(-len(draft.table) // _MOST_ROWS) or 1]
    names = names_of(table)
    nodes = [at for at in usable(draft) - _guesses(draft).keys() if names.count(names[at]) == 1]
    related = going_with(table.iloc[:, nodes], table, cautious) if cautious and nodes else {}
    return {at for at, times in related.items() if times}


@cached(_columns_key)
def rising_dates(draft: Draft) -> str:
    """What dates the rows in their order: their names, or the first column; empty if neither does."""
    names = draft.table.index.to_series(name="Row names")
    columns = [names] if not isinstance(draft.table.index, pd.RangeIndex) else []
    columns += [draft.table.iloc[:, 0]] if draft.table.shape[1] and 0 not in draft.columns else []
    return next((str(column.name) for column in columns if are_rising_dates(column)), "")


@cached(_table_key)
def two_texts(draft: Draft) -> dict[str, tuple[str, str]]:
    """The columns that hold two texts, with these, the one that is 0 first: name → texts."""
    pairs = {name: values.two_texts(column) for name, column in columns_of(draft.table)}
    return {name: pair for name, pair in pairs.items() if pair is not None}


@cached(_roles_key)
def unusable(draft: Draft) -> dict[str, np.ndarray]:
    """`disco.table.roles.unusable_rows` of the draft, where they are less than half of the rows."""
    needed, used = draft.roles.needed(), draft.table.iloc[:, [*draft.columns, *draft.adjusted]]
    bad_rows = {} if needed is None else roles.unusable_rows(used, needed)
    return {name: bad for name, bad in bad_rows.items() if bad.mean() < 0.5}


def suggestions(draft: Draft) -> list[Finding]:
    """What the table holds besides counts, without what the reader has refused; nothing if it is only row names."""
    suggested = [] if LAYOUT in draft.denied else _suggestions(draft)
    return suggested if any(suggestion.kind != NAMES for suggestion in suggested) else []


def about(kind: str) -> str:
    """The question whether a table holds something of a kind."""
    return f"{LAYOUT} {kind}"


@cached(lambda draft: (draft.key, *sorted(draft.roles.columns), *sorted(draft.denied - {TURN})), "Looking …")
def _suggestions(draft: Draft) -> list[Finding]:
    suggested = list[Finding]()
    with suppress(InputError):  # one that cannot be made is not offered
        kinds = [kind for kind in KINDS if about(kind) not in draft.denied]
        every = tidied(draft.table, kinds, draft.roles.columns, looked(draft))
        suggested.extend(suggestion for suggestion, _ in every)
    return suggested


@cached(_table_key)
def looked(draft: Draft) -> Looked:
    """What was found in the table, and in what edits make of it, whatever roles its columns have."""
    return {(): {GUESSES: _guesses(draft)}}


@cached(_table_key)
def index_like(draft: Draft) -> dict[int, str]:
    """The columns of the whole table that look like an index: position → why."""
    return identifiers(draft.table)


@cached(lambda draft, columns: (draft.key, columns))
def mends(draft: Draft, columns: tuple[int, ...]) -> rows.Proposal:
    """What to leave out of some columns; all positions are those of the table."""
    proposal = rows.proposal(draft.table.iloc[:, list(columns)])
    of_columns = {columns[at]: why for at, why in proposal.columns.items()}
    return rows.Proposal(of_columns, proposal.rows, tuple(columns[at] for at in proposal.texts))


def spreads(draft: Draft) -> pd.DataFrame:
    """`disco.table.dispersion.spreads` of the chosen columns."""
    return _spreads(draft).iloc[list(draft.columns)]


@cached(_table_key)
def _spreads(draft: Draft) -> pd.DataFrame:
    return dispersion.spreads(draft.table)


@cached(lambda draft: (*_roles_key(draft), draft.settings))
def coded(draft: Draft) -> tuple[pd.DataFrame, pd.DataFrame, np.ndarray]:
    """Counts, codes and held-out folds of the rows that a fit would use; the columns must be counts."""
    if isinstance(prepared := _prepared(draft), InputError):
        raise prepared
    return coded_rows(prepared, draft.settings)


@cached(lambda draft: (*_roles_key(draft), draft.settings), "Counting rows per level …")
def support(draft: Draft) -> pd.DataFrame:
    """`level_support` and `merged_counts` of the chosen columns."""
    counts_of, codes, fold = coded(draft)
    merged = merged_counts(counts_of, codes)
    if draft.settings.folds_by == "counts":
        names = sorted(counts_of.columns)
        splits = ranks.split_ranks(counts_of[names].to_numpy(), draft.settings)
        codes = pd.DataFrame(np.concatenate([split.held_out for split in splits]), columns=names)[counts_of.columns]
        fold = np.repeat([0, 1], len(counts_of))
    return level_support(counts_of, codes, fold, draft.settings.min_level_rows).assign(merged=merged)


def few_per_level(draft: Draft) -> Finding | None:
    """The finding of columns with too few rows per level for the order of a fit; None without any."""
    levels = support(draft)
    weak = levels[levels["kept"] < ENOUGH].sort_values("kept")
    if weak.empty:
        return None
    is_pooled = draft.settings.transform == "quantile"
    remedy = "Use fewer levels." if is_pooled else "Quantile levels (Preprocess) pool them."
    message = (
        f"In {len(weak)} of {how_many(len(levels), 'column')}, more than a fifth of the rows are at levels with too "
        f"few rows for the order of a fit: {listed([*weak['column']], _MOST_NAMED)}."
    )
    return Finding("many levels", message, remedy, columns=tuple(weak["column"]))


@cached(_columns_key, "Adding up all columns …")
def exposure_of_all(draft: Draft) -> AddColumns | None:
    """An exposure of all columns that hold counts, also those of the file that were not read; None without more."""
    every, facts = draft.table.iloc[:, sorted(usable(draft) | {*draft.columns})], draft.table.attrs.get(MATRIX)
    with suppress(InputError):
        if draft.file and facts and draft.columns and facts["cells"] * facts["there"] <= _MOST_READ:
            layer = {"layer": facts["layer"]} if len(facts["layers"]) > 1 else {}
            read = draft.file.read(genes=str(facts["there"]), **layer)
            every = read.iloc[rows.row_numbers(len(draft.table), draft.rows_left_out) - 1]
        counts_of = chosen_counts(draft)
        if counts_of is not None and every.shape[1] > counts_of.shape[1]:
            return exposure_of_all_columns(counts_of, every)
    return None
