"""The layout of a causal graph: nodes in rows along the causal order, the same for every threshold.

A row has consecutive nodes of the order, and within a row each node is a little lower than the previous one. So every
edge that the order allows points downwards, whichever edges are selected, and no node moves when a threshold changes.
Rows break so that few strong candidates lie within a row. Within a row, nodes are near those to which their scores tie
them, with few crossings of strong candidates. Boxes do not overlap.
"""

import unicodedata
from collections.abc import Collection, Mapping, Sequence

import numpy as np
import pandas as pd

from disco.words import shortened

Positions = Mapping[str, tuple[float, float]]
COLUMN, ROW = 150, 130  # pixels between columns and between rows of a manually drawn graph
HEIGHT, PAD = 30, 22  # pixels: height of a node's box, and its padding beside the name
LONGEST = 18  # longest name on a node, in characters; hovering shows the full name
GAP, STEP, CHANNEL = 56, 7, 92  # pixels between boxes of a row, from a node down to the next, and between rows
SWEEPS, SWAPS, STRONGEST = 12, 2, 2  # STRONGEST: candidates per node whose crossings are counted
WIDE, SQUARE = 1.8, 1.2  # target width over height, for few nodes and for many, which have to fit the canvas
MANY_NODES = 40
MOST_ROWS = 6  # as many fit the canvas with names that can be read; more only if the nodes fill them
STRONG = 6.0  # a larger Z does not pull harder
MOST_UNCROSSED = 500  # nodes; of more, a page draws a part, and crossings take longer to count than to draw
_FREE = 1e-3  # a price at which candidates within a row no longer count


def short(name: str) -> str:
    """A name as shown on its node."""
    return shortened(name, LONGEST)


def node_width(name: str) -> float:
    """The width of a node's box in pixels, for any usual sans-serif font."""
    return max(44.0, PAD + sum(map(_letter_width, short(name))))


def _letter_width(letter: str) -> float:
    if unicodedata.east_asian_width(letter) in "WF":
        return 14.5
    if letter in "mwMW@%&…—":
        return 13.0
    return 9.6 if letter.isupper() else 4.6 if letter in "ijlI.,:;|'! " else 8.0


def columns(nodes: int, column: float = COLUMN, row: float = ROW, shape: float | None = None) -> int:
    """The number of nodes per row for which the graph fits the page, or an area of this shape, width over height."""
    shape = shape or (WIDE if nodes <= MANY_NODES else SQUARE)
    return max(2, min(nodes, round(float(np.sqrt(shape * nodes * row / column)))))


def positions(
    order: Sequence[str], candidates: pd.DataFrame, shape: float | None = None
) -> dict[str, tuple[float, float]]:
    """The centre (x, y) of each node in pixels, y downwards; the source's row is first.

    `candidates` has every candidate edge, columns parent, child, z; a high z pulls its endpoints together. `shape` is
    the width over height of the drawing area; by default that of a page.
    """
    if not order:
        return {}
    widths = np.array([node_width(node) for node in order])
    tie = _ties(order, candidates)
    rows = _rows(tie, columns(len(order), float(widths.mean()) + GAP, CHANNEL + 5 * STEP, shape))
    y, top = np.zeros(len(order)), 0
    for row in rows:
        y[row] = top + STEP * np.arange(len(row))
        top += STEP * (len(row) - 1) + CHANNEL
    lines = _Rows(rows, widths, tie, y)
    for sweep in range(SWEEPS):
        lines.pull(downwards=sweep % 2 == 0)
    for _ in range(SWAPS if len(order) <= MOST_UNCROSSED else 0):
        lines.uncross()
    return {node: (round(float(lines.x[position])), round(float(y[position]))) for position, node in enumerate(order)}


def above(
    positions: Positions, names: Sequence[str], children: Mapping[str, Collection[str]]
) -> dict[str, tuple[float, float]]:
    """Positions of further nodes in a row above all others, each as near to the middle of its children as fits."""
    centres = np.array(list(positions.values()), dtype=float)
    middle = float(centres[:, 0].mean())
    wish = [np.mean([positions[child][0] for child in children.get(name, ())] or [middle]) for name in names]
    by_wish = np.argsort(wish, kind="stable")
    widths = np.array([node_width(names[number]) for number in by_wish])
    x, y = _packed(np.array(wish)[by_wish], widths), float(centres[:, 1].min()) - CHANNEL
    return {names[number]: (round(float(centre)), round(y)) for number, centre in zip(by_wish, x, strict=True)}


class _Rows:
    """The positions x, (nodes,), of the nodes along their rows, each from left to right, improved step by step."""

    def __init__(self, rows: list[np.ndarray], widths: np.ndarray, tie: np.ndarray, y: np.ndarray) -> None:
        self.rows, self.widths, self.tie, self.y = rows, widths, tie, y
        self.x = np.zeros(len(widths))
        for row in rows:
            self.x[row] = _packed(np.zeros(len(row)), widths[row])
        pairs = np.argwhere(np.triu(tie) > 0)
        strongest = np.argsort(-tie[tuple(pairs.T)], kind="stable")[: STRONGEST * len(widths)]
        self.pairs = pairs[strongest]
        self.weights = tie[tuple(self.pairs.T)]

    def pull(self, downwards: bool) -> None:
        """Move each row's nodes towards the nodes of other rows that they are tied to, without overlaps."""
        for number in range(len(self.rows))[:: 1 if downwards else -1]:
            row = self.rows[number]
            tie = self.tie[row].copy()
            tie[:, row] = 0  # the nodes of a row cannot all be next to each other
            total = tie.sum(axis=1)
            wish = np.where(total > 0, tie @ self.x / np.where(total > 0, total, 1), self.x[row])
            by_wish = np.argsort(wish, kind="stable")
            self.rows[number] = row[by_wish]
            self.x[row[by_wish]] = _packed(wish[by_wish], self.widths[row[by_wish]])

    def uncross(self) -> None:
        """Swap neighbours in a row if that reduces crossings of strong candidates."""
        for row in self.rows:
            for position in range(len(row) - 1):
                first, second = row[position], row[position + 1]
                touching = np.flatnonzero(np.isin(self.pairs, (first, second)).any(axis=1))
                if not len(touching):
                    continue
                crossings, stood = self._crossings(touching), self.x[[first, second]]
                self.x[second] = stood[0] + (self.widths[second] - self.widths[first]) / 2
                self.x[first] = stood[1] + (self.widths[second] - self.widths[first]) / 2
                if self._crossings(touching) < crossings:
                    row[[position, position + 1]] = second, first
                else:
                    self.x[[first, second]] = stood

    def _crossings(self, subset: np.ndarray) -> float:
        """Weighted number of crossings between the straight lines of these candidates and those of all."""
        start, end = (np.stack([self.x[self.pairs[:, k]], self.y[self.pairs[:, k]]], axis=1) for k in (0, 1))
        a, b = start[subset][:, None], end[subset][:, None]

        def side(p: np.ndarray, q: np.ndarray, r: np.ndarray) -> np.ndarray:
            return np.sign((q - p)[..., 0] * (r - p)[..., 1] - (q - p)[..., 1] * (r - p)[..., 0])

        crossing = (side(a, b, start[None]) * side(a, b, end[None]) < 0) & (
            side(start[None], end[None], a) * side(start[None], end[None], b) < 0
        )
        return float((crossing * self.weights[subset][:, None] * self.weights[None]).sum())


def _rows(tie: np.ndarray, width: int) -> list[np.ndarray]:
    """The order divided into rows of about `width` nodes, so that few strong candidates lie within a row.

    Where nearly every node is tied to every other, cuts can avoid little and would make one tall column of short rows.
    So a candidate within a row costs half as much until there are few enough rows.
    """
    limit, price = max(MOST_ROWS, round(1.1 * len(tie) / width)), 2.0
    inside = np.pad(np.triu(tie / STRONG**2).cumsum(axis=0).cumsum(axis=1), ((1, 0), (1, 0)))
    while len(rows := _cut(inside, width, price)) > limit and price > _FREE:
        price /= 2
    return rows


def _cut(inside: np.ndarray, width: int, price: float) -> list[np.ndarray]:
    """Optimal cuts by dynamic programming: a strong candidate within a row costs `price`, against a row of another
    size. `inside` has the sums of the ties, from both first nodes up to each pair of nodes."""
    nodes = len(inside) - 1
    cost, cut = np.zeros(nodes + 1), np.zeros(nodes + 1, dtype=int)
    for end in range(1, nodes + 1):
        starts = np.arange(max(0, end - round(1.4 * width)), end)
        within = inside[end, end] - inside[starts, end] - inside[end, starts] + inside[starts, starts]
        size = end - starts
        odd = 5 * ((size - width) / width) ** 2 * np.where((end == nodes) & (size < width), 0.3, 1)
        total = cost[starts] + price * within + odd
        best = int(total.argmin())
        cost[end], cut[end] = total[best], starts[best]
    rows, end = [], nodes
    while end:
        rows.append(np.arange(cut[end], end))
        end = int(cut[end])
    return rows[::-1]


def _packed(wish: np.ndarray, widths: np.ndarray) -> np.ndarray:
    """The positions closest to the wishes by least squares, from left to right with a gap between boxes."""
    offset = np.concatenate([[0.0], ((widths[1:] + widths[:-1]) / 2 + GAP).cumsum()])
    return pooled(wish - offset) + offset


def pooled(wish: np.ndarray) -> np.ndarray:
    """The non-decreasing values closest to the wishes by least squares (pool adjacent violators)."""
    pools: list[list[float]] = []  # each: sum and number of its wishes
    for value in wish:
        pools.append([float(value), 1])
        while len(pools) > 1 and pools[-2][0] / pools[-2][1] > pools[-1][0] / pools[-1][1]:
            total, count = pools.pop()
            pools[-1][0] += total
            pools[-1][1] += count
    return np.concatenate([np.full(int(count), total / count) for total, count in pools])


def _ties(order: Sequence[str], candidates: pd.DataFrame) -> np.ndarray:
    """The strength of each pair's tie, symmetric, (nodes, nodes): the sum of Z², for Z from 1 to at most `STRONG`."""
    position = {node: index for index, node in enumerate(order)}
    tie = np.zeros((len(order), len(order)))
    strong = candidates[candidates["z"] > 1]
    rows, cols = (strong[end].map(position).to_numpy(dtype=int) for end in ("parent", "child"))
    pull = np.minimum(strong["z"].to_numpy(dtype=float), STRONG) ** 2
    tie[rows, cols] = pull
    tie[cols, rows] += pull
    return tie
