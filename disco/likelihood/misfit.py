"""The misfit of a node, in nats: what the class of models misses in its conditional distribution.

Directions are identified by the class of models, so they can be trusted only as far as the class fits. The misfit is
the gain in log-likelihood of a more flexible distribution of the node given its parents over the fitted one, on
held-out rows. The levels are divided into at most six groups g with about equally many rows. The flexible model
multiplies the fitted model's probability of a group by exp(Σ_f w_gf z_f), where the z_f are smooth functions of each
parent, of the fitted mean, and of their products, and the columns of covariates. It is fitted to one half of the rows,
with the best ridge for the other half, and its gain in log-likelihood is summed over both halves; without a gain for
any ridge, the misfit is 0. So a node of the class has a misfit of 0 to within a nat. A model with few weights is tried
too, whose gain beyond that of chance counts if it is larger: there g enters through its square, its cube and whether it
is the lowest level alone, times linear functions of the parents. These are the usual departures, a spread and a share
of zeros that parents move; the flexible model finds them only with more rows. Boosted trees, which must first
learn the fitted model, detect far less misfit (benchmarks/log/2026-11-22-honest-directions.md).
"""

from collections.abc import Sequence

import numpy as np
from scipy.linalg import helmert
from scipy.special import ndtri, softmax

from disco.likelihood.batch import BatchDesign, Problems
from disco.likelihood.newton import fit
from disco.likelihood.rank_design import WIDTH, RankDesign, orthonormal
from disco.paper.ranks import fold_of_rows
from disco.progress import SILENT, Reporter

_GROUPS = 6
_COLUMNS = 60  # largest number of functions of the parents
_OWN = 24  # largest number of the rows' own columns among them
_RIDGES = (3.0, 30.0, 300.0)
_STEPS = 2  # further steps of Newton's method, if the first has a gain
_FEW = 5  # a parent with at most this many levels has a free effect
_BY_CHANCE = 2.0  # nats that the model with few weights gains in one node of the class in a hundred
_LARGEST = 5.0  # largest absolute value in a column of unit variance, so that single rows do not dominate the fit
_CELLS = 4_000_000  # rows × levels at a time
_SIDE_BY_SIDE = 32  # nodes fitted per batch

_Model = tuple[np.ndarray, np.ndarray, Sequence[float]]  # columns, contrasts, ridges of `_gain`


def misfits(
    design: RankDesign,
    pairs: Sequence[tuple[int, Sequence[int]]],
    *,
    group: np.ndarray | None = None,
    reporter: Reporter = SILENT,
) -> np.ndarray:
    """The misfit of nodes given parents, nats over all rows, at least 0; NaN if a fit has no finite likelihood.

    The halves of the rows do not divide a group of `group`, (n,).

    Raises:
        FitStopped: the reporter's callback stopped the work.
    """
    halves, nats = fold_of_rows(design.rows, 2, seed=0, group=group), []
    for number, (node, parents) in enumerate(pairs):
        reporter.check()
        if number % _SIDE_BY_SIDE == 0:
            batch = [(child, sorted(its)) for child, its in pairs[number : number + _SIDE_BY_SIDE]]
            fitted = fit(design, Problems.of(batch)).theta
        expected, mean = _expected(design, node, parents, fitted[number % _SIDE_BY_SIDE])
        if not np.isfinite(expected).all():
            nats.append(np.nan)
            continue
        groups = _groups(design, node)
        seen, contrasts = groups[design.ranks[:, node]], helmert(groups[-1] + 1)
        models: list[_Model] = [(_columns(design, parents, mean), contrasts, _RIDGES)]
        if parents and len(shapes := _shapes(design, node, groups)):
            models.append((_straight(design, parents, mean), shapes, _RIDGES[:1]))
        fitted_rows = np.ones(design.rows, bool) if design.own_rows is None else design.own_rows[node] > 0
        half_rows = [(halves == half) & fitted_rows for half in (0, 1)]
        both = (half_rows, half_rows[::-1])
        gains = [sum(_gain(expected, seen, *model, *halved) for halved in both) for model in models]
        nats.append(max(gains[0], *(gain - _BY_CHANCE for gain in gains[1:]), 0.0))
    return np.array(nats, dtype=float)


def _groups(design: RankDesign, node: int) -> np.ndarray:
    counts = design.counts[node][design.exists[node]]
    if len(counts) <= _GROUPS:
        return np.arange(len(counts))
    middle = (np.cumsum(counts) - counts / 2) / counts.sum()
    return np.unique((middle * _GROUPS).astype(int), return_inverse=True)[1]


def _expected(
    design: RankDesign, node: int, parents: Sequence[int], theta: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Log-probabilities of the groups, (n, groups), and the mean, (n,), at fitted coefficients, (P or more,)."""
    batch = BatchDesign(design, Problems.of([(node, sorted(parents))]))
    theta = theta[None, : design.head + WIDTH * len(parents)]
    eta, weights = batch.bent(theta)[0][0].astype(float), batch.log_weights(theta)[0]
    value = batch.value[0]
    groups = _groups(design, node)
    member = np.eye(groups[-1] + 1)[groups]
    logs, means = [], []
    at_once = max(_CELLS // len(value), 1)
    for first in range(0, len(eta), at_once):
        probability = softmax(eta[first : first + at_once, None] * value + weights, 1)
        logs.append(np.log(np.maximum(probability @ member, 1e-12)))
        means.append(probability @ value)
    return np.concatenate(logs), np.concatenate(means)


def _columns(design: RankDesign, parents: Sequence[int], mean: np.ndarray) -> np.ndarray:
    """A column of 1 and functions of the parents and of the fitted mean, of unit variance, (n, columns)."""
    mean = _standard(mean[:, None])[:, 0]
    scores: list[np.ndarray] = []
    effects, products = [], []
    row_columns = design.columns[design.nodes :].reshape(-1, design.rows)[design.kinds.ravel() >= 0].astype(float)
    for parent in parents:
        ranks = design.parent_ranks[:, parent]
        counts = np.bincount(ranks)
        if len(counts) <= _FEW:
            effects += [ranks == level for level in range(1, len(counts))]
            score = _standard(ranks[:, None].astype(float))[:, 0]
        else:
            score = _normal_scores(ranks)
            effects += [score, score**2, score**3, ranks]
        products += [score * factor for factor in (mean, *scores)]
        scores.append(score)
    shape = [mean, mean**2, mean**3] if parents or len(row_columns) else []
    columns = [*shape, *row_columns[:_OWN], *effects, *products][:_COLUMNS]
    flexible = _standard(np.column_stack([*columns, np.empty((design.rows, 0))]))
    return np.column_stack([np.ones(design.rows), flexible])


def _straight(design: RankDesign, parents: Sequence[int], mean: np.ndarray) -> np.ndarray:
    """A column of 1, the fitted mean and the normal score of each parent, of unit variance, (n, 2 + parents)."""
    scores = [_normal_scores(design.parent_ranks[:, parent]) for parent in parents]
    return np.column_stack([np.ones(design.rows), _standard(np.column_stack([mean, *scores]))])


def _shapes(design: RankDesign, node: int, groups: np.ndarray) -> np.ndarray:
    """Functions of a node's groups, orthogonal to 1 and to their mean level under their shares, (functions, groups)."""
    counts = design.counts[node][design.exists[node]]
    rows = np.bincount(groups, counts)
    share = rows / rows.sum()
    level = np.bincount(groups, counts * np.arange(len(counts))) / rows
    level = (level - share @ level) / np.sqrt(share @ (level - share @ level) ** 2)
    is_lowest = [np.arange(len(rows)) == 0] if (groups == 0).sum() == 1 else []
    shapes = np.column_stack([level**2, level**3, *is_lowest])
    return orthonormal(shapes, share, [np.ones_like(share), level]).T


def _normal_scores(ranks: np.ndarray) -> np.ndarray:
    counts = np.bincount(ranks)
    return ndtri((np.cumsum(counts) - counts / 2) / counts.sum())[ranks]


def _standard(columns: np.ndarray) -> np.ndarray:
    centred = columns - columns.mean(0)
    return (centred / np.maximum(centred.std(0), 1e-9)).clip(-_LARGEST, _LARGEST)


def _gain(
    expected: np.ndarray,
    seen: np.ndarray,
    columns: np.ndarray,
    contrasts: np.ndarray,
    ridges: Sequence[float],
    learnt: np.ndarray,
    held: np.ndarray,
) -> float:
    """The gain of a more flexible model, fitted to the rows `learnt` with the best ridge, on the rows `held`, nats.

    `contrasts` are functions of the groups, (functions, groups); a constant one would have no effect.
    """
    groups, size = expected.shape[1], columns.shape[1]
    rows, offset, target = columns[learnt], expected[learnt], np.eye(groups)[seen[learnt]]
    held_columns, start, observed = columns[held], expected[held], (np.arange(held.sum()), seen[held])
    fitted_gain = _log_softmax(start)[observed].sum()

    def gain(weights: np.ndarray) -> float:
        return float(_log_softmax(start + held_columns @ weights @ contrasts)[observed].sum() - fitted_gain)

    probability = np.exp(_log_softmax(offset))
    information = _information(rows, probability, contrasts)
    gradient = rows.T @ ((target - probability) @ contrasts.T)
    steps = {ridge: _solved(information, gradient, ridge) for ridge in ridges}
    gains = {ridge: gain(step) for ridge, step in steps.items()}
    ridge = max(gains, key=gains.__getitem__)
    weights, best = steps[ridge], max(gains[ridge], 0.0)
    for _ in range(_STEPS if best > 1 else 0):
        probability = np.exp(_log_softmax(offset + rows @ weights @ contrasts))
        gradient = rows.T @ ((target - probability) @ contrasts.T) - _penalty(size, ridge)[:, None] * weights
        weights = weights + _solved(_information(rows, probability, contrasts), gradient, ridge)
        best = max(best, gain(weights))
    return best


def _log_softmax(values: np.ndarray) -> np.ndarray:
    centred = values - values.max(1, keepdims=True)
    return centred - np.log(np.exp(centred).sum(1, keepdims=True))


def _penalty(size: int, ridge: float) -> np.ndarray:
    """The precision of each column's weights, (size,); the groups' shares are nearly free."""
    return np.concatenate([[1.0], np.full(size - 1, ridge)])


def _information(rows: np.ndarray, probability: np.ndarray, contrasts: np.ndarray) -> np.ndarray:
    """Information of the weights, contrast by contrast, (contrasts · size, contrasts · size)."""
    count, size = len(contrasts), rows.shape[1]
    mean, information_blocks = probability @ contrasts.T, np.empty((count, size, count, size))
    for first in range(count):
        for second in range(first + 1):
            weight = probability @ (contrasts[first] * contrasts[second]) - mean[:, first] * mean[:, second]
            information_blocks[first, :, second] = (rows * weight[:, None]).T @ rows
            information_blocks[second, :, first] = information_blocks[first, :, second]
    return information_blocks.reshape(count * size, count * size)


def _solved(information: np.ndarray, gradient: np.ndarray, ridge: float) -> np.ndarray:
    size, count = gradient.shape
    system = information + np.diag(np.tile(_penalty(size, ridge), count))
    return np.linalg.solve(system, gradient.T.ravel()).reshape(count, size).T
