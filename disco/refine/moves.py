"""Which nodes changed position, and the gain of each change.

To measure a change, the node alone is moved back to where it agrees with the other order on most of its pairs; all
other nodes stay as refined. The graph's loss of score is the gain of the change, log posterior odds in nats.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from disco.columns import REFINED_MOVES
from disco.knowledge import Resolved
from disco.refine.node_scores import Scores, make_fits, resolve
from disco.refine.stepwise import Parents


def moves(scores: Scores, order: Sequence[int], parents: Sequence[Parents], previous: Sequence[int]) -> pd.DataFrame:
    """Every node's positions in another and in the refined order, and the gain of the change; rows in the refined
    order.

    The columns are `disco.columns.REFINED_MOVES`, nodes as numbers and positions from 1. gain_nats is NaN for a node
    that did not move: it already agrees with the other order as well as possible.
    """
    requests: list[tuple[int, Parents]] = []
    walks, owners = [], []
    for node in order:
        back = put_back(order, previous, node, scores.rules)
        for affected in _affected(scores, order, back, node):
            position = back.index(affected)
            requests.append((affected, parents[affected]))
            walks.append(scores.walk(affected, scores.allowed(affected, back[:position]), parents[affected]))
            owners.append(node)
    make_fits((scores, key) for key in requests)
    gain: dict[int, float] = {}
    fits = resolve([(scores, walk) for walk in walks])
    for node, (affected, nodes), fitted in zip(owners, requests, fits, strict=True):
        gain[node] = gain.get(node, 0.0) + scores.fits[affected][nodes].score - fitted.score
    first = {node: position for position, node in enumerate(previous, start=1)}
    moved = {node for node in order if put_back(order, previous, node, scores.rules) != list(order)}
    rows = [
        (node, first[node], position, gain.get(node, 0.0) if node in moved else np.nan)
        for position, node in enumerate(order, start=1)
    ]
    return pd.DataFrame(rows, columns=list(REFINED_MOVES.kinds))


def put_back(order: Sequence[int], previous: Sequence[int], node: int, rules: Resolved | None = None) -> list[int]:
    """The order with a node moved, within the rules, to the nearest position where most pairs agree with another."""
    rank = {other_node: position for position, other_node in enumerate(previous)}
    rest = [other_node for other_node in order if other_node != node]
    later = np.array([rank[other_node] > rank[node] for other_node in rest], dtype=int)
    # After the first k others, the node is misplaced relative to those of them that are later in the other order, and
    # to those of the rest that are earlier.
    wrong = np.concatenate([[0], np.cumsum(later)]) + np.concatenate([np.cumsum((1 - later)[::-1])[::-1], [0]])
    current = list(order).index(node)
    first, last = (0, len(rest)) if rules is None else rules.span(rest, node)
    positions = first + np.flatnonzero(wrong[first : last + 1] == wrong[first : last + 1].min())
    best = int(positions[np.abs(positions - current).argmin()])
    return [*rest[:best], node, *rest[best:]]


def _affected(scores: Scores, order: Sequence[int], back: Sequence[int], node: int) -> list[int]:
    """The nodes whose possible parents change when a node is moved back: itself and the candidates that it passes."""
    start, end = sorted((list(order).index(node), list(back).index(node)))
    passed = [other_node for other_node in order[start : end + 1] if other_node in scores.index[node]]
    return [node, *passed] if start < end else []
