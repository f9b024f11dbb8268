"""A node's parents among allowed candidates, by steps from its current parents, for any local score.

The candidate with the largest predicted gain is added. A parent with a negative predicted loss is removed. A fit
confirms each step, until nothing changes. Fits are stored by (node, parents), results by (node, allowed candidates).
With knowledge, a forbidden parent is never allowed, and a required one is a parent from the start and never removed.

A search is a *walk*: it yields the fits that it needs, so that parallel searches share batches of fits.
"""

from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from disco.knowledge import Resolved
from disco.refine.bounds import MOST_PARENTS

Parents = tuple[int, ...]
Allowed = int  # a set of a node's candidates, as bits by their position among these
Wanted = tuple[int, Parents]
Asked = TypeVar("Asked")  # the request of a walk: a fit, or a fit by some scores
Result = TypeVar("Result")
Walk = Generator[list[Wanted], None, Result]  # yields the fits that it needs and continues when they are made
FAILED = -1e9  # nats: stands for a score that is not finite; no search ends there
_DOUBT = 1.0  # nats: a fit without a parent is tried if its predicted loss is at most this


class Enough(Exception):
    """Thrown into a walk that is to end with its best result so far."""


@dataclass(frozen=True)
class NodeFit:
    """One fit, with the predicted gain or loss of adding or removing one parent.

    Attributes:
        parents: ascending node numbers.
        log_likelihood, score: nats; without a finite score, `score` is far below any other (`available`).
        theta: coefficients, (2 + q + WIDTH · k,).
        gain: predicted gain in score with each of the node's candidates, (c,); −∞ for a parent.
        loss: predicted loss in score without each parent, (k,); negative if the score is better without it.
    """

    parents: Parents
    log_likelihood: float
    score: float
    theta: np.ndarray
    gain: np.ndarray
    loss: np.ndarray

    @property
    def available(self) -> bool:
        """Whether the fit has a finite score."""
        return self.score > FAILED / 2


def predicted_losses(fitted: Iterable[NodeFit]) -> list[tuple[int, int, float]]:
    """Parent, child and predicted loss of score without the edge, for the fits of nodes 0, 1, …"""
    return [
        (parent, child, float(nats))
        for child, node_fit in enumerate(fitted)
        for parent, nats in zip(node_fit.parents, node_fit.loss, strict=True)
    ]


def together(walks: Sequence[Generator[list[Asked], None, Result]]) -> Generator[list[Asked], None, list[Result]]:
    """Several walks as one, run in parallel with shared batches of fits."""
    results: list[Any] = [None] * len(walks)
    open_ = list(range(len(walks)))
    while True:
        still: list[int] = []
        requests: list[Asked] = []
        for number in open_:
            try:
                requests += next(walks[number])
                still.append(number)
            except StopIteration as stop:
                results[number] = stop.value
        if not still:
            return results
        yield requests
        open_ = still


class Stepwise:
    """The request of a search over orders: a node's best parents among the nodes before it.

    The candidates are ascending node numbers, and symmetric, so that an edge may be reversed. The caller of the walks
    stores the requested fits in `fits`, every node's by parents.
    """

    def __init__(self, candidates: Sequence[Sequence[int]], rules: Resolved | None = None) -> None:
        self.candidates = [tuple(nodes) for nodes in candidates]
        self.index = [{node: index for index, node in enumerate(nodes)} for nodes in self.candidates]
        self.rules = rules
        self.may, self.must = [(1 << len(nodes)) - 1 for nodes in self.candidates], [0] * len(candidates)
        self.ahead: list[set[int]] = [set() for _ in candidates]  # the nodes that must precede a node
        if rules is not None:
            never, required, earlier = (
                [set(np.flatnonzero(column).tolist()) for column in matrix.T]
                for matrix in (rules.forbidden, rules.required, rules.before)
            )
            every = range(len(candidates))
            self.may = [self.may[node] & ~self.bits(node, never[node]) for node in every]
            self.must, self.ahead = [self.bits(node, required[node]) for node in every], earlier
        self.fits: list[dict[Parents, NodeFit]] = [{} for _ in self.candidates]
        self.found: list[dict[Allowed, NodeFit]] = [{} for _ in self.candidates]

    def allowed(self, node: int, earlier: Iterable[int]) -> Allowed:
        """A node's candidates among the given nodes, without those forbidden by the rules."""
        return self.bits(node, earlier) & self.may[node]

    def allowed_at(self, node: int, position: Sequence[int]) -> Allowed:
        """A node's candidates with a smaller position in an order, (d,), without those forbidden by the rules."""
        here, mask = position[node], 0
        for number, candidate in enumerate(self.candidates[node]):
            if position[candidate] < here:
                mask |= 1 << number
        return mask & self.may[node]

    def bits(self, node: int, nodes: Iterable[int]) -> Allowed:
        """A node's candidates among other nodes."""
        index, mask = self.index[node], 0
        for candidate in nodes:
            if candidate in index:
                mask |= 1 << index[candidate]
        return mask

    def walk(self, node: int, allowed: Allowed, parents: Parents) -> Walk[NodeFit]:
        """Find a node's parents among the allowed ones by steps from given parents; required ones stay if allowed."""
        stored = self.found[node].get(allowed)
        if stored is not None:
            return stored
        index, candidates = self.index[node], self.candidates[node]
        start = tuple(parent for parent in parents if parent in index and allowed >> index[parent] & 1)
        if must := self.must[node] & allowed:
            start = tuple(sorted({*start, *(candidate for candidate in candidates if must >> index[candidate] & 1)}))
        current = yield from self._get(node, start)
        open_ = np.array([allowed >> number & 1 for number in range(len(candidates))], dtype=bool)
        while True:
            better = yield from self._one_more(node, current, open_)
            if better is None:
                better = yield from self._one_less(node, current)
            if better is None:
                break
            current = better
        self.found[node][allowed] = current
        return current

    def _get(self, node: int, parents: Parents) -> Walk[NodeFit]:
        if parents not in self.fits[node]:
            yield [(node, parents)]
        return self.fits[node][parents]

    def _one_more(self, node: int, current: NodeFit, open_: np.ndarray) -> Walk[NodeFit | None]:
        if len(current.parents) >= MOST_PARENTS:
            return None
        predicted = np.where(open_, current.gain, -np.inf)
        while len(predicted) and predicted.max() > 0:
            best = int(predicted.argmax())
            with_it = tuple(sorted((*current.parents, self.candidates[node][best])))
            better = yield from self._get(node, with_it)
            if better.score > current.score:
                return better
            predicted[best] = -np.inf
        return None

    def _one_less(self, node: int, current: NodeFit) -> Walk[NodeFit | None]:
        for number in np.argsort(current.loss, kind="stable"):
            parent = current.parents[number]
            if current.loss[number] > _DOUBT:
                return None
            if self.must[node] >> self.index[node][parent] & 1:
                continue
            without = yield from self._get(
                node, tuple(remaining for remaining in current.parents if remaining != parent)
            )
            if without.score > current.score:
                return without
        return None
