"""Who stands elsewhere than in another order, and what each move gained.

A node is put back alone: where it agrees with the other order on most of its pairs, while all others stay as they
were refined. What the graph's score loses by it is what the move gained, log posterior odds in nats.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from disco.refine.scores import Parents, Scores

COLUMNS = ("node", "before", "after", "gain_nats")


def moves(scores: Scores, order: Sequence[int], parents: Sequence[Parents], before: Sequence[int]) -> pd.DataFrame:
    """What became of every node's place, in the refined order.

    Args:
        scores: the table's.
        order: the refined one, all nodes.
        parents: of every node in it.
        before: the other order of the same nodes.

    Returns:
        Columns `COLUMNS`, nodes as numbers and places from 1; gain_nats is NaN for a node that did not move, which
        agrees with the other order as well as it can where it stands.
    """
    wanted: list[tuple[int, Parents]] = []
    walks, owners = [], []
    for node in order:
        back = put_back(order, before, node)
        for other in _affected(scores, order, back, node):
            place = back.index(other)
            wanted.append((other, parents[other]))
            walks.append(scores.walk(other, scores.allowed(other, back[:place]), parents[other]))
            owners.append(node)
    scores.fit(wanted)
    gain: dict[int, float] = {}
    for node, (other, nodes), fitted in zip(owners, wanted, scores.resolve(walks), strict=True):
        gain[node] = gain.get(node, 0.0) + scores.fits[other][nodes].score - fitted.score
    first = {node: place for place, node in enumerate(before, start=1)}
    rows = [
        (node, first[node], place, gain.get(node, 0.0) if put_back(order, before, node) != list(order) else np.nan)
        for place, node in enumerate(order, start=1)
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def put_back(order: Sequence[int], before: Sequence[int], node: int) -> list[int]:
    """The order with one node where it agrees with another order on most pairs; of several such places the nearest."""
    rank = {other: place for place, other in enumerate(before)}
    rest = [other for other in order if other != node]
    later = np.array([rank[other] > rank[node] for other in rest], dtype=int)
    # After the first k others it disagrees on those of them that came later, and on the rest that came earlier.
    wrong = np.concatenate([[0], np.cumsum(later)]) + np.concatenate([np.cumsum((1 - later)[::-1])[::-1], [0]])
    now = list(order).index(node)
    places = np.flatnonzero(wrong == wrong.min())
    best = int(places[np.abs(places - now).argmin()])
    return [*rest[:best], node, *rest[best:]]


def _affected(scores: Scores, order: Sequence[int], back: Sequence[int], node: int) -> list[int]:
    """The nodes whose possible parents change when a node is put back: itself, and those it passes and may join."""
    start, end = sorted((list(order).index(node), list(back).index(node)))
    passed = [other for other in order[start : end + 1] if other in scores.place[node]]
    return [node, *passed] if start < end else []
