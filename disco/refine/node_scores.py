"""Scores of a node given its possible parents; each fit is made once.

score(S) = log marginal likelihood − odds · |S|. The marginal likelihood is Laplace's approximation (`Fits.evidence`)
under a normal prior that expects a parent's effect to be nearly linear in its level; the odds are the log prior odds
against one more parent. Both are fitted to the table (`disco.refine.prior`). BIC charges ½ log n per column of a
parent, so a wrong direction with fewer parents wins if effects are weak. If a causal order is given, usually the CCS
order, an edge against it costs more, the farther apart its nodes are (`cost_against`). The curvature has information
that the likelihood lacks, and together they find more directions (benchmarks/log/2026-11-21-bent-link.md).

Parents are found by `Stepwise`: Rao's score test predicts the gain of adding a candidate, Wald's the loss of removing
a parent.
"""

import math
from collections.abc import Callable, Generator, Iterable, Sequence
from typing import Any, NamedTuple, cast

import numpy as np

from disco.knowledge import Resolved
from disco.likelihood.batch import Problems
from disco.likelihood.cpu import side_by_side
from disco.likelihood.merged_rows import fit_cells
from disco.likelihood.newton import Fits, fit, marginal_start
from disco.likelihood.rank_design import WIDTH, RankDesign
from disco.likelihood.score_test import Additions, Removals, additions, removals
from disco.progress import SILENT, Reporter
from disco.refine.bounds import MOST_STEPS_BYTES
from disco.refine.stepwise import FAILED, Enough, NodeFit, Parents, Result, Stepwise, Walk, Wanted, together

AGAINST = 12.0  # nats: cost of an edge against the whole length of an order, before fitting; as in simulated designs
MOST_AGAINST = 5.0  # nats: half of the bound for deciding a direction, so that an order cannot overrule a decided one
SEARCHING = 0.05  # largest predicted gain of a fit's last Newton step, nats; the step is still taken
_ALONE = 64  # fits per batch
_OF_MANY_ROWS = 4  # fits of a table without columns at the rows, between two chances to stop: about a second
_BATCH_CELLS = 8_000_000  # columns × rows of a batch of fits


class Steps(NamedTuple):
    """The first Newton steps from a fit: to a candidate, its coefficients first, (c, WIDTH + P); without a parent, (k,
    P).
    """

    add: np.ndarray
    drop: np.ndarray

    @property
    def bytes(self) -> int:
        """The memory of the steps."""
        return self.add.nbytes + self.drop.nbytes


def cost_against(parent: int, child: int, nodes: int, against: float) -> float:
    """The additional cost, nats, of an edge whose parent is at a later position in a given order.

    It grows with their distance, and is `against` for a distance as long as the order, but at most `MOST_AGAINST`.
    """
    return min(max(parent - child, 0) / nodes * against, MOST_AGAINST)


class Scores(Stepwise):
    """The scores of a table.

    Args:
        candidates: every node's, ascending; symmetric, so that an edge may be reversed.
        odds: the log prior odds against an edge, nats.
        against: cost, nats, of an edge against the whole length of the given order, as in `cost_against`.
        weights: of the rows, (n,).
        warm: scores of the same table and candidates, whose fits are good starting points.
        tolerance: as in `newton.fit`.
    """

    def __init__(
        self,
        design: RankDesign,
        candidates: Sequence[Sequence[int]],
        *,
        odds: float,
        order: Sequence[int] | None = None,
        against: float = AGAINST,
        rules: Resolved | None = None,
        weights: np.ndarray | None = None,
        warm: "Scores | None" = None,
        tolerance: float = SEARCHING,
        reporter: Reporter = SILENT,
    ) -> None:
        super().__init__(candidates, rules)
        self.design, self.weights, self.warm, self.reporter = design, weights, warm, reporter
        self.tolerance = tolerance
        self.odds, self.order, self.against = odds, order, against
        rank = {node: at for at, node in enumerate(order or ())}
        self.costs = [np.full(len(nodes), odds, dtype=float) for nodes in self.candidates]
        if rank:
            for node, nodes in enumerate(self.candidates):
                self.costs[node] += [cost_against(rank[parent], rank[node], len(rank), against) for parent in nodes]
        self.larger: list[dict[Parents, Parents]] = [{} for _ in self.candidates]  # keyed by all parents but one
        self._steps: dict[Wanted, Steps] = {}  # of the fits kept last, the oldest first
        self._steps_bytes = 0
        self.alone = 0  # number of fits that are not kept here

    def replace(self, **changes: Any) -> "Scores":
        """Scores with some arguments changed, without the existing fits.

        The last digits of a fit depend on the available starting points. So a search that must be reproducible after an
        interruption begins without any.
        """
        arguments = "design candidates odds order against rules weights warm tolerance reporter".split()
        return Scores(**{name: getattr(self, name) for name in arguments} | changes)

    def cost_of(self, parent: int, child: int) -> float:
        """The log prior odds against an edge, nats."""
        at = self.index[child].get(parent)
        return self.odds if at is None else float(self.costs[child][at])

    @property
    def made(self) -> int:
        """The number of fits made."""
        return sum(map(len, self.fits)) + self.alone

    def start_of(self, node: int, parents: Parents) -> np.ndarray | None:
        """The start of a fit: one step from a fit with one parent fewer or more, if there is one."""
        if self.warm is not None and parents in self.warm.fits[node]:
            return self.warm.fits[node][parents].theta
        size = self.design.head
        for number, parent in enumerate(parents):
            less = parents[:number] + parents[number + 1 :]
            if (steps := self._steps.get((node, less))) is None or parent not in self.index[node]:
                continue
            step = steps.add[self.index[node][parent]]
            theta = self.fits[node][less].theta + step[WIDTH:]
            at = size + WIDTH * number
            return np.concatenate([theta[:at], step[:WIDTH], theta[at:]])
        larger = self.larger[node].get(parents)
        if larger is None or (steps := self._steps.get((node, larger))) is None:
            return None
        number = next(i for i, parent in enumerate(larger) if parent not in parents)
        theta = self.fits[node][larger].theta + steps.drop[number]
        at = size + WIDTH * number
        return np.concatenate([theta[:at], theta[at + WIDTH :]])

    def keep(self, node: int, fitted: NodeFit, steps: Steps) -> None:
        """Store a fit, and the steps from it while their memory allows."""
        parents = fitted.parents
        self.fits[node][parents] = fitted
        for number in range(len(parents)):
            self.larger[node][parents[:number] + parents[number + 1 :]] = parents
        self._steps[node, parents] = steps
        self._steps_bytes += steps.bytes
        while self._steps_bytes > MOST_STEPS_BYTES:
            self._steps_bytes -= self._steps.pop(next(iter(self._steps))).bytes


Task = tuple[Scores, Walk[Result]]


def resolve(tasks: Sequence[Task[Result]]) -> list[Result]:
    """Run walks to their ends in parallel, with shared batches of fits: of one design, and all weighted or none."""
    return cast(list[Result], resolve_until(lambda: False, tasks))  # all of them end


def resolve_until(has_enough: Callable[[], bool], tasks: Sequence[Task[Result]]) -> list[Result | None]:
    """As `resolve`, but once there is enough, which is asked before every batch of fits, walks end by `Enough`; None
    for one without a result.
    """

    def labelled(scores: Scores, walk: Walk[Result]) -> Generator[list[tuple[Scores, Wanted]], None, Result | None]:
        try:
            requests = next(walk)
            while True:
                yield [(scores, key) for key in requests]
                requests = walk.throw(Enough()) if has_enough() else next(walk)
        except StopIteration as stop:
            return stop.value
        except Enough:
            return None

    both = together([labelled(*task) for task in tasks])
    while True:
        try:
            make_fits(next(both), has_enough)
        except StopIteration as stop:
            return stop.value


def make_fits(requests: Iterable[tuple[Scores, Wanted]], has_enough: Callable[[], bool] = lambda: False) -> None:
    """Make the missing fits, in batches of similar size, until there is enough."""
    missing = [(scores, key) for scores, key in dict.fromkeys(requests) if key[1] not in scores.fits[key[0]]]
    missing.sort(key=lambda request: (len(request[1][1]), request[1]))
    at = 0
    while at < len(missing):
        scores = missing[at][0]
        scores.reporter.check()
        if has_enough():
            return
        limit = 2 * len(missing[at][1][1]) + 3
        size = max(1, _BATCH_CELLS // (WIDTH * (limit + 1) * scores.design.rows))
        batch = [request for request in missing[at : at + size] if len(request[1][1]) <= limit]
        for (scores, (node, _)), result in zip(batch, _fitted(batch), strict=True):
            scores.keep(node, *result)
        at += len(batch)


def fit_alone(scores: Scores, requests: Iterable[Wanted]) -> dict[Wanted, tuple[float, float]]:
    """Score and log-likelihood of fits from which no search continues, without predictions.

    The score excludes the prior odds of a given order. NaN if a fit has no finite score.
    """
    values: dict[Wanted, tuple[float, float]] = {}
    keys = sorted(dict.fromkeys(requests), key=lambda key: (len(key[1]), key))
    size = _ALONE if scores.design.columns.shape[2] else _OF_MANY_ROWS
    for at in range(0, len(keys), size):
        scores.reporter.check()
        batch = keys[at : at + size]
        scores.alone += len(batch)
        for key, (evidence, log_likelihood) in zip(batch, _alone(scores, batch), strict=True):
            score = evidence - scores.odds * len(key[1])
            finite = math.isfinite(score) and math.isfinite(log_likelihood)
            values[key] = (score, log_likelihood) if finite else (math.nan, math.nan)
    return values


def _alone(scores: Scores, keys: Sequence[Wanted]) -> list[tuple[float, float]]:
    """Evidence and log-likelihood of some fits; by cells if the table has no columns at the rows."""
    if scores.design.columns.shape[2]:
        fits, _ = _fits([(scores, key) for key in keys])
        return list(zip(fits.evidence.tolist(), fits.log_likelihood.tolist(), strict=True))
    values = [(math.nan, math.nan)] * len(keys)

    def fill(span: slice) -> None:
        for number in range(span.start, min(span.stop, len(keys))):
            fitted = fit_cells(scores.design, *keys[number], tolerance=scores.tolerance)
            values[number] = float(fitted.evidence[0]), float(fitted.log_likelihood[0])

    side_by_side(len(keys), fill)
    return values


def _fitted(requests: Sequence[tuple[Scores, Wanted]]) -> list[tuple[NodeFit, Steps]]:
    """One batch of fits, with the predicted gain or loss of adding or removing a parent."""
    first, keys = requests[0][0], [key for _, key in requests]
    fits, problems = _fits(requests)
    candidates = [
        (node, [-1 if candidate in parents else candidate for candidate in first.candidates[node]])
        for node, parents in keys
    ]
    lists = Problems.of(candidates).parents
    added = additions(first.design, problems, fits, lists)
    dropped = removals(first.design, problems, fits)
    return _split_batch([scores for scores, _ in requests], keys, fits, added, dropped)


def _fits(requests: Sequence[tuple[Scores, Wanted]]) -> tuple[Fits, Problems]:
    """The fits of a batch, from the starting points of their scores, or from the marginal start if those fail."""
    first, keys = requests[0][0], [key for _, key in requests]
    design = first.design
    problems = Problems.of(keys)
    begun = [scores.start_of(*key) for scores, key in requests]
    fresh = np.array([start is None or not np.isfinite(start).all() for start in begun])
    theta = np.zeros((len(keys), design.head + WIDTH * problems.parents.shape[1]))
    for number, start in enumerate(begun):
        if start is not None and not fresh[number]:
            theta[number, : len(start)] = start
    _begin_anew(design, problems, fresh, theta)
    weights = first.weights
    if any(scores is not first for scores, _ in requests):
        weights = np.stack([cast(np.ndarray, scores.weights) for scores, _ in requests])  # then all are weighted
    fits = fit(design, problems, theta, weights=weights, tolerance=first.tolerance)
    lost = ~(np.isfinite(fits.evidence) & np.isfinite(fits.log_likelihood)) & ~fresh
    if lost.any():  # a step from another fit can be too long
        _begin_anew(design, problems, lost, theta)
        fits = fit(design, problems, theta, weights=weights, tolerance=first.tolerance)
    return fits, problems


def _begin_anew(design: RankDesign, problems: Problems, which: np.ndarray, theta: np.ndarray) -> None:
    """Write the marginal start of the problems in a mask, (B,), into θ."""
    if which.any():
        theta[which] = marginal_start(design, Problems(problems.node[which], problems.parents[which]))


def _split_batch(
    owners: Sequence[Scores], keys: Sequence[Wanted], fits: Fits, added: Additions, dropped: Removals
) -> list[tuple[NodeFit, Steps]]:
    """The fits of a batch, and the steps from each; if one has no finite score, any parent may be added or removed."""
    results = []
    theta, ll = fits.theta, fits.log_likelihood
    evidence, gain, loss = fits.evidence, added.evidence, dropped.evidence
    add = np.concatenate([added.own, added.others], -1).astype(np.float32)
    drop = dropped.others.astype(np.float32)
    finite = np.isfinite(gain).all(1)
    for number, (scores, (node, parents)) in enumerate(zip(owners, keys, strict=True)):
        nodes, size = scores.candidates[node], scores.design.head + WIDTH * len(parents)
        worth = gain[number, : len(nodes)] - scores.costs[node]
        worth = worth if finite[number] else np.nan_to_num(worth, nan=0.0)
        paid = np.array([scores.cost_of(parent, node) for parent in parents])
        worth[[scores.index[node][parent] for parent in parents if parent in scores.index[node]]] = -np.inf
        score = float(evidence[number]) - float(paid.sum())
        coefficients, lost = theta[number, :size].astype(np.float32), loss[number, : len(parents)] - paid
        fitted = NodeFit(parents, float(ll[number]), score, coefficients, worth, lost)
        steps = Steps(add[number, : len(nodes), : WIDTH + size].copy(), drop[number, : len(parents), :size].copy())
        if not (np.isfinite(score) and np.isfinite(ll[number])):
            any_more, any_less = np.where(np.isneginf(worth), -np.inf, np.inf), np.full_like(fitted.loss, -np.inf)
            theta_0, steps = np.zeros_like(fitted.theta), Steps(np.zeros_like(steps.add), np.zeros_like(steps.drop))
            fitted = NodeFit(parents, np.nan, FAILED, theta_0, any_more, any_less)
        results.append((fitted, steps))
    return results
