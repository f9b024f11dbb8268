"""Parents by the likelihood, given an order.

Each node's parents are the set of predecessors with the highest posterior in the semiparametric GLM of
`disco.refine.scores`, found by forward and backward steps. The order itself does not change.
"""

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
import torch

from disco.graph import check_order
from disco.likelihood.bank import Bank
from disco.ranks import dense_ranks
from disco.refine.prior import BEFORE, fitted_to, price
from disco.refine.scores import NodeFit, Scores, Walk, resolve
from disco.refine.screen import screen


def edges(
    table: pd.DataFrame,
    order: Sequence[str],
    *,
    device: str = "cpu",
    goes_on: Callable[[int, int], bool] = lambda done, total: True,
) -> pd.DataFrame:
    """The parents of every node among its predecessors.

    Args:
        table: counts, one column per node.
        order: all columns, sources first.
        device: cpu or cuda.
        goes_on: called between batches of fits with the numbers of steps done and of all; each node has three steps: it
            is screened, gets its parents, and gets them again under the fitted prior. Stops if it returns False.

    Returns:
        One row per candidate edge, in causal order of the child, then of the parent: parent, child, score, selected.
        The score, in nats, is the loss of the child's score without a parent, or the gain with another candidate,
        estimated by its Rao statistic. It is NaN if the screen leaves the pair out or a likelihood is not finite.

    Raises:
        InputError: the order is not one of the table's columns, or a column is constant.
        FitStopped: `goes_on` returned False.
    """
    check_order(order, table.columns)
    names = list(table.columns)
    bank = Bank.of(dense_ranks(table.to_numpy()), prior=BEFORE, dtype=torch.float32, device=device, names=names)
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


def _along(scores: Scores, numbers: Sequence[int], done: "_Done") -> list[NodeFit]:
    """Each node's fit with its parents among its predecessors, in causal order."""
    walks = [scores.walk(node, scores.allowed(node, numbers[:at]), ()) for at, node in enumerate(numbers)]
    return resolve([(scores, done.counted(walk)) for walk in walks])


def _rows(
    scores: Scores, numbers: Sequence[int], found: Sequence[NodeFit], names: Sequence[str]
) -> list[tuple[str, str, float, bool]]:
    """One row per candidate edge: parent, child, score, selected."""
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
    """Counts the steps done over all nodes, and reports them to `goes_on`."""

    def __init__(self, total: int, goes_on: Callable[[int, int], bool]) -> None:
        self.done, self.total, self.goes_on = 0, total, goes_on

    def told(self) -> bool:
        return self.goes_on(self.done, self.total)

    def screened(self, nodes: int) -> bool:
        self.done = nodes
        return self.told()

    def counted(self, walk: Walk[NodeFit]) -> Walk[NodeFit]:
        """The same walk, which counts one step when it ends."""
        fitted = yield from walk
        self.done += 1
        return fitted
