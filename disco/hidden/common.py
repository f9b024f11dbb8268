"""A common cause of many columns that is not in the table: a factor, a position on a circle, or kinds of rows.

The best sparse graph is compared with graphs that have something hidden at the root, by their likelihoods minus what
their columns cost. Something hidden has to gain likelihood *and* to make three in ten edges unnecessary: what
merely bends or spreads conditional distributions saves no edges.

The kind of every row of a table follows from the kinds in the part of its rows that was searched.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.stats import rankdata

from disco.hidden import shapes
from disco.hidden.conditionals import PointMeans, Seen, expect
from disco.hidden.hidden_fit import HiddenFit, with_hidden, without_hidden
from disco.hidden.linear_columns import columns_of, explained, functions_of, normal_scores
from disco.hidden.shapes import CIRCLE, CURVED, PLANE, STRAIGHT, HiddenShape, kinds
from disco.hidden.sparse_search import Search
from disco.progress import SILENT, Reporter
from disco.table.adjustment import Adjustment

_ROWS = (2000, 4000)  # most rows of tables of many and of few columns; a random part of more
_CELLS = 40_000
_MOST_COLUMNS = 100  # those correlated most of a table of more
FEWEST_ROWS = 100
LEAST_EDGES = 3  # in the graph without anything hidden
_SAVED, _SAVED_EDGES = 0.3, 2  # edges: share and number
_LEAST_FOLLOWING = 4  # columns, at least
_GAINS = {0.0: 8.0, 0.6: 30.0}  # nats: least gain, by the share of the pairs that edges join
_GAIN_OF_FEW, _FEW_JOINED = 60.0, 0.75  # nats: with few columns, nearly all of them joined
_GAINS_OF_PARTS, _PART = (20.0, 60.0), 0.5  # nats: a factor, and kinds of rows, that save a smaller share of the edges
_KINDS = (2, 3, 4)
_FEW_COLUMNS = 8  # columns, below which two factors cannot be told from edges, and hardly anything from a dense graph
_CORE_COLUMNS = 4  # columns
_BLOCK = 10_000  # rows whose kinds are computed at a time
_FURTHER_SEARCHES = 6  # searches for a graph without anything hidden, before something is said to be


@dataclass(frozen=True, eq=False)
class CommonCause:
    """Something hidden that many columns follow.

    Attributes:
        search: with the columns that `fitted` uses.
        rows, varied: the rows used, and the columns that vary in them, by position.
    """

    columns: tuple[int, ...]  # columns that follow it, by position
    gain: float  # in log-likelihood minus cost over the graph without it, nats
    edges: int  # without it
    edges_left: int  # with it
    kinds: int  # number of kinds of rows; 0 for a factor or a circle
    fitted: HiddenFit
    search: Search
    rows: np.ndarray
    varied: np.ndarray


def common_cause(
    values: np.ndarray, adjustment: Adjustment | None = None, reporter: Reporter = SILENT, stage: str = ""
) -> CommonCause | None:
    """The clearest common cause of many columns, (rows, columns), given an adjustment; None if none stands out."""
    random = np.random.default_rng(0)
    max_rows = int(np.clip(_CELLS // max(values.shape[1], 1), *_ROWS))
    rows = np.sort(random.permutation(len(values))[:max_rows])
    varied = np.flatnonzero(np.ptp(values[rows], axis=0) > 0) if len(rows) else rows
    if len(rows) < FEWEST_ROWS or len(varied) < _CORE_COLUMNS:
        return None
    adjustment_of_rows = adjustment if adjustment is None or len(rows) == len(values) else adjustment.take(rows)
    if len(varied) > _MOST_COLUMNS:
        varied = varied[_most_related(values[np.ix_(rows, varied)])]
    search = Search(columns_of(values[np.ix_(rows, varied)], adjustment_of_rows), reporter)
    if not search.best or search.best[0].edges < LEAST_EDGES:
        return None
    compared, fits = _without(search), list[HiddenFit]()
    begun = list(_begun(search, random))
    for number, (shape, posterior) in enumerate(begun):
        reporter.step(stage, number, len(begun))
        fit = with_hidden(search, shape, posterior, compared.nats)
        fits += [] if fit is None else [fit]
    if any(_stands_out(fit, compared) for fit in fits):
        for fit in fits:
            if fit.nats > compared.nats:
                search.further(fit.graph.order)
        for _ in range(_FURTHER_SEARCHES):
            search.further()
        compared = max(compared, _without(search), key=lambda candidate: candidate.nats)
    standing = [fit for fit in fits if _stands_out(fit, compared)]
    if not standing:
        return None
    best = max(standing, key=lambda candidate: candidate.nats)
    columns = tuple(varied[best.graph.following].tolist())
    gain, number = float(best.nats - compared.nats), len(best.shape.functions) if best.shape.shares is None else 0
    return CommonCause(columns, gain, compared.graph.edges, best.graph.edges, number, best, search, rows, varied)


def _most_related(values: np.ndarray) -> np.ndarray:
    """The columns whose ranks correlate most with those of the others, by position."""
    ranks = rankdata(values, axis=0)
    standard = (ranks - ranks.mean(0)) / ranks.std(0)
    squares = (standard.T @ standard / len(standard)) ** 2
    return np.sort(np.argsort(-squares.sum(0), kind="stable")[:_MOST_COLUMNS])


def _without(search: Search) -> HiddenFit:
    """The best graph without anything hidden."""
    return max((without_hidden(search, graph) for graph in search.best), key=lambda fit: fit.nats)


def _begun(search: Search, random: np.random.Generator) -> Iterator[tuple[HiddenShape, np.ndarray]]:
    """Every shape with a first posterior."""
    children = search.columns.values[:, search.columns.children]
    nodes = search.columns.nodes
    line = shapes.on_line(children, np.arange(nodes))
    yield STRAIGHT, line
    yield CURVED, shapes.along(children, line, CURVED)
    core = _core(search.best[0].joined)
    if _CORE_COLUMNS <= len(core) < nodes:
        yield STRAIGHT, shapes.on_line(children, core)
    yield CIRCLE, shapes.along(children, shapes.on_circle(children), CIRCLE)
    if nodes >= _FEW_COLUMNS:
        yield PLANE, shapes.along(children, shapes.on_plane(children), PLANE)
    for number in _KINDS:
        yield kinds(number), shapes.of_kinds(children, number, random)


def _core(joined: np.ndarray) -> np.ndarray:
    """The nodes with the most joined pairs per node, found by repeatedly removing the least joined one."""
    alive, best, densest = np.ones(len(joined), dtype=bool), np.arange(0), -1.0
    while alive.sum() > 2:
        degrees = (joined & alive).sum(1)
        if (density := degrees[alive].mean()) >= densest:
            best, densest = np.flatnonzero(alive), density
        alive[np.where(alive, degrees, len(joined)).argmin()] = False
    return best


def _stands_out(fit: HiddenFit, compared: HiddenFit) -> bool:
    edges, remaining, nodes = compared.graph.edges, fit.graph.edges, len(fit.graph.following)
    is_simpler = remaining <= edges - _SAVED_EDGES and remaining <= (1 - _SAVED) * edges
    joined = 2 * edges / (nodes * (nodes - 1))
    required = max(gain for share, gain in _GAINS.items() if joined >= share)
    if nodes < _FEW_COLUMNS and joined >= _FEW_JOINED:
        required = _GAIN_OF_FEW
    if remaining > (1 - _PART) * edges:  # a column with several modes may be taken for kinds
        required = max(required, _GAINS_OF_PARTS[fit.shape.shares is None])
    return is_simpler and fit.graph.following.sum() >= _LEAST_FOLLOWING and fit.nats - compared.nats >= required


class _Known(NamedTuple):
    """A column in the searched rows: its distinct values, with their normal scores and levels."""

    values: np.ndarray
    normal: np.ndarray
    codes: np.ndarray


def kinds_of_rows(values: np.ndarray, adjustment: Adjustment | None, cause: CommonCause) -> np.ndarray:
    """The most likely kind of every row of a table, (rows,), from 0; for a common cause with kinds only."""
    fit = cause.fitted
    if len(cause.rows) == len(values):
        return fit.posterior.argmax(1)
    free, counts, row_kinds = explained(adjustment, len(values)), values[:, cause.varied], []
    known_columns = [
        _known_column(*column) for column in zip(counts[cause.rows].T, cause.search.columns.codes.T, strict=True)
    ]
    # Means are sums of functions of the counts, so least squares on the rows looked at finds them exactly.
    seen = _design(counts[cause.rows], free[cause.rows], known_columns)
    slopes = np.linalg.lstsq(seen, fit.means, rcond=None)[0]
    for start in range(0, len(values), _BLOCK):
        block = slice(start, start + _BLOCK)
        codes = np.column_stack([_codes(*column) for column in zip(counts[block].T, known_columns, strict=True)])
        of_rows = _design(counts[block], free[block], known_columns) @ slopes
        means = PointMeans(of_rows, fit.effects, fit.graph.following, np.empty((len(codes), cause.kinds)))
        expect(Seen(of_rows[:, :0], codes, cause.search.columns.scores), means, fit.logs, fit.shares)
        row_kinds.append(means.weights.argmax(1))
    return np.concatenate(row_kinds)


def _known_column(values: np.ndarray, codes: np.ndarray) -> _Known:
    unique, first = np.unique(values, return_index=True)
    return _Known(unique, normal_scores(values)[first], codes[first])


def _codes(values: np.ndarray, column: _Known) -> np.ndarray:
    """Every count's level: that of the nearest lower known value."""
    return column.codes[np.maximum(np.searchsorted(column.values, values, side="right") - 1, 0)]


def _design(counts: np.ndarray, free: np.ndarray, known_columns: list[_Known]) -> np.ndarray:
    """What the rows are adjusted for, and all functions of all counts, (n, columns)."""
    columns = [free]
    for values, column in zip(counts.T, known_columns, strict=True):
        inside = np.clip(values, column.values[0], column.values[-1])
        columns += functions_of(inside, np.interp(inside, column.values, column.normal), column.values[0])
    return np.column_stack(columns)
