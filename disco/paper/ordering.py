"""Causal order by recursive sink removal (paper, Algorithm 1, Ordering).

Start with R = V. Until one node remains, the node with the smallest score, averaged over folds, is the sink: it gets
the last free position and is removed from R. The score is the CCS or the constant-curvature criterion.

With knowledge, the sink is the node with the smallest score among those that may be last in R: no other node of R is
its required child, is in a later tier, or must follow it by a path of these. So the order keeps the tiers apart even
without edges between them, like an order in time. A forbidden edge does not restrict the order; parent selection
excludes it.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from threading import RLock

import numpy as np
import pandas as pd

from disco.errors import ScoreUnavailable
from disco.knowledge import Resolved
from disco.paper.curvature import BOUNDARIES, CRITERIA

COMBINATIONS = [(criterion, boundary) for criterion in CRITERIA for boundary in BOUNDARIES]


@dataclass(frozen=True)
class Removal:
    """One removal.

    Attributes:
        remaining: R before the removal, ascending node numbers.
        scores: (criterion, boundary) → (folds, |R|).
    """

    remaining: tuple[int, ...]
    scores: dict[tuple[str, str], np.ndarray]
    sink: int


Evaluate = Callable[[Sequence[int]], dict[tuple[str, str], np.ndarray]]
SinkScores = dict[tuple[int, ...], dict[tuple[str, str], np.ndarray]]  # results of `Evaluate`, by remaining set


def remove_sinks(
    evaluate: Evaluate, nodes: int, criterion: str, boundary: str, names: Sequence[str], rules: Resolved | None = None
) -> Iterator[Removal]:
    """Remove sinks one by one, from all nodes down to two.

    Args:
        evaluate: R → the scores of all remaining nodes.
        criterion, boundary: the deciding score.
        names: column names, for error messages.
        rules: numbered like the nodes.

    Raises:
        ScoreUnavailable: a remaining node has no repeated admissible level in some fold.
    """
    remaining = tuple(range(nodes))
    while len(remaining) > 1:
        scores = evaluate(remaining)
        score = scores[criterion, boundary]
        missing = np.argwhere(np.isnan(score))
        if len(missing):
            fold, index = missing[0]
            raise ScoreUnavailable(_unavailable(criterion, boundary, names[remaining[index]], fold + 1))
        means = score.mean(axis=0)
        if rules is not None:
            means = np.where(rules.may_be_last(remaining), means, np.inf)
        sink = remaining[int(np.argmin(means))]
        yield Removal(remaining, scores, sink)
        remaining = tuple(node for node in remaining if node != sink)


class Leaving:
    """The nodes outside a remaining set, in the order of their removal: always the one with the smallest score.

    So the curvature of a set does not depend on the variant that reaches it. Successive sets exclude nearly the same
    nodes, so the common start of two paths is not evaluated again.

    Args:
        nodes: |V|.
        scores: remaining nodes, ascending → their scores, NaN where unavailable; those are removed last.
    """

    def __init__(self, nodes: int, scores: Callable[[list[int]], np.ndarray]) -> None:
        self._scores, self._nodes = scores, np.arange(nodes)
        self._removed: list[int] = []  # the last path
        self._before = np.empty((nodes, nodes))  # the scores before each removal, infinite for removed nodes
        self._lock = RLock()  # a served fit is read by several threads

    def removed_before(self, remaining: Sequence[int]) -> list[int]:
        """The nodes whose removal leaves `remaining`."""
        outside = np.setdiff1d(self._nodes, remaining)
        with self._lock:
            removed = self._removed
            common = min(len(removed), len(outside))
            is_same = outside[self._before[:common, outside].argmin(1)] == removed[:common] if common else np.empty(0)
            del removed[int(is_same.cumprod().sum()) :]
            for at in range(len(removed), len(outside)):
                there = np.setdiff1d(self._nodes, removed)
                scores = np.nan_to_num(self._scores(there.tolist()), nan=np.finfo(float).max)
                self._before[at] = np.inf
                self._before[at, there] = scores
                removed.append(int(outside[self._before[at, outside].argmin()]))
            return removed.copy()


def _unavailable(criterion: str, boundary: str, name: str, fold: int) -> str:
    which = "CCS" if criterion == CRITERIA[0] else "constant-curvature score"
    if boundary == "admissible":
        why, remedy = "no repeated level is admissible", "Use the clipped boundary, fewer folds or more rows"
    else:
        why = "none of its levels repeats there"
        remedy = "Use quantile levels, fewer folds or more rows, or leave the column out"
    return f"The {which} of column {name!r} is unavailable in held-out fold {fold}: {why}. {remedy}."


def order_of(steps: Sequence[Removal]) -> list[int]:
    """The causal order, sources first, from a complete sequence of removals."""
    last = steps[-1]
    first = [node for node in last.remaining if node != last.sink]
    return first + [step.sink for step in reversed(steps)]


def ccs_frame(steps: Sequence[Removal], names: Sequence[str], criterion: str, boundary: str) -> pd.DataFrame:
    """The deciding scores, one row per step, node and fold: step, remaining, node, fold, score, chosen."""
    frame, sizes, folds = _scored(steps, names), [len(step.remaining) for step in steps], _folds(steps)
    sinks = np.concatenate([np.equal(step.remaining, step.sink) for step in steps])
    frame.insert(1, "remaining", np.repeat(sizes, np.multiply(sizes, folds)))
    return frame.assign(score=_flat(steps, (criterion, boundary)), chosen=np.repeat(sinks, folds))


def criteria_frame(steps: Sequence[Removal], names: Sequence[str]) -> pd.DataFrame:
    """All scores, one row per step, node and fold: step, node, fold, one column per criterion and boundary."""
    return _scored(steps, names).assign(**{"_".join(key): _flat(steps, key) for key in COMBINATIONS})


def _folds(steps: Sequence[Removal]) -> int:
    return next(iter(steps[0].scores.values())).shape[0]


def _scored(steps: Sequence[Removal], names: Sequence[str]) -> pd.DataFrame:
    nodes, folds = np.concatenate([step.remaining for step in steps]), _folds(steps)
    number = [step for step, removal in enumerate(steps, start=1) for _ in removal.remaining]
    node = np.repeat(np.array(names, object)[nodes], folds)
    return pd.DataFrame({"step": np.repeat(number, folds), "node": node, "fold": 1 + np.arange(len(node)) % folds})


def _flat(steps: Sequence[Removal], key: tuple[str, str]) -> np.ndarray:
    return np.concatenate([step.scores[key].T.ravel() for step in steps])


def forced(ccs: pd.DataFrame) -> pd.DataFrame:
    """The steps at which knowledge removed another node than the one with the smallest score, from `ccs_frame`.

    Columns step, node (removed), rank (of its score at the step, 2 or more), first (the node with the smallest score).
    """
    means = ccs.groupby(["step", "node"], sort=False)["score"].mean()
    removed = ccs[ccs["chosen"].astype(bool)].drop_duplicates("step").set_index("step")["node"]
    rows = []
    for step, scores in means.groupby(level="step", sort=False):
        scores = scores.droplevel("step")
        rank = 1 + int((scores < scores[removed[step]]).sum())
        if rank > 1:
            rows.append((step, removed[step], rank, scores.idxmin()))
    return pd.DataFrame(rows, columns=["step", "node", "rank", "first"])
