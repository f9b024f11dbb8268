"""A table to refine, with its given order and edges, checked and as node numbers.

Of many rows, the graph is searched on a part; the gains of its edges are those of all.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np
import pandas as pd

from disco.columns import CLASS, NO_SOURCE
from disco.errors import InputError
from disco.experiments import Learnt, learnt, learnt_of
from disco.graph.dag import check_order
from disco.knowledge import Knowledge, Resolved
from disco.likelihood.covariates import design_of, ranks_of, rates, seen
from disco.likelihood.rank_design import RankDesign
from disco.metrics.edges import Edges, read
from disco.paper.settings import Settings
from disco.refine.bounds import MOST_ROWS
from disco.refine.choice import Choice
from disco.refine.leading import Earlier, Leading, first
from disco.refine.prior import BEFORE
from disco.table.adjustment import Adjustment
from disco.table.cells import dense_ranks
from disco.table.prepared import Prepared

_FEW = 20  # rows that a column keeps outside its most frequent value, if it has as many


@dataclass(frozen=True)
class Task:
    """The input of a refinement.

    Attributes:
        order: all nodes in a given causal order.
        also: mask of pairs that must pass the screen, (d, d).
        positions: of the nodes as parents, as in `RankDesign.of`, (n, d).
        leading: number of columns that come first, and are no nodes: effects of contexts, and the past.
    """

    table: pd.DataFrame
    design: RankDesign
    choice: Choice
    order: list[int] | None
    also: np.ndarray
    learnt: Learnt
    adjustment: Adjustment | None = None
    positions: np.ndarray | None = None
    leading: int = 0

    @classmethod
    def of(
        cls,
        prepared: Prepared,
        choice: Choice,
        settings: Settings,
        order: Sequence[str] | None = None,
        edges: Edges | None = None,
        knowledge: Knowledge | None = None,
        contrast_rows: pd.DataFrame | None = None,
        columns: Leading = MappingProxyType({}),
    ) -> "Task":
        """The task from the arguments of `refine`; a given order is changed as little as the rules require.

        Args:
            contrast_rows: `contrasts` of all rows, if this table has only a part of them.
            columns: those of the table that lead: effects of contexts, and the past.
        """
        names = list(prepared.counts.columns)
        index, also = {name: node for node, name in enumerate(names)}, np.zeros((len(names),) * 2, dtype=bool)
        if order is not None:
            check_order(order, names[len(columns) :])
            order = [*columns, *order]
        for pair in () if edges is None else read(edges)[0]:
            for name in pair:
                if name not in index:
                    raise InputError(f'An edge names "{name}", which is not a column of the table.')
            also[index[pair[0]], index[pair[1]]] = True
        levels, adjustment = seen(prepared.counts, prepared.adjustment, settings)
        positions, values = None, levels.to_numpy()
        if (as_rates := rates(values, adjustment)) is not None:
            for at, column in enumerate(columns.values()):  # the exposure is that of the row itself
                as_rates[:, at] = values[:, at]
                if isinstance(column, Earlier) and column.lag and adjustment and adjustment.past is not None:
                    as_rates[:, at] = adjustment.past.rates(values[:, at], column.lag)
            positions = ranks_of(as_rates)
        design = design_of(values, adjustment, names, BEFORE, np.float32, positions)
        known = first(names, columns, None if knowledge is None else knowledge.resolve(names))
        if contrast_rows is None:
            from_experiments = learnt_of(Prepared(prepared.counts, adjustment), names, known, choice.margin)
        else:
            from_experiments = learnt(contrast_rows, names, known)
        task = cls(
            prepared.counts, design, choice, None, also, from_experiments, adjustment, positions, leading=len(columns)
        )
        return task if order is None else replace(task, order=task.kept([index[name] for name in order]))

    @property
    def rules(self) -> Resolved | None:
        """The rules of knowledge and of experiments, which every order and graph obeys."""
        return self.learnt.rules

    @property
    def known(self) -> Resolved | None:
        """The rules of knowledge alone."""
        return self.learnt.known

    @property
    def names(self) -> list[str]:
        """The table's columns, by node number."""
        return list(self.table.columns)

    @property
    def group(self) -> np.ndarray | None:
        """Every row's group number, (n,)."""
        return None if self.adjustment is None else self.adjustment.group

    @property
    def arm(self) -> np.ndarray | None:
        """Every row's arm, 0 for a control, (n,)."""
        interventions = None if self.adjustment is None else self.adjustment.interventions
        return None if interventions is None else interventions.arm

    def source_of(self, parent: int, child: int, is_sure: bool) -> str:
        """The source of an edge's direction, one of `SOURCES`; `is_sure` if the model class decides it."""
        return self.learnt.source_of(parent, child) or (CLASS if is_sure else NO_SOURCE)

    def is_required(self, parent: int, child: int) -> bool:
        """Whether knowledge requires an edge."""
        return self.known is not None and bool(self.known.required[parent, child])

    def kept(self, order: list[int]) -> list[int]:
        """The order itself, or the nearest one that obeys the rules."""
        return order if self.rules is None else self.rules.sorted(order)

    def drawn(self, rows: np.ndarray) -> tuple["Task", np.ndarray] | None:
        """The task on rows, (n,) numbers, without constant columns, and the other columns' numbers; None if none
        remains.
        """
        ranks = self.design.ranks[rows]
        varies = np.flatnonzero(ranks.min(0) < ranks.max(0))
        if not len(varies):
            return None
        adjustment = None if self.adjustment is None else self.adjustment.take(rows)
        positions = None if self.positions is None else self.positions[np.ix_(rows, varies)]
        table = self.table.iloc[rows, varies]
        dtype = self.design.columns.dtype
        design = design_of(ranks[:, varies], adjustment, list(table.columns), BEFORE, dtype, positions)
        index = {int(node): at for at, node in enumerate(varies)}
        order = None if self.order is None else [index[node] for node in self.order if node in index]
        also = self.also[np.ix_(varies, varies)]
        learnt = self.learnt.part(varies.tolist())
        return Task(table, design, self.choice, order, also, learnt, adjustment, positions), varies


def searched_rows(counts: np.ndarray) -> np.ndarray | None:
    """The rows of counts, (n, d), to search: numbers, spread evenly over the rows' totals; None if that is all of them.

    A few rows are added for a column that would be nearly constant otherwise.
    """
    rows = len(counts)
    if rows <= MOST_ROWS:
        return None
    by_total = np.argsort(counts.sum(1), kind="stable")
    chosen = np.zeros(rows, bool)
    chosen[by_total[((np.arange(MOST_ROWS) + 0.5) * rows / MOST_ROWS).astype(int)]] = True
    for column in counts.T:
        values, times = np.unique(column[chosen], return_counts=True)
        rarer = column != values[times.argmax()]
        if (few := int((rarer & chosen).sum())) < _FEW:
            chosen[np.flatnonzero(rarer & ~chosen)[: _FEW - few]] = True
    return np.flatnonzero(chosen)


def whole_design(prepared: Prepared, settings: Settings) -> RankDesign | None:
    """All rows, for fits of merged rows; None with an adjustment, which no two rows may share."""
    if prepared.adjustment is not None:
        return None
    levels, _ = seen(prepared.counts, None, settings)
    return RankDesign.of(dense_ranks(levels.to_numpy()), prior=BEFORE, dtype=np.float32, at_rows=False)
