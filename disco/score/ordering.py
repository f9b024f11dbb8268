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

import numpy as np
import pandas as pd

from disco.errors import ScoreUnavailable
from disco.knowledge import Resolved
from disco.score.curvature import BOUNDARIES, CRITERIA

COMBINATIONS = [(criterion, boundary) for criterion in CRITERIA for boundary in BOUNDARIES]


@dataclass(frozen=True)
class Removal:
    """One removal.

    Attributes:
        remaining: R before the removal, ascending node numbers.
        scores: (criterion, boundary) → (folds, |R|).
        sink: the node removed.
    """

    remaining: tuple[int, ...]
    scores: dict[tuple[str, str], np.ndarray]
    sink: int


Evaluate = Callable[[Sequence[int]], dict[tuple[str, str], np.ndarray]]
SinkScores = dict[tuple[int, ...], dict[tuple[str, str], np.ndarray]]  # results of `Evaluate`, by remaining set


def remove_sinks(
    evaluate: Evaluate,
    nodes: int,
    criterion: str,
    boundary: str,
    names: Sequence[str],
    rules: Resolved | None = None,
) -> Iterator[Removal]:
    """Remove sinks one by one, from all nodes down to two.

    Args:
        evaluate: R → the scores of all remaining nodes.
        nodes: the number of nodes, |V|.
        criterion, boundary: the deciding score.
        names: column names, for error messages.
        rules: rules that the order obeys; numbered like the nodes.

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


def _unavailable(criterion: str, boundary: str, name: str, fold: int) -> str:
    """Why a column has no score in a held-out fold, with a remedy."""
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
    rows = [
        (number, len(step.remaining), names[node], fold + 1, value, node == step.sink)
        for number, step in enumerate(steps, start=1)
        for node, values in zip(step.remaining, step.scores[criterion, boundary].T, strict=True)
        for fold, value in enumerate(values)
    ]
    return pd.DataFrame(rows, columns=["step", "remaining", "node", "fold", "score", "chosen"])


def criteria_frame(steps: Sequence[Removal], names: Sequence[str]) -> pd.DataFrame:
    """All scores, one row per step, node and fold: step, node, fold, one column per criterion and boundary."""
    rows = [
        (number, names[node], fold + 1, *(step.scores[key][fold, index] for key in COMBINATIONS))
        for number, step in enumerate(steps, start=1)
        for index, node in enumerate(step.remaining)
        for fold in range(next(iter(step.scores.values())).shape[0])
    ]
    combinations = [f"{criterion}_{boundary}" for criterion, boundary in COMBINATIONS]
    return pd.DataFrame(rows, columns=["step", "node", "fold", *combinations])


def forced(ccs: pd.DataFrame) -> pd.DataFrame:
    """The steps at which knowledge removed another node than the one with the smallest score.

    Args:
        ccs: from `ccs_frame`.

    Returns:
        Columns step, node (removed), rank (of its score at the step, 2 or more), first (the node with the smallest
        score).
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
