"""The layout of a causal graph: nodes in rows along the causal order, the same for every threshold.

Row r holds the next w nodes of the order, and within a row each node is a little lower than the one before it. So
every edge that the order allows points downwards, whichever edges are kept, and no node moves when a threshold
changes. Within a row, nodes are placed near those that their scores tie them to.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

COLUMN, ROW, STAGGER = 150, 130, 62  # pixels between columns, between rows, and down a row
SWEEPS = 12
GOLDEN = 0.618  # rows are shifted by multiples of it, so that no node is hidden by those straight above it
WIDE, SQUARE = 1.6, 1.15  # target width over height, for few nodes and for many
MANY_NODES = 40


def columns(nodes: int) -> int:
    """Number of nodes per row that makes the graph fit the page."""
    shape = WIDE if nodes <= MANY_NODES else SQUARE
    return max(2, min(nodes, round(float(np.sqrt(shape * nodes * ROW / COLUMN)))))


def positions(order: Sequence[str], candidates: pd.DataFrame) -> dict[str, tuple[float, float]]:
    """The place (x, y) of each node in pixels, y downwards; the source's row is the first.

    Args:
        order: all nodes, source first.
        candidates: every candidate edge, columns parent, child, z; a high z pulls its ends together.
    """
    width = columns(len(order))
    rows = [list(range(start, min(start + width, len(order)))) for start in range(0, len(order), width)]
    tie = _ties(order, candidates)
    x = np.zeros(len(order))
    for number, row in enumerate(rows):
        x[row] = _spread(number, len(row), width)
    for sweep in range(SWEEPS):
        numbered = list(enumerate(rows))
        for number, row in numbered if sweep % 2 == 0 else numbered[::-1]:
            others = tie[row].copy()
            others[:, row] = 0  # the nodes of a row cannot all be next to each other
            total = others.sum(axis=1)
            wish = np.where(total > 0, others @ x / np.where(total > 0, total, 1), x[row])
            x[np.asarray(row)[np.argsort(wish, kind="stable")]] = _spread(number, len(row), width)
    drop = STAGGER / max(1, width - 1)
    return {
        node: (round(float(x[place])), round(place // width * ROW + place % width * drop))
        for place, node in enumerate(order)
    }


def _spread(row: int, count: int, width: int) -> np.ndarray:
    """Evenly spaced places about 0; a short last row spreads out somewhat."""
    shift = (row * GOLDEN) % 1.0 - 0.5
    return ((np.arange(count) - (count - 1) / 2) * min(1.6, width / count) + shift * 0.8) * COLUMN


def _ties(order: Sequence[str], candidates: pd.DataFrame) -> np.ndarray:
    """How strongly each pair belongs together, symmetric, (nodes, nodes): the square of Z above 1."""
    place = {node: index for index, node in enumerate(order)}
    tie = np.zeros((len(order), len(order)))
    strong = candidates[candidates["z"] > 1]
    rows, cols = (strong[end].map(place).to_numpy(dtype=int) for end in ("parent", "child"))
    tie[rows, cols] = np.minimum(strong["z"].to_numpy(), 6.0) ** 2
    return tie + tie.T
