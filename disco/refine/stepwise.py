"""A node's parents among allowed candidates, by steps from its current parents, for any local score.

The candidate with the largest predicted gain is added. A parent with a negative predicted loss is removed. A fit
confirms each step, until nothing changes. Fits are stored by (node, parents), results by (node, allowed candidates).
With knowledge, a forbidden parent is never allowed, and a required one is a parent from the start and never removed.
"""

from collections.abc import Iterable, Sequence
from typing import Generic, Protocol, TypeVar

import numpy as np

from disco.knowledge import Resolved
from disco.refine.limits import MOST_PARENTS
from disco.refine.walks import Allowed, Parents, Walk, bits_of

_DOUBT = 1.0  # nats: a fit without a parent is tried if its predicted loss is at most this


class Fit(Protocol):
    """The fit of a node to its parents, and the predicted gain or loss of adding or removing one.

    Attributes:
        parents: ascending node numbers.
        score: nats.
        gain: predicted gain in score with each of the node's candidates, (c,); −∞ if it is a parent already.
        loss: predicted loss in score without each parent, (k,); negative if the score is better without it.
    """

    @property
    def parents(self) -> Parents: ...  # noqa: D102
    @property
    def score(self) -> float: ...  # noqa: D102
    @property
    def gain(self) -> np.ndarray: ...  # noqa: D102
    @property
    def loss(self) -> np.ndarray: ...  # noqa: D102


AFit = TypeVar("AFit", bound=Fit)


def predicted_losses(fitted: Iterable[Fit]) -> list[tuple[int, int, float]]:
    """Parent, child and predicted loss of score without the edge, for the fits of nodes 0, 1, …"""
    return [
        (parent, child, float(nats))
        for child, one in enumerate(fitted)
        for parent, nats in zip(one.parents, one.loss, strict=True)
    ]


class Stepwise(Generic[AFit]):
    """The request of a search over orders: a node's best parents among the nodes before it.

    Args:
        candidates: every node's candidates, ascending node numbers; symmetric, so that an edge may be reversed.
        rules: rules that parents obey, or None.

    Attributes:
        fits: every node's fits, by parents. The caller of the walks stores the requested fits here.
    """

    def __init__(self, candidates: Sequence[Sequence[int]], rules: Resolved | None = None) -> None:
        self.candidates = [tuple(nodes) for nodes in candidates]
        self.index = [{node: index for index, node in enumerate(nodes)} for nodes in self.candidates]
        self.rules = rules
        self.may, self.must = [bits_of(nodes) for nodes in self.candidates], [0] * len(candidates)
        self.ahead: list[set[int]] = [set() for _ in candidates]  # the nodes that must precede a node
        if rules is not None:
            never, required, before = (
                [set(np.flatnonzero(column).tolist()) for column in matrix.T]
                for matrix in (rules.forbidden, rules.required, rules.before)
            )
            self.may = [may & ~bits_of(nodes) for may, nodes in zip(self.may, never, strict=True)]
            self.must, self.ahead = [bits_of(nodes) for nodes in required], before
        self.fits: list[dict[Parents, AFit]] = [{} for _ in self.candidates]
        self.found: list[dict[Allowed, AFit]] = [{} for _ in self.candidates]

    def allowed(self, node: int, before: Iterable[int]) -> Allowed:
        """A node's candidates among the given nodes, without those forbidden by the rules."""
        return bits_of(before) & self.may[node]

    def walk(self, node: int, allowed: Allowed, parents: Parents) -> Walk[AFit]:
        """Find a node's parents among the allowed ones by steps from given parents; required ones stay if allowed."""
        found = self.found[node].get(allowed)
        if found is not None:
            return found
        start = tuple(parent for parent in parents if allowed >> parent & 1)
        if must := self.must[node] & allowed:
            start = tuple(sorted({*start, *(other for other in self.candidates[node] if must >> other & 1)}))
        now = yield from self._get(node, start)
        open_ = np.array([allowed >> other & 1 for other in self.candidates[node]], dtype=bool)
        while True:
            better = yield from self._one_more(node, now, open_)
            if better is None:
                better = yield from self._one_less(node, now)
            if better is None:
                break
            now = better
        self.found[node][allowed] = now
        return now

    def _get(self, node: int, parents: Parents) -> Walk[AFit]:
        if parents not in self.fits[node]:
            yield [(node, parents)]
        return self.fits[node][parents]

    def _one_more(self, node: int, now: AFit, open_: np.ndarray) -> Walk[AFit | None]:
        if len(now.parents) >= MOST_PARENTS:
            return None
        predicted = np.where(open_, now.gain, -np.inf)
        while len(predicted) and predicted.max() > 0:
            best = int(predicted.argmax())
            with_it = tuple(sorted((*now.parents, self.candidates[node][best])))
            better = yield from self._get(node, with_it)
            if better.score > now.score:
                return better
            predicted[best] = -np.inf
        return None

    def _one_less(self, node: int, now: AFit) -> Walk[AFit | None]:
        for number in np.argsort(now.loss, kind="stable"):
            parent = now.parents[number]
            if now.loss[number] > _DOUBT:
                return None
            if self.must[node] >> parent & 1:
                continue
            without = yield from self._get(node, tuple(other for other in now.parents if other != parent))
            if without.score > now.score:
                return without
        return None
