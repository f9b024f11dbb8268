"""The controls: columns sorted by one statistic, with parents by CAM along that order.

Simulated counts often increase along the causal order, so sorting alone may find most of it. A method must beat these.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import pandas as pd

from disco.errors import InputError
from disco.fields import check, number, one_of
from disco.graph.result import GraphResult
from disco.metrics.orders import SORTS
from disco.progress import Callback
from disco.selectors import cam, smooths
from disco.table.prepared import Prepared, Table, prepare


@dataclass(frozen=True)
class Options:
    """How the columns are sorted, and which parents are kept."""

    by: str = one_of("mean", [*SORTS], help="The statistic that sorts the columns, smallest first.")
    cutoff: float = number(0.001, within=(0, 1), help="The p-value below which CAM keeps an edge.")

    def __post_init__(self) -> None:
        check(self)


def find(table: Table, options: Options, *, callback: Callback | None = None) -> GraphResult:
    """The sorted order, and parents by CAM. InputError: the table lacks counts, or has too few rows for CAM."""
    prepared = prepare(table)
    check_rows(prepared)
    return along(prepared, SORTS[options.by](prepared), options.cutoff, callback=callback)


def check_rows(prepared: Prepared) -> None:
    """Refuse a table with too few rows for CAM along any order, before anything is computed."""
    rows, adjustment = len(prepared.counts), prepared.adjustment
    sizes = smooths.in_order(prepared, list(prepared.counts.columns), cam.COLUMNS, adjustment)[1]
    extra = smooths.spanning(smooths.adjustment_columns(adjustment, rows)).shape[1]
    needed = int(sizes.sum() - sizes.min()) + extra + 2
    if rows < needed:
        raise InputError(
            f"CAM regresses each column on smooths of all columns before it, for which {rows:,} rows are "
            f"too few: give at least {needed:,} rows, or fewer columns."
        )


def along(
    prepared: Prepared, order: list[str], cutoff: float, *, notes: Iterable[str] = (), callback: Callback | None = None
) -> GraphResult:
    """An order with the parents that CAM selects along it."""
    tests = cam.edges(prepared, order, cutoff=cutoff, adjustment=prepared.adjustment, callback=callback)
    return of_tests(prepared.counts, order, tests, notes)


def of_tests(counts: pd.DataFrame, order: list[str], tests: pd.DataFrame, notes: Iterable[str] = ()) -> GraphResult:
    """An order with the parents that tests along it select, and all tests as scores."""
    pairs = tests.loc[tests["selected"], ["parent", "child"]].itertuples(index=False, name=None)
    scores = tests.drop(columns="selected").reset_index(drop=True)
    return GraphResult.of(list(counts.columns), pairs, order=order, scores=scores, notes=tuple(notes))
