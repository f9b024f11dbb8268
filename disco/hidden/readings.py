"""Whether counts are readings of rates that act on each other, so that counting noise creates edges.

If rates form a graph and every count is a Poisson reading of its rate, a count does not show its rate exactly. So two
neighbours of a third column stay dependent given its count, and an edge joins them. How exactly counts show rates is
their *reliability*: thinned halves of Poisson readings are independent given the rate (`disco.table.thinning`), and
their correlation r gives 2 r / (1 + r) for the whole (Spearman and Brown). Correlations divided by √(reliabilities) are
those of the rates.

A sparse graph of the rates, read with noise, is compared with a sparse graph of the counts, both by the likelihood of
the normal scores' correlations minus the cost of their edges. If counts are causes themselves, the graph of the rates
needs more edges. A column that varies as Poisson counts of one mean has no rate; with one
such column, nothing is compared.
"""

from dataclasses import dataclass, replace

import numpy as np

from disco.hidden.linear_columns import basis, explained, normal_scores
from disco.linear.noisy import Noisy
from disco.progress import SILENT, Reporter
from disco.table.adjustment import Adjustment

MOST_ROWS, MOST_COLUMNS = 4000, 100  # looked at; a random part of more, and no table of more columns
_SAVED, _SAVED_EDGES = 0.25, 2  # edges: share and number
_GAIN, _GAIN_IF_DENSE, _DENSE = 12.0, 35.0, 0.6  # nats, by the share of the pairs that edges join
_FEWEST_COLUMNS = 4
_LEAST_RELIABILITY = 0.1
_HALVINGS = 4
_SEARCHES = 4


@dataclass(frozen=True)
class Readings:
    """A table whose counts are readings of rates."""

    gain: float  # in log-likelihood minus cost of the graph of rates, nats
    edges: int  # among counts
    edges_left: int  # among rates
    pairs: tuple[tuple[int, int], ...]  # joined by an edge among counts but not among rates, by position


def readings(values: np.ndarray, adjustment: Adjustment | None = None, reporter: Reporter = SILENT) -> Readings | None:
    """The evidence that counts, (rows, columns), are readings of rates, given an adjustment; None without it."""
    random = np.random.default_rng(0)
    rows = np.sort(random.permutation(len(values))[:MOST_ROWS])
    varied = np.flatnonzero(np.ptp(values[rows], axis=0) > 0) if len(rows) else rows
    if not _FEWEST_COLUMNS <= len(varied) <= MOST_COLUMNS:
        return None
    adjustment_of_rows = adjustment if adjustment is None or len(rows) == len(values) else adjustment.take(rows)
    counts, free = values[np.ix_(rows, varied)].astype(np.int64), basis(explained(adjustment_of_rows, len(rows)))
    reliability = _reliabilities(counts, free, random)
    if reliability.min() < _LEAST_RELIABILITY:
        return None
    scores = _scores(counts, free)
    cost = (np.log(len(rows)) + np.log(len(varied) - 1)) / 2
    among = [[*range(node), *range(node + 1, len(varied))] for node in range(len(varied))]
    exact = Noisy(scores.T @ scores / len(rows), np.ones((len(varied), 1)), len(rows), cost, among)
    orders = [np.random.default_rng(seed).permutation(len(varied)) for seed in range(_SEARCHES)]
    of_rates = replace(exact, exactness=np.sqrt(reliability)[:, None])
    seen = exact.best(orders, reporter)[0]
    best = of_rates.best([seen.order], reporter, most=seen.size.sum())[0]
    gain = of_rates.nats(best) - exact.nats(seen)
    joined, joined_rates = ({frozenset(edge) for edge in graph.edges} for graph in (seen, best))
    edges, edges_left, nodes = len(joined), len(joined_rates), len(varied)
    required = _GAIN_IF_DENSE if edges >= _DENSE * nodes * (nodes - 1) / 2 else _GAIN
    if edges_left > min(edges - _SAVED_EDGES, (1 - _SAVED) * edges) or gain < required:
        return None
    gone = sorted(sorted(pair) for pair in joined - joined_rates)
    return Readings(gain, edges, edges_left, tuple((int(varied[a]), int(varied[b])) for a, b in gone))


def _scores(counts: np.ndarray, free: np.ndarray) -> np.ndarray:
    """Standardised normal scores without what the free columns explain, (n, d)."""
    scores = np.column_stack([normal_scores(column) for column in counts.T])
    scores -= free @ (free.T @ scores)
    return scores / np.maximum(scores.std(0), np.finfo(float).tiny)


def _reliabilities(counts: np.ndarray, free: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """How exactly counts show rates, (d,): 1 without counting noise."""
    together = np.zeros(counts.shape[1])
    for _ in range(_HALVINGS):
        half = random.binomial(counts, 0.5)
        together += (_scores(half, free) * _scores(counts - half, free)).mean(0) / _HALVINGS
    return 2 * together / (1 + together)
