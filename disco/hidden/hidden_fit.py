"""The likelihood of counts under a graph with or without something hidden, and the search for such a graph.

Structural expectation maximisation (Friedman, 1997): the graph is searched with the expected functions of what is
hidden as columns, then its coefficients and every row's posterior are fitted, and so on. At the end, columns that are
not worth their cost by the likelihood of counts are left out.
"""

from dataclasses import dataclass

import numpy as np

from disco.hidden.conditionals import (
    BINS,
    NEVER,
    Coefficients,
    Laws,
    PointMeans,
    Seen,
    cross_tables,
    expect,
    fit_tables,
    improve,
)
from disco.hidden.linear_columns import LEVELS, LinearColumns
from disco.hidden.shapes import NOTHING, HiddenShape
from disco.hidden.sparse_search import Search, Sparse, least_squares

_SEARCHES, _PRUNINGS = 6, 8
_STEPS, _LAST_STEPS = 4, 12  # of the coefficients, per graph and for the best one
_GAIN, _SEARCH_GAIN = 0.1, 0.3  # nats: the least of a step, and of a search
_BEHIND_AFTER_TWO, _BEHIND_AT_LAST = 100.0, 40.0  # nats behind: after two searches, and after the last one
_FEWEST_ROWS = 10  # rows of a kind
_TINY = 1e-12


@dataclass(frozen=True, eq=False)
class HiddenFit:
    """A fitted graph."""

    shape: HiddenShape  # of what is hidden
    graph: Sparse
    nats: float  # its log-likelihood minus its cost
    posterior: np.ndarray  # of every row's points, (n, G)
    means: np.ndarray  # by what is not hidden, (n, d)
    effects: np.ndarray  # of the points, (G, d)
    logs: np.ndarray  # log p(level | bin of the mean), (d, bins, levels)
    losses: np.ndarray  # the predicted loss of likelihood without each of a node's columns, nats, (d, p), padded with ∞

    @property
    def shares(self) -> np.ndarray:
        """Prior of the points, (G,)."""
        return self.posterior.mean(0) if self.shape.shares is None else self.shape.shares


def without_hidden(search: Search, graph: Sparse) -> HiddenFit:
    """A graph in which nothing is hidden, fitted and pruned."""
    return _pruned(search, _fitted(search, graph, NOTHING, np.ones((search.columns.rows, 1)), _LAST_STEPS))


def with_hidden(search: Search, shape: HiddenShape, posterior: np.ndarray, threshold: float) -> HiddenFit | None:
    """The best graph with something hidden, from a first posterior, (n, G); None if nothing follows it.

    None also if it falls far behind `threshold`, the nats of the best graph without anything hidden, for which
    `search` has run.
    """
    order, best, reached, begun = search.best[0].order, None, -np.inf, posterior
    for number in range(_SEARCHES):
        if _is_empty(shape, posterior):
            break
        graph = search.with_functions(_moments(search, shape, posterior)[0], order)
        if not graph.following.any():
            break
        candidate = _fitted(search, graph, shape, posterior, _STEPS)
        order, posterior = graph.order, candidate.posterior
        best = candidate if best is None or candidate.nats > best.nats else best
        if candidate.nats < reached + _SEARCH_GAIN or (number and candidate.nats < threshold - _BEHIND_AFTER_TWO):
            break
        reached = candidate.nats
    if best is None or best.nats < threshold - _BEHIND_AT_LAST:
        return None
    functions = len(search.columns.moments) + np.arange(shape.functions.shape[1])
    alone = search.sparse(best.graph.order, [functions] * search.columns.nodes)
    starts = (best.graph, best.posterior), (alone, begun)
    fits = (_pruned(search, _fitted(search, graph, shape, first, _LAST_STEPS)) for graph, first in starts)
    return max(fits, key=lambda fit: fit.nats)


def _pruned(search: Search, fit: HiddenFit) -> HiddenFit:
    """The fit without columns that are not worth their cost, one per node at a time."""
    for _ in range(_PRUNINGS):
        losses = fit.losses.min(1)
        if losses.min() >= search.cost:
            break
        smaller = _without(search, fit, losses < search.cost)
        if smaller.nats <= fit.nats:
            smaller = _without(search, fit, losses == losses.min())
        if smaller.nats <= fit.nats:
            break
        fit = smaller
    return fit


def _without(search: Search, fit: HiddenFit, chosen: np.ndarray) -> HiddenFit:
    """The fit in which the chosen nodes, (d,), lack the column with the smallest loss."""
    columns, weakest = fit.graph.parents, fit.losses.argmin(1)
    parents = [
        np.delete(parent_columns, at) if is_chosen else parent_columns
        for parent_columns, at, is_chosen in zip(columns, weakest, chosen, strict=True)
    ]
    return _fitted(search, search.sparse(fit.graph.order, parents), fit.shape, fit.posterior, _LAST_STEPS)


def _fitted(search: Search, graph: Sparse, shape: HiddenShape, posterior: np.ndarray, steps: int) -> HiddenFit:
    """A graph with coefficients of high likelihood, from those of least squares."""
    columns = search.columns
    seen = Seen(columns.values, columns.codes, columns.scores)
    means, functions, coefficients = _least_squares(search, graph, shape, posterior)
    laws = _laws(columns)
    tables = np.empty_like(laws.logs)
    cost, best = search.cost * graph.size + np.log(columns.rows) / 2 * shape.free_shares, None
    for _ in range(steps):
        cross_tables(seen, means, tables)
        fit_tables(tables, columns.scores, laws)
        shares = means.weights.mean(0) if shape.shares is None else shape.shares
        nats = expect(seen, means, laws.logs, shares) - cost
        gain = np.inf if best is None else nats - best.nats
        if gain > 0:
            posterior, of_rows, of_points = means.weights.copy(), means.of_rows.copy(), means.of_points.copy()
            best = HiddenFit(shape, graph, nats, posterior, of_rows, of_points, laws.logs.copy(), coefficients.losses)
        if gain < _GAIN or _is_empty(shape, means.weights):
            break
        improve(seen, functions, means, laws, coefficients)
    assert best is not None
    return best


def _laws(columns: LinearColumns) -> Laws:
    """The first conditional distributions: a mean is that of the normal scores."""
    slopes = np.zeros((2, columns.nodes, 2))
    slopes[:, :, 0] = 1.0
    bases = np.tile(np.log(np.maximum(columns.sizes, _TINY) / columns.rows), (2, 1, 1))
    logs = np.full((columns.nodes, BINS, LEVELS), NEVER)
    return Laws(slopes, bases, np.zeros(columns.nodes, dtype=np.int64), logs)


def _is_empty(shape: HiddenShape, posterior: np.ndarray) -> bool:
    """Whether hardly any row is of some kind."""
    return shape.shares is None and float(posterior.sum(0).min()) < _FEWEST_ROWS


def _moments(search: Search, shape: HiddenShape, posterior: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Correlations of all columns and the expected functions, the centred functions, (G, q), and their spread, (q,)."""
    columns, shares = search.columns, posterior.mean(0)
    centred = shape.functions - shares @ shape.functions
    spread = np.sqrt(np.maximum(shares @ centred**2, _TINY))
    scaled, size = centred / spread, len(columns.moments)
    moments = np.empty((size + len(spread),) * 2)
    moments[:size, :size] = columns.moments
    moments[size:, :size] = (posterior @ scaled).T @ columns.values / columns.rows
    moments[:size, size:] = moments[size:, :size].T
    moments[size:, size:] = (scaled.T * shares) @ scaled
    return moments, centred, spread


def _least_squares(
    search: Search, graph: Sparse, shape: HiddenShape, posterior: np.ndarray
) -> tuple[PointMeans, np.ndarray, Coefficients]:
    """The means by least squares, the centred functions, (G, q), and the coefficients."""
    columns, n_columns = search.columns, len(search.columns.moments)
    moments, functions, spread = _moments(search, shape, posterior)
    sizes = np.array([*map(len, graph.parents)])
    parents = np.full((columns.nodes, max(1, sizes.max())), -1)
    values, losses = np.zeros(parents.shape), np.full(parents.shape, np.inf)
    slopes, effects = np.zeros((n_columns, columns.nodes)), np.zeros((len(spread), columns.nodes))
    for node, parent_columns in enumerate(graph.parents):
        coefficients, _ = least_squares(moments, columns.children[node], parent_columns)
        seen = int((parent_columns < n_columns).sum())
        coefficients[seen:] /= spread[parent_columns[seen:] - n_columns]
        parents[node, : len(parent_columns)], values[node, : len(parent_columns)] = parent_columns, coefficients
        slopes[parent_columns[:seen], node] = coefficients[:seen]
        effects[parent_columns[seen:] - n_columns, node] = coefficients[seen:]
    of_rows = columns.offset + columns.values @ slopes
    means = PointMeans(of_rows, functions @ effects, graph.following, posterior.copy())
    return means, np.ascontiguousarray(functions), Coefficients(parents, sizes, values, losses)
