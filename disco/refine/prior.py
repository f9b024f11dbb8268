"""The prior of a table's effects, edges and directions, fitted to it (empirical Bayes).

The sizes and bends of a table's effects are unknown, and a prior that is far off misjudges every edge. So the prior is
fitted to the graph of a first search. The precisions of bends, links and covariate effects are fitted by MacKay's fixed
point λ = Σ (1 − λ V) / Σ θ² over the coefficients θ of one kind with posterior variances V (MacKay, Neural Computation
1992), which maximises Laplace's marginal likelihood. The linear effects' mean, precision and the units in which they
are most similar (`Prior.power`) maximise it under the normal likelihoods at the fits. If most effects of a table have
one sign and similar sizes, a weak edge needs more evidence if its sign or size is atypical, and less if it is typical
(benchmarks/log/2026-11-22-effect-units.md).

The trust in a given order is fitted too, to the edges whose direction the rows decide.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.optimize import minimize, minimize_scalar

from disco.columns import FREE
from disco.knowledge import Resolved
from disco.likelihood.batch import Problems
from disco.likelihood.newton import Fits, fit
from disco.likelihood.rank_design import WIDTH, Prior, RankDesign
from disco.likelihood.small import inverse
from disco.refine.node_scores import AGAINST, SEARCHING, Scores
from disco.refine.reversal import reversals
from disco.refine.screen import widened
from disco.refine.stepwise import Parents

BEFORE = Prior(10.0, 1000.0, 4.0)  # initial prior of a search: effects about as in simulated designs
# Prior means of mean, power and log precision of the linear effects, the precisions of these, so that few edges do not
# determine them, and bounds.
_EXPECTED = np.array([0.0, 0.0, math.log(BEFORE.linear)])
_PRECISIONS = np.array([10.0, 4.0, 0.5])
_LINEAR_BOUNDS = ((-2.0, 2.0), (0.0, 1.0), (0.0, math.log(30_000.0)))
_TOLD = 5.0  # direction evidence, in nats, of an edge that counts for the trust in an order
_ROUNDS = 5
_BOUNDS = ((100.0, 30_000.0), (1.0, 1000.0))  # of the precisions of bends and link, against few misleading edges
_BESIDE_BOUNDS = (0.01, 30_000.0)  # of the precisions of the rows' own columns


def fitted_to(scores: Scores, order: Sequence[int], parents: Sequence[Parents]) -> Scores:
    """Scores under the prior fitted to a graph, with the candidates that the graph adds to the screen."""
    design = replace(scores.design, prior=fitted(scores.design, parents))
    against = scores.against if scores.order is None else trust(scores, order, parents)
    again = scores.replace(
        design=design, odds=log_odds(design.nodes, sum(map(len, parents)), scores.rules), against=against
    )
    return again.replace(candidates=widened(again, order, parents))


def log_odds(nodes: int, edges: int, rules: Resolved | None = None) -> float:
    """The log prior odds against one more edge, nats, under a flat prior on the number of adjacent pairs.

    Pairs that the rules do not allow, as of two columns of the past, do not count.

    The odds are (pairs − edges + 1) : (edges + 1), at least even (Scott and Berger, Annals of Statistics 2010), so that
    a table without edges has none.
    """
    pairs = nodes * (nodes - 1) / 2
    if rules is not None:
        pairs -= np.triu(rules.forbidden & rules.forbidden.T, 1).sum()
    return math.log(max((pairs - edges + 1) / (edges + 1), 1.0))


def trust(scores: Scores, order: Sequence[int], parents: Sequence[Sequence[int]]) -> float:
    """The slope of the log odds that an edge agrees with the scores' order, per share of the order between its nodes.

    A logistic regression on those edges of a graph whose direction is decided by the rows, not by knowledge. One
    pseudo-edge across a tenth of the order is added, which agrees with it as often as `AGAINST` says; without any edge,
    the result is `AGAINST`. Nats for the whole order, 0 to 40.
    """
    assert scores.order is not None  # without an order there is nothing to trust
    index, rules = {node: at for at, node in enumerate(scores.order)}, scores.rules
    spans = [
        (index[reversal.child] - index[reversal.parent]) / len(index) * math.copysign(1.0, reversal.nats)
        for reversal in reversals(scores.replace(order=None), order, [tuple(nodes) for nodes in parents])
        if abs(reversal.nats) >= _TOLD and (rules is None or rules.of_edge(reversal.parent, reversal.child) == FREE)
    ] + [0.1, -0.1]
    along, counts = np.array(spans), np.append(np.ones(len(spans) - 1), math.exp(-0.1 * AGAINST))
    return float(
        minimize_scalar(lambda nats: counts @ np.logaddexp(0, -nats * along), bounds=(0, 40), method="bounded").x
    )


def fitted(design: RankDesign, parents: Sequence[Sequence[int]]) -> Prior:
    """The prior of a graph's effects; `design` has the initial prior."""
    by_size: dict[int, list[int]] = {}
    for node, nodes in enumerate(parents):
        by_size.setdefault(len(nodes), []).append(node)
    batches = [
        Problems.of([(node, sorted(parents[node])) for node in nodes])
        for size, nodes in by_size.items()
        if size or design.own
    ]
    starts: list[np.ndarray | None] = [None] * len(batches)
    for _ in range(_ROUNDS):
        fits = [
            fit(design, problems, start, tolerance=SEARCHING) for problems, start in zip(batches, starts, strict=True)
        ]
        starts = [batch_fits.theta for batch_fits in fits]
        design = replace(design, prior=_better(design, batches, fits))
    return design.prior


def _better(design: RankDesign, batches: Sequence[Problems], fits: Sequence[Fits]) -> Prior:
    """The next round's prior: one fixed-point step for bends and link, the optimum for linear effects."""
    determined, squares = np.zeros(2), np.zeros(2)  # Σ (1 − λ V) and Σ θ², of bends and of the link
    effects, kinds = [], int(design.kinds.max()) + 1 if design.own else 0
    of_rows = np.zeros((2, kinds))  # the same for the rows' own columns, by kind
    for problems, batch_fits in zip(batches, fits, strict=True):
        variance = np.diagonal(inverse(batch_fits.moments.information, batch_fits.penalty), axis1=1, axis2=2)
        if design.own:
            of_rows += _of_rows(design, batch_fits.theta, variance, kinds)
        if not problems.parents.shape[1]:
            continue
        effects.append(_likelihoods(design, problems, batch_fits, variance))
        unit = design.unit(problems.node, problems.parents)[..., None]
        column, width = np.arange(WIDTH), design.width[problems.parents]
        is_bend = (column > 0) & (column < width[..., None])
        theta, varies = (values[:, design.head :].reshape(is_bend.shape) for values in (batch_fits.theta, variance))
        theta, varies = (theta / unit)[is_bend], (varies / unit**2)[is_bend]
        kappa, kappa_varies = batch_fits.theta[:, design.bend], variance[:, design.bend]
        determined += [
            float((1 - design.prior.bends * varies).sum()),
            float((1 - design.prior.link * kappa_varies).sum()),
        ]
        squares += [float((theta**2).sum()), float((kappa**2).sum())]
    bends, link = (
        float(np.clip(number / max(square, 1e-12), *bounds)) if number else previous
        for number, square, bounds, previous in zip(determined, squares, _BOUNDS, design.prior[1:3], strict=True)
    )
    mean, power, linear = _of_linear(np.concatenate(effects, axis=1)) if effects else (0.0, 0.0, design.prior.linear)
    precisions = np.clip(of_rows[0] / np.maximum(of_rows[1], 1e-12), *_BESIDE_BOUNDS)
    return Prior(linear, bends, link, mean, power, tuple(precisions.tolist()))


def _of_rows(design: RankDesign, theta: np.ndarray, variance: np.ndarray, kinds: int) -> np.ndarray:
    """Σ (1 − λ V) and Σ θ² of the rows' own columns, by kind, (2, kinds)."""
    columns = slice(design.bend + 1, design.head)
    there = design.kinds.ravel() >= 0
    kind = design.kinds.ravel()[there]
    precision = design.own_precision.ravel()[there]
    determined = (1 - precision * variance[:, columns][:, there]).sum(0)
    square = (theta[:, columns][:, there] ** 2).sum(0)
    return np.stack([np.bincount(kind, sums, kinds) for sums in (determined, square)])


def _likelihoods(design: RankDesign, problems: Problems, fits: Fits, variance: np.ndarray) -> np.ndarray:
    """The log-likelihood −½ J β² + h β of each linear effect β: J, h and its log unit at power 1, (3, edges)."""
    at = slice(design.head, None, WIDTH)
    mean, precision = (values[..., 0] for values in design.expected(problems.node, problems.parents))
    information = np.maximum(1 / variance[:, at] - precision, 0.0)
    pull = fits.theta[:, at] / variance[:, at] - precision * mean
    log_units = design.apart(problems.node, problems.parents)
    return np.stack([information, pull, log_units]).reshape(3, -1)


def _of_linear(effects: np.ndarray) -> tuple[float, float, float]:
    """Mean, power and precision of the linear effects that maximise the marginal likelihood of `_likelihoods`."""
    information, pull, log_units = effects
    middle = log_units.mean()  # so that the power changes differences between edges, and only the mean shifts them all

    def loss(parameters: np.ndarray) -> float:
        mean, power, precision = *parameters[:2], math.exp(parameters[2])
        unit = np.exp(power * (log_units - middle))
        posterior = precision + information * unit**2
        explained = (pull * unit + precision * mean) ** 2 / posterior - precision * mean**2
        return (_PRECISIONS @ (parameters - _EXPECTED) ** 2 - (explained + parameters[2] - np.log(posterior)).sum()) / 2

    mean, power, logarithm = minimize(loss, _EXPECTED, method="L-BFGS-B", bounds=_LINEAR_BOUNDS).x
    return float(mean * math.exp(-power * middle)), float(power), math.exp(logarithm + 2 * power * middle)
