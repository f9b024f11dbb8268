"""The controls: columns sorted by one statistic, with parents by CAM along that order.

Simulated counts often grow along the causal order, so sorting alone may find most of it. A method must beat these.
"""

from dataclasses import dataclass

import pandas as pd

from disco.checks import check, number, one_of
from disco.errors import InputError
from disco.metrics import order_by_excess, order_by_mean, order_by_variance
from disco.parents import cam, smooths
from disco.progress import Callback
from disco.rivals.result import Result
from disco.table.adjustment import Adjustment

_SORTS = {"mean": order_by_mean, "variance": order_by_variance, "excess": order_by_excess}


@dataclass(frozen=True)
class Options:
    """By what the columns are sorted, smallest first, and the p-value below which CAM keeps an edge."""

    by: str = one_of("mean", _SORTS)
    cutoff: float = number(0.001, at_least=0, at_most=1)

    def __post_init__(self) -> None:
        check(self)


def find(
    table: pd.DataFrame, options: Options, *, adjustment: Adjustment | None = None, callback: Callback | None = None
) -> Result:
    """The sorted order, and parents by CAM.

    Raises:
        InputError: there are too few rows for CAM.
        FitStopped: the callback asked to stop.
    """
    check_rows(table, adjustment)
    return along(table, _SORTS[options.by](table), options.cutoff, adjustment=adjustment, callback=callback)


def check_rows(table: pd.DataFrame, adjustment: Adjustment | None = None) -> None:
    """Refuse a table with too few rows for CAM along some order, before anything is computed.

    Raises:
        InputError: it has.
    """
    sizes = smooths.in_order(table, list(table.columns), cam.COLUMNS, adjustment)[1]
    beside = smooths.spanning(smooths.beside_nodes(adjustment, len(table))).shape[1]
    needed = int(sizes.sum() - sizes.min()) + beside + 2
    if len(table) < needed:
        raise InputError(
            f"Parents by CAM are a regression on the smooths of all other columns, for which {len(table):,} rows are "
            f"too few: give at least {needed:,} rows, or fewer columns."
        )


def along(
    table: pd.DataFrame,
    order: list[str],
    cutoff: float,
    *,
    adjustment: Adjustment | None = None,
    callback: Callback | None = None,
) -> Result:
    """The result of an order with the parents that CAM selects along it."""
    tests = cam.edges(table, order, cutoff=cutoff, adjustment=adjustment, callback=callback)
    kept = tests.loc[tests["selected"], ["parent", "child"]]
    return Result.of(
        list(table.columns),
        kept.itertuples(index=False, name=None),
        order=order,
        scores=tests.drop(columns="selected"),
    )
