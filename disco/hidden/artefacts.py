"""All artefacts of a table: those of `disco.table.artefacts`, and common causes that are not in the table.

- *kinds*: rows fall into kinds that many columns follow, and adjusting for these leaves nothing in common;
- *common*: many columns follow something else that is hidden;
- *readings*: the counts are readings of rates that act on each other.
"""

from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from disco.progress import SILENT, Callback, Reporter
from disco.table.adjustment import CATEGORICAL, Adjustment, Covariate
from disco.table.artefacts import ARTEFACTS, COMMON, KINDS, READINGS, ignored, plain_artefacts
from disco.table.finding import Finding
from disco.table.prepared import Prepared, Table, prepare
from disco.table.roles import Given
from disco.words import how_many, listed

if TYPE_CHECKING:
    from disco.hidden.common import CommonCause

NAME = "kinds of rows"  # of the column with the kind of every row
HIDDEN = {KINDS, COMMON, READINGS}
LETTERS = "ABCDEFGH"  # the kinds in it
_SHARED = {"repeated", "serial", "depth", "filter"}  # what joins many columns as a common cause does
_NAMED = 6
_WEIGHTS = {"columns": 0.5, COMMON: 0.5}  # of time, about
_FROM_IT = "Edges among them may come from it, and their directions too. "


def artefacts(
    table: Table,
    roles: Given | None = None,
    aside: pd.DataFrame | None = None,
    dismissed: Collection[str] = (),
    callback: Callback | None = None,
) -> tuple[Finding, ...]:
    """The artefacts of a table of any size, worst first.

    Arguments and errors are those of `disco.table.artefacts.plain_artefacts`.

    Where rows depend on each other, share a total or differ in depth, no other common cause is looked for.
    """
    reporter = Reporter(callback, _WEIGHTS, "stopped while looking for what creates edges.")
    aside = ignored(table, roles) if aside is None else aside
    given = prepare(table, roles, folds=None)
    found = plain_artefacts(given, aside=aside, dismissed=dismissed, callback=reporter.part("columns", ""))
    hidden = of_hidden(given, found, dismissed, reporter)
    return tuple(sorted([*found, *hidden], key=lambda one: ARTEFACTS.index(one.kind)))


def of_hidden(
    given: Prepared, found: Collection[Finding], dismissed: Collection[str] = (), reporter: Reporter = SILENT
) -> Iterator[Finding]:
    """The finding of a common cause, or else of readings; none where something else joins many columns.

    Args:
        given: the table.
        found: its other findings; columns to leave out are not looked at.
        dismissed: kinds not to look for.
        reporter: receives the progress, in the stage `COMMON`.
    """
    if any(one.kind in _SHARED for one in found):
        return
    out = {column for one in found if one.kind in ARTEFACTS for column in one.columns}
    inside = [column for column in range(given.counts.shape[1]) if column not in out]
    part = replace(given, counts=given.counts.iloc[:, inside])
    common = [] if {COMMON, KINDS} <= {*dismissed} else [*_of_common(part, reporter)]
    is_closed = any(one.kind == "closure" for one in found)  # kinds with opposite effects leave totals alike
    yield from (one for one in common if one.kind not in dismissed and (one.kinds or not is_closed))
    if not common and not is_closed and READINGS not in dismissed:
        yield from _of_readings(part, reporter)


def kinds(given: Prepared, reporter: Reporter, stage: str) -> "tuple[CommonCause | None, np.ndarray | None]":
    """The common cause of a table, and the kind of every row, (n,), if adjusting for it leaves nothing in common.

    Where most edges remain, kinds of rows may differ in their graphs, which no adjustment for their means cures.

    Args:
        given: a table.
        reporter, stage: receive the progress.
    """
    from disco.hidden.common import common_cause  # these import torch
    from disco.hidden.kinds import kinds_of_rows

    values = given.counts.to_numpy()
    cause = common_cause(values, given.adjustment, reporter, stage)
    if cause is None or not cause.kinds or cause.edges_left > cause.edges / 2:
        return cause, None
    found = kinds_of_rows(values, given.adjustment, cause)
    return cause, None if common_cause(values, _adjusted(given, found), reporter, stage) else found


def letters(kind: np.ndarray) -> str:
    """The kind of every row, as one letter each."""
    return "".join(LETTERS[one] for one in kind)


def _adjusted(given: Prepared, kind: np.ndarray) -> Adjustment:
    """The adjustment of a table with the kind of every row as another covariate."""
    codes = np.unique(kind, return_inverse=True)[1]
    one = Covariate(NAME, CATEGORICAL, codes, tuple(LETTERS[: codes.max() + 1]))
    before = given.adjustment or Adjustment(len(kind))
    return replace(before, covariates=(*before.covariates, one))


def _of_common(given: Prepared, reporter: Reporter) -> Iterator[Finding]:
    """The finding of a common cause; none without one."""
    cause, kind = kinds(given, reporter, COMMON)
    if cause is None:
        return
    names = [f'"{given.counts.columns[at]}"' for at in cause.columns]
    what = f"{cause.kinds} kinds of rows" if cause.kinds else "One hidden cause"
    left = f"{how_many(cause.edges_left, 'edge')} would be left of {cause.edges:,}"
    message = (
        f"{what} would explain what {how_many(len(names), 'column')} share, {listed(names, _NAMED)}: {left}, and the "
        f"score rises by {cause.gain:.0f} nats."
    )
    if kind is not None:
        advice = "Adjust for the kinds, computed from these columns. A column that says what they are would be better."
        yield Finding(KINDS, message, _FROM_IT + advice, kinds=letters(kind), flag="--kinds")
    else:
        advice = "If you know it, as a gradient, a season, a batch or a depth, add it as a column and adjust for it."
        yield Finding(COMMON, message, _FROM_IT + advice)


def _of_readings(given: Prepared, reporter: Reporter) -> Iterator[Finding]:
    """The finding of counts that are readings of rates; none if they are not."""
    from disco.hidden.readings import readings  # imports torch

    found = readings(given.counts.to_numpy(), given.adjustment, reporter)
    if found is not None:
        names = given.counts.columns
        pairs = listed([f'"{names[a]}" and "{names[b]}"' for a, b in found.pairs], _NAMED, "; ")
        yield Finding(
            READINGS,
            f"The counts look like readings of rates: without the counting noise, {how_many(found.edges_left, 'edge')} "
            f"would be left of {found.edges:,}, and the score rises by {found.gain:.0f} nats.",
            f"The noise alone may join {pairs}. Directions assume that counts are causes themselves: longer or deeper "
            "counts show rates more exactly.",
        )
