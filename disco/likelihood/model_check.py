"""Does a fitted DAG generate tables like the observed one, and which graph predicts held-out rows best?

*Simulated tables.* S tables of n rows are drawn from the fitted model. The band of a number is the range of its S
values. If the model had generated the observed table, each number would lie outside its band with probability
2 / (S + 1). Since the model was fitted to the same table, fewer outside are expected; more indicate a misfit.

*Held-out rows.* Every graph is fitted on all folds but one and predicts the rows of that one. A count that does not
occur in the training rows gets a rank from `disco.paper.ranks.rank_on_grid`: the lowest below the grid, the highest
above, and between two counts that of the lower one, but never the lowest. The rule and the grid are the same for all
graphs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from disco.fields import require, whole_from
from disco.likelihood.model import WEAK, Model
from disco.likelihood.rank_design import Prior
from disco.paper.ranks import fold_of_rows
from disco.progress import Callback, Reporter
from disco.table.adjustment import Adjustment
from disco.table.prepared import Prepared, Table, prepare

STATISTICS = ("mean", "ratio", "zeros")
SIMULATIONS = 39  # so that one number in twenty is outside by chance
FOLDS = 5
_DRAW = 0.4  # approximate time to draw one node of a simulated table, in node fits

Parents = Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class Check:
    """A fitted graph compared with its table.

    Attributes:
        columns: one row per column and statistic: node, statistic (mean, ratio of variance to mean, share of zeros),
            observed, low, middle, high, outside.
        pairs: one row per pair: first, second, observed (Spearman's correlation), low, middle, high, outside.
        margins: one row per column and count: node, count, observed (rows), low, middle, high.
        scores: one row per graph: graph, mean (held-out log-likelihood, nats per row).
        differences: one row per pair of graphs: graph, against, difference (nats per row), error (its standard error).
        unseen: the share of held-out counts that do not occur in their training rows.
        note: why no rows were held out; empty otherwise.
    """

    columns: pd.DataFrame
    pairs: pd.DataFrame
    margins: pd.DataFrame
    scores: pd.DataFrame
    differences: pd.DataFrame
    unseen: float
    simulations: int
    note: str = ""

    @property
    def chance(self) -> float:
        """The probability of being outside the band by chance."""
        return 2 / (self.simulations + 1)

    def outside(self, statistic: str) -> tuple[int, int]:
        """The number of values of a statistic, or of "pairs", outside their bands, and the number of all."""
        rows = self.pairs if statistic == "pairs" else self.columns[self.columns["statistic"] == statistic]
        return int(rows["outside"].sum()), len(rows)


def check(
    table: Table,
    graphs: Mapping[str, Parents],
    *,
    adjustment: Adjustment | None = None,
    prior: Prior = WEAK,
    simulations: int = SIMULATIONS,
    folds: int = FOLDS,
    seed: int = 0,
    callback: Callback | None = None,
) -> Check:
    """Check the last of several graphs by simulation, and compare all on held-out rows.

    Args:
        graphs: every node's parents, by the graph's name.
        adjustment: covariates, exposure and groups of the rows; the folds do not divide groups.
        callback: receives the events of the stages fit, simulate and held-out; returning False stops.

    InputError: the table does not contain counts, a graph does not match it, or a number is out of range.
    """
    require("simulations", simulations, whole_from(1))
    require("folds", folds, whole_from(2))
    prepared = prepare(table, adjustment, folds=None)
    counts, group = prepared.counts, None if prepared.adjustment is None else prepared.adjustment.group
    nodes, note = counts.shape[1], _unusable(counts, group, folds, seed)
    weights = {"fit": nodes, "simulate": _DRAW * nodes * simulations, "held-out": nodes * folds * len(graphs)}
    if note:
        del weights["held-out"]
    reporter = Reporter(callback, weights, "the model check was stopped.")
    reporter.step("fit", 0, nodes)
    model = Model.of(prepared, list(graphs.values())[-1], prior=prior, reporter=reporter)
    drawn = []
    for number in range(simulations):
        reporter.step("simulate", number, simulations)
        sample = model.sample(model.design.rows, 1000 * seed + number, model.adjustment)
        ranks = [np.searchsorted(grid, sample.iloc[:, node]) for node, grid in enumerate(model.grids)]
        drawn.append(_numbers(model, np.column_stack(ranks)))
    columns, pairs, margins = _compared(model, drawn)
    if note:
        empty = pd.DataFrame(columns=["graph", "mean"]), pd.DataFrame(columns=["graph", "against"])
        return Check(columns, pairs, margins, *empty, 0.0, simulations, note)
    fold = fold_of_rows(len(counts), folds, seed, group)
    rows, unseen = _held_out(prepared, graphs, prior, fold, reporter)
    scores = pd.DataFrame([(name, float(values.mean())) for name, values in rows.items()], columns=["graph", "mean"])
    return Check(columns, pairs, margins, scores, _differences(rows), unseen, simulations)


def _unusable(table: pd.DataFrame, group: np.ndarray | None, folds: int, seed: int) -> str:
    """Why rows cannot be held out by folds; empty if they can."""
    if len(table) < 4 * folds:
        return f"The table has {len(table)} rows, too few to leave out {folds} parts of them in turn."
    if group is not None and len(np.unique(group)) < folds:
        return f"The rows form {len(np.unique(group))} groups, too few to leave out {folds} parts of them in turn."
    fold = fold_of_rows(len(table), folds, seed, group)
    for name, column in table.items():
        if any(column[fold != number].nunique() < 2 for number in range(folds)):
            return f'Without one part of the rows, "{name}" is constant, so no graph can be fitted to the rest.'
    return ""


@dataclass(frozen=True)
class _Numbers:
    """The compared numbers of one table."""

    columns: np.ndarray  # one number per statistic and column, (3, nodes)
    pairs: np.ndarray  # Spearman's correlations above the diagonal, (pairs,)
    margins: np.ndarray  # rows at each count of every column, one column after another, (counts,)


def _numbers(model: Model, ranks: np.ndarray) -> _Numbers:
    """The numbers of a table on the model's grids, (rows, nodes)."""
    middle = np.empty(ranks.shape)
    statistics, margins = np.zeros((len(STATISTICS), ranks.shape[1])), []
    for node, grid in enumerate(model.grids):
        seen = np.bincount(ranks[:, node], minlength=len(grid))
        share = seen / len(ranks)
        mean = share @ grid
        ratio = (share @ (grid - mean) ** 2) / mean if mean > 0 else 0.0
        statistics[:, node] = mean, ratio, share[grid == 0].sum()
        middle[:, node] = (np.cumsum(seen) - seen / 2)[ranks[:, node]]  # mean rank of the tied rows
        margins.append(seen)
    middle -= middle.mean(axis=0)
    length = np.sqrt((middle**2).sum(axis=0))
    correlation = middle.T @ middle / np.maximum(np.outer(length, length), 1e-12)
    above = np.triu_indices(len(model.names), 1)
    return _Numbers(statistics, correlation[above].astype(np.float32), np.concatenate(margins))


def _compared(model: Model, drawn: Sequence[_Numbers]) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    seen, names = _numbers(model, model.design.ranks), np.array(model.names, dtype=object)
    first, second = np.triu_indices(len(names), 1)
    heads = (
        {"node": np.tile(names, len(STATISTICS)), "statistic": np.repeat(STATISTICS, len(names))},
        {"first": names[first], "second": names[second]},
        {"node": np.repeat(names, [len(grid) for grid in model.grids]), "count": np.concatenate(model.grids)},
    )
    frames = []
    for head, name in zip(heads, ("columns", "pairs", "margins"), strict=True):
        observed = getattr(seen, name).ravel()
        values = np.stack([getattr(numbers, name).ravel() for numbers in drawn])
        low, high, middle = values.min(0), values.max(0), np.median(values, axis=0)
        # Rounding must not put a number outside if every simulated table has it too.
        room = 1e-6 * (1 + np.abs(observed))
        outside = (observed < low - room) | (observed > high + room)
        frames.append(
            pd.DataFrame({**head, "observed": observed, "low": low, "middle": middle, "high": high, "outside": outside})
        )
    return frames[0], frames[1], frames[2]


def _held_out(
    prepared: Prepared, graphs: Mapping[str, Parents], prior: Prior, fold: np.ndarray, reporter: Reporter
) -> tuple[dict[str, np.ndarray], float]:
    """Held-out log-likelihood of every row by graph, (rows,), and the share of counts unseen in training."""
    table = prepared.counts
    rows, unseen = {name: np.empty(len(table)) for name in graphs}, 0
    nodes, fits = table.shape[1], table.shape[1] * len(graphs) * (fold.max() + 1)
    for number in np.unique(fold):
        out = fold == number
        here, there = prepared.take(~out), prepared.take(out)
        previous = None
        for index, (name, parents) in enumerate(graphs.items()):
            reporter.step("held-out", nodes * (len(graphs) * int(number) + index), int(fits))
            model = Model.of(here, parents, prior=prior, known=previous, reporter=reporter)
            rows[name][out] = model.row_log_likelihood(there).sum(1)
            previous = model
        unseen += sum(int((~np.isin(table.iloc[out, node], grid)).sum()) for node, grid in enumerate(model.grids))
    return rows, unseen / table.size


def _differences(rows: Mapping[str, np.ndarray]) -> pd.DataFrame:
    names, differences = list(rows), []
    for index, name in enumerate(names):
        for earlier in names[:index]:
            gap = rows[name] - rows[earlier]
            differences.append((name, earlier, float(gap.mean()), float(gap.std(ddof=1) / np.sqrt(len(gap)))))
    return pd.DataFrame(differences, columns=["graph", "against", "difference", "error"])
