"""Parents by the likelihood, along a given order.

Every node's parents among its predecessors are those of highest posterior in the semiparametric GLM of
`disco.refine.scores`, found by steps forward and back; the order itself stays as it is.
"""

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
import torch

from disco.counts import check_order
from disco.likelihood.bank import Bank
from disco.refine.prior import BEFORE, fitted_to, price
from disco.refine.scores import Fitted, Scores, Walk, resolve
from disco.refine.screen import screen


def edges(
    table: pd.DataFrame,
    order: Sequence[str],
    *,
    device: str = "cpu",
    goes_on: Callable[[int, int], bool] = lambda done, total: True,
) -> pd.DataFrame:
    """Parents of every node among its predecessors.

    Args:
        table: counts, one column a node.
        order: all columns, sources first.
        device: cpu or cuda.
        goes_on: told, between batches of fits, how many nodes were screened, have their parents and have them again
            under the fitted prior, and of how many; False stops.

    Returns:
        One row a candidate edge, in causal order of the child, then of the parent: parent, child, score, selected.
        The score, in nats, is what the child's score loses without a parent, or would gain with a candidate by its Rao
        statistic; NaN for a pair that the screen leaves out, and where a fit has no finite likelihood.

    Raises:
        InputError: the order is not one of the table's columns, or a column is constant.
        FitStopped: `goes_on` asked for it.
    """
    check_order(order, table.columns)
    names = list(table.columns)
    ranks = np.column_stack([np.unique(column, return_inverse=True)[1] for column in table.to_numpy().T])
    bank = Bank.of(ranks, prior=BEFORE, dtype=torch.float32, device=device, names=names)
    done = _Done(3 * len(names), goes_on)
    candidates = screen(bank, goes_on=done.screened)
    done.done = len(names)
    scores = Scores(bank, candidates, price=price(len(names), 0), goes_on=done.told)
    numbers = [names.index(name) for name in order]
    found = _along(scores, numbers, done)
    parents = [found[numbers.index(node)].parents for node in range(len(names))]
    scores = fitted_to(scores, numbers, parents)
    found = _along(scores, numbers, done)
    return pd.DataFrame(_rows(scores, numbers, found, names), columns=["parent", "child", "score", "selected"])


def _along(scores: Scores, numbers: Sequence[int], done: "_Done") -> list[Fitted]:
    """Every node's parents among its predecessors, in the order's order."""
    walks = [scores.walk(node, scores.allowed(node, numbers[:at]), ()) for at, node in enumerate(numbers)]
    return resolve([(scores, done.counted(walk)) for walk in walks])


def _rows(
    scores: Scores, numbers: Sequence[int], found: Sequence[Fitted], names: Sequence[str]
) -> list[tuple[str, str, float, bool]]:
    """Every candidate edge: parent, child, score, selected."""
    rows = []
    for at, (node, fitted) in enumerate(zip(numbers, found, strict=True)):
        for parent in numbers[:at]:
            place = scores.place[node].get(parent)
            chosen = parent in fitted.parents
            if chosen:
                score = float(fitted.loss[fitted.parents.index(parent)])
            else:
                score = np.nan if place is None else float(fitted.gain[place])
            rows.append((names[parent], names[node], score if np.isfinite(score) else np.nan, chosen))
    return rows


class _Done:
    """Counts the nodes that were screened and those that have their parents, and tells it."""

    def __init__(self, total: int, goes_on: Callable[[int, int], bool]) -> None:
        self.done, self.total, self.goes_on = 0, total, goes_on

    def told(self) -> bool:
        return self.goes_on(self.done, self.total)

    def screened(self, nodes: int) -> bool:
        self.done = nodes
        return self.told()

    def counted(self, walk: Walk[Fitted]) -> Walk[Fitted]:
        """The same walk; its end is one node more."""
        fitted = yield from walk
        self.done += 1
        return fitted
