"""Fits of many rows: rows whose parents are equal count as one.

Given the parents, η is the same in all these rows, and the node's own value enters the log-likelihood and its
derivatives linearly. So their number and the mean of their values are all that a fit needs. A million rows with three
parents of fifteen levels are 3,375 cells. The result is that of all rows, but for rounding.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from disco.likelihood.batch import BatchDesign, Problems
from disco.likelihood.newton import Fits, fit_batch, marginal_start
from disco.likelihood.rank_design import WIDTH, RankDesign

_MOST_LISTED = 1 << 22  # combinations of parents' levels that are numbered by a list; more are sorted


def fit_cells(design: RankDesign, node: int, parents: Sequence[int], tolerance: float = 1e-3) -> Fits:
    """Fit one node given ascending parents, as `newton.fit` with all rows; the design needs no columns at the rows.

    It must have neither an offset nor the rows' own columns.
    """
    cell, cells = _numbered([design.parent_ranks[:, parent] for parent in parents], design.rows)
    value = design.value[node][design.ranks[:, node]]
    weight = np.bincount(cell, minlength=cells).astype(float)
    row_of_cell = np.empty(cells, np.int64)
    row_of_cell[cell] = np.arange(design.rows)  # any row of each cell
    nodes = [node, *parents]
    small = _restricted(design, nodes, row_of_cell)
    problem = Problems.of([(0, range(1, len(nodes)))])
    batch = BatchDesign(small, problem)
    batch.weights = weight[None]
    batch.mean = (np.bincount(cell, value, cells) / weight)[None]
    return fit_batch(batch, marginal_start(small, problem), tolerance)


def _numbered(columns: Sequence[np.ndarray], rows: int) -> tuple[np.ndarray, int]:
    """Every row's cell, (n,), and the number of cells: the combinations of levels that occur."""
    cell, cells = np.zeros(rows, np.int64), 1
    for column in columns:
        levels = int(column.max()) + 1
        cell = cell * levels + column
        cells *= levels
        if cells > _MOST_LISTED:
            cell = np.unique(cell, return_inverse=True)[1]
        else:
            is_there = np.zeros(cells, bool)
            is_there[cell] = True
            cell = (np.cumsum(is_there) - 1)[cell]
        cells = int(cell.max()) + 1
    return cell, cells


def _restricted(design: RankDesign, nodes: Sequence[int], rows: np.ndarray) -> RankDesign:
    """The design of some nodes, the first not as a parent, with columns at these rows only, in double precision."""
    columns = np.zeros((len(nodes), WIDTH, len(rows)))
    for number, parent in enumerate(nodes[1:], start=1):
        columns[number] = design.basis[parent][design.parent_ranks[rows, parent]].T
    node_fields = ("value", "exists", "counts", "measure", "measure_width", "basis", "width", "spread", "parent_spread")
    of_nodes = {name: getattr(design, name)[list(nodes)] for name in (*node_fields, "measure_precision")}
    ranks = np.zeros((len(rows), len(nodes)), np.int64)  # x̂ is given instead
    return replace(design, ranks=ranks, parent_ranks=ranks, columns=columns, **of_nodes)
