"""All artefacts of a table: those of `disco.table.artefacts`, and common causes that are not in the table.

- *kinds*: rows fall into kinds that many columns follow, and adjusting for these leaves nothing in common;
- *common*: many columns follow something else that is hidden;
- *readings*: the counts are readings of rates that act on each other.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import pandas as pd

from disco.errors import InputError
from disco.progress import SILENT, Callback, Reporter
from disco.table.adjustment import CATEGORICAL, Adjustment, Covariate
from disco.table.artefacts import ARTEFACTS, COMMON, KINDS, READINGS, check_kinds, ignored, plain_artefacts
from disco.table.cells import names_of
from disco.table.edits import AddKinds
from disco.table.finding import Finding
from disco.table.prepared import Prepared, Table, prepare
from disco.table.quality import doubts
from disco.table.roles import Given, Roles
from disco.table.rows import Stretches
from disco.words import how_many, listed

if TYPE_CHECKING:
    from disco.hidden.common import CommonCause

ROLE = ("covariate", CATEGORICAL)  # of the kind of every row as a column
SEARCHES = {COMMON: {COMMON, KINDS}, READINGS: {READINGS}}  # for something hidden, and the kinds that each may find
AT_ONCE = 20_000  # cells of a table in which a search takes a second or two
LETTERS = "ABCDEFGH"  # the kinds in it
_SHARED = {"repeated", "serial", "depth", "filter"}  # what joins many columns as a common cause does
_NAMED = 6
WEIGHTS = {"columns": 0.5, COMMON: 0.4, READINGS: 0.1}  # of time, about
STOPPED = "stopped while looking for what creates edges."
_FROM_IT = "Edges among these columns, and their directions, may only reflect this. "

Search: TypeAlias = Callable[[str], Finding | None]  # what one of `SEARCHES` finds


@dataclass(frozen=True)
class Artefacts:
    """The artefacts of a table."""

    plain: tuple[Finding, ...]  # those of `disco.table.artefacts.plain_artefacts`, dismissed or not
    hidden: Mapping[str, Finding | None] = field(default_factory=dict)  # by search, of `SEARCHES`, that was made
    reasons: Mapping[str, str] = field(default_factory=dict)  # for dismissed kinds, searched for at present or not
    doubts: tuple[Finding, ...] = ()  # what else weakens results, from `disco.table.quality.doubts`

    @cached_property
    def found(self) -> tuple[Finding, ...]:
        """All of them, worst first."""
        hidden = _hidden(self.plain, self.reasons, self.hidden.get)
        return tuple(sorted([*self.plain, *hidden], key=lambda finding: ARTEFACTS.index(finding.kind)))

    @property
    def dismissed(self) -> dict[str, str]:
        """Why some of those found are none, by kind."""
        return {finding.kind: self.reasons[finding.kind] for finding in self.found if finding.kind in self.reasons}

    @property
    def standing(self) -> tuple[Finding, ...]:
        """Those that were not dismissed."""
        return tuple(finding for finding in self.found if finding.kind not in self.reasons)

    @property
    def due(self) -> list[str]:
        """The searches that have to be made and were not."""
        missing = list[str]()
        self.searched(missing.append)
        return missing

    def searched(self, find: Search) -> "Artefacts":
        """The same after every search that is due and was not made yet."""
        hidden = dict(self.hidden)

        def once(which: str) -> Finding | None:
            if which not in hidden:
                hidden[which] = find(which)
            return hidden[which]

        list(_hidden(self.plain, self.reasons, once))
        return replace(self, hidden=hidden)


def _hidden(plain: Sequence[Finding], dismissed: Collection[str], find: Search) -> Iterator[Finding]:
    """The hidden artefacts that are searched for: the one place that decides this.

    If rows depend on each other, share a total or differ in depth, nothing is searched for until that is dismissed.
    With a shared total, only kinds of rows count. Readings are searched for if there is no common cause, or if it is
    dismissed. `find` is called only for searches that are due.
    """
    standing = {finding.kind for finding in plain} - {*dismissed}
    if standing & _SHARED:
        return
    is_closed = "closure" in standing  # kinds with opposite effects leave totals alike
    common = find(COMMON)
    if common is not None and (common.kind == KINDS or not is_closed):
        yield common
    if not is_closed and (common is None or common.kind in dismissed):
        readings = find(READINGS)
        if readings is not None:
            yield readings


def artefacts(
    table: Table,
    roles: Given | None = None,
    aside: pd.DataFrame | None = None,
    dismissed: Collection[str] = (),
    callback: Callback | None = None,
) -> tuple[Finding, ...]:
    """The artefacts of a table of any size, worst first, without the `dismissed` kinds of `ARTEFACTS`.

    Other arguments and errors are those of `disco.table.artefacts.plain_artefacts`.
    """
    check_kinds(dismissed)
    if not {*ARTEFACTS} - {*dismissed}:
        return ()
    without = [which for which, kinds in SEARCHES.items() if kinds <= {*dismissed}]
    prepared = prepare(table, roles, folds=None)
    aside = ignored(table, roles) if aside is None else aside
    reporter = Reporter(callback, WEIGHTS, STOPPED)
    plain = plain_artefacts(prepared, unused=aside, callback=reporter.part("columns", ""))
    reasons = dict.fromkeys(dismissed, "dismissed")
    return finished(Artefacts(plain, dict.fromkeys(without), reasons), prepared, reporter).standing


def looked_for(
    table: Table,
    roles: Given | None = None,
    aside: pd.DataFrame | None = None,
    reasons: Mapping[str, str] | None = None,
    callback: Callback | None = None,
    left_out: Stretches = (),
) -> Artefacts:
    """The artefacts of a table, why some are dismissed, and its doubts; a reason without its finding has no effect.

    Arguments and errors are those of `begun`.
    """
    prepared = prepare(table, roles, folds=None)
    aside = ignored(table, roles) if aside is None else aside
    reporter = Reporter(callback, WEIGHTS, STOPPED)
    result = begun(prepared, None, aside, reasons, reporter.part("columns", ""), left_out)
    result = finished(result, prepared, reporter)
    return replace(result, reasons=result.dismissed)


def begun(
    table: Table,
    roles: Given | None = None,
    aside: pd.DataFrame | None = None,
    reasons: Mapping[str, str] | None = None,
    callback: Callback | None = None,
    left_out: Stretches = (),
) -> Artefacts:
    """The artefacts of a table before the searches for what is hidden, which may take minutes, and its doubts.

    `left_out` are rows left out of the loaded table; the others keep their numbers.

    InputError: the table or its roles cannot be used.
    """
    prepared = prepare(table, roles, folds=None)
    aside = ignored(table, roles) if aside is None else aside
    plain = plain_artefacts(prepared, unused=aside, callback=callback)
    advised = {name for finding in plain for name in finding.without}
    return Artefacts(plain, reasons=reasons or {}, doubts=doubts(prepared, left_out, advised))


def finished(artefacts: Artefacts, prepared: Prepared, reporter: Reporter = SILENT) -> Artefacts:
    """The artefacts of a table after every search that is due; its stage has the same name."""
    return artefacts.searched(lambda which: search(prepared, artefacts.plain, which, reporter))


def search(prepared: Prepared, plain: Sequence[Finding], which: str, reporter: Reporter = SILENT) -> Finding | None:
    """The finding of one of `SEARCHES`, given the other findings, dismissed or not."""
    look = {COMMON: _of_common, READINGS: _of_readings}[which]
    return look(without_advised(prepared, plain), reporter)


def without_advised(prepared: Prepared, plain: Sequence[Finding]) -> Prepared:
    """A table without the columns that its findings advise to leave out, dismissed or not."""
    out = {name for finding in plain for name in finding.without}
    return replace(prepared, counts=prepared.counts.loc[:, [name not in out for name in prepared.counts]])


def kinds(prepared: Prepared, reporter: Reporter, stage: str) -> "tuple[CommonCause | None, np.ndarray | None]":
    """The common cause of a table, and the kind of every row, (n,), if adjusting for it leaves nothing in common.

    Where most edges remain, kinds of rows may differ in their graphs, which no adjustment for their means cures.
    """
    from disco.hidden.common import common_cause, kinds_of_rows  # imports torch

    values = prepared.counts.to_numpy()
    cause = common_cause(values, prepared.adjustment, reporter, stage)
    if cause is None or not cause.kinds or cause.edges_left > cause.edges / 2:
        return cause, None
    row_kinds = kinds_of_rows(values, prepared.adjustment, cause)
    return cause, None if common_cause(values, _adjusted(prepared, row_kinds), reporter, stage) else row_kinds


def kinds_as_column(table: pd.DataFrame, roles: Roles | None = None, callback: Callback | None = None) -> AddKinds:
    """The change of a table that adds the kind of every row as a column; its role is `ROLE`.

    Columns that `disco.table.artefacts` advises to leave out are ignored.

    InputError: the table or its roles cannot be used, or its rows do not fall into kinds.
    """
    reporter = Reporter(callback, {"columns": 0.5, "kinds": 0.5}, "stopped while looking for kinds of rows.")
    prepared = prepare(table, roles, folds=None)
    plain = plain_artefacts(prepared, callback=reporter.part("columns", ""))
    _, row_kinds = kinds(without_advised(prepared, plain), reporter, "kinds")
    if row_kinds is None:
        raise InputError("The rows of this table do not fall into kinds that could be adjusted for.")
    return AddKinds(letters(row_kinds)).apart_from(names_of(table))


def letters(kind: np.ndarray) -> str:
    """The kind of every row, as one letter each."""
    return "".join(LETTERS[number] for number in kind)


def _adjusted(prepared: Prepared, kind: np.ndarray) -> Adjustment:
    """The adjustment of a table with the kind of every row as another covariate."""
    codes = np.unique(kind, return_inverse=True)[1]
    covariate = Covariate(AddKinds.name, CATEGORICAL, codes, tuple(LETTERS[: codes.max() + 1]))
    adjustment = prepared.adjustment or Adjustment(len(kind))
    return replace(adjustment, covariates=(*adjustment.covariates, covariate))


def _of_common(prepared: Prepared, reporter: Reporter) -> Finding | None:
    cause, kind = kinds(prepared, reporter, COMMON)
    if cause is None:
        return None
    names = [f'"{prepared.counts.columns[at]}"' for at in cause.columns]
    what = f"{cause.kinds} kinds of rows" if cause.kinds else "One hidden cause"
    saving = f"{cause.edges_left:,} of {how_many(cause.edges, 'edge')} would remain"
    message = (
        f"{what} would explain what {how_many(len(names), 'column')} share, {listed(names, _NAMED)}: {saving}, and the "
        f"score would rise by {cause.gain:,.0f} nats."
    )
    if kind is not None and prepared.past is None:
        remedy = "Adjust for the kinds, computed from these columns. A column that says what they are would be better."
        return Finding(KINDS, message, _FROM_IT + remedy, edits=(AddKinds(letters(kind)),), flag="--kinds")
    remedy = "If you know it, as a gradient, a season, a batch or a depth, add it as a column and adjust for it."
    return Finding(COMMON, message, _FROM_IT + remedy)


def _of_readings(prepared: Prepared, reporter: Reporter) -> Finding | None:
    """The finding of counts that are readings of rates; None if they are not."""
    from disco.hidden.readings import readings  # imports the compiler

    reporter.step(READINGS, 0, 1)
    result = readings(prepared.counts.to_numpy(), prepared.adjustment, reporter)
    if result is None:
        return None
    names = prepared.counts.columns
    pairs = listed([f'"{names[a]}" and "{names[b]}"' for a, b in result.pairs], _NAMED, "; ")
    return Finding(
        READINGS,
        f"The counts look like noisy readings of rates: without the noise, {result.edges_left:,} of "
        f"{how_many(result.edges, 'edge')} would remain, and the score would rise by {result.gain:,.0f} nats.",
        f"The noise alone may join {pairs}. Directions assume that the counts are causes themselves. Counting longer "
        "or deeper shows the rates more exactly.",
    )
