"""Causal order by recursive sink removal (paper, Algorithm 1, Ordering).

Starting from R = V, the node with the smallest score, averaged over folds, is taken as a sink, gets the last
free position and leaves R, until one node remains. The score is the CCS or the constant-curvature criterion.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from disco.curvature import CRITERIA
from disco.errors import ScoreUnavailable


@dataclass(frozen=True)
class Step:
    """One removal.

    Attributes:
        remaining: R before it, ascending node numbers.
        scores: (criterion, boundary) → (folds, |R|).
        sink: the node removed.
    """

    remaining: tuple[int, ...]
    scores: dict[tuple[str, str], np.ndarray]
    sink: int


Evaluate = Callable[[Sequence[int]], dict[tuple[str, str], np.ndarray]]


def remove_sinks(evaluate: Evaluate, nodes: int, criterion: str, boundary: str, names: Sequence[str]) -> Iterator[Step]:
    """Remove sinks one by one, from all nodes down to two.

    Args:
        evaluate: every remaining node's scores as a function of R.
        nodes: |V|.
        criterion, boundary: which score decides.
        names: column names, for errors.

    Raises:
        ScoreUnavailable: a remaining node has no repeated admissible level in some fold.
    """
    remaining = tuple(range(nodes))
    while len(remaining) > 1:
        scores = evaluate(remaining)
        score = scores[criterion, boundary]
        missing = np.argwhere(np.isnan(score))
        if len(missing):
            fold, place = missing[0]
            raise ScoreUnavailable(
                f"The {'CCS' if criterion == CRITERIA[0] else 'constant-curvature score'} of column "
                f"{names[remaining[place]]!r} is unavailable in held-out fold {fold + 1}: no repeated level is "
                f"{boundary}. Use the clipped boundary, fewer folds or more rows."
            )
        sink = remaining[int(np.argmin(score.mean(axis=0)))]
        yield Step(remaining, scores, sink)
        remaining = tuple(node for node in remaining if node != sink)


def order_of(steps: Sequence[Step]) -> list[int]:
    """The causal order, source first, of a complete sequence of removals."""
    last = steps[-1]
    first = [node for node in last.remaining if node != last.sink]
    return first + [step.sink for step in reversed(steps)]
