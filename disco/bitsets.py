"""Sets of small numbers, such as the nodes of a graph, as the bits of an integer."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np


def descendants(children: Sequence[int]) -> list[int]:
    """Every node's descendants in a DAG given by every node's children."""
    waits = [0] * len(children)
    for mask in children:
        for child in members(mask):
            waits[child] += 1
    ready = [node for node, count in enumerate(waits) if not count]
    for node in ready:  # grows: all nodes, sources first
        for child in members(children[node]):
            waits[child] -= 1
            if not waits[child]:
                ready.append(child)
    below = [0] * len(children)
    for node in reversed(ready):
        for child in members(children[node]):
            below[node] |= 1 << child | below[child]
    return below


def members(mask: int) -> Iterator[int]:
    """The numbers in a set, ascending."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def bits(nodes: Iterable[int]) -> int:
    """Different numbers as a set."""
    return sum(1 << int(node) for node in nodes)


def rows(matrix: np.ndarray) -> list[int]:
    """The columns that are true in each row of a bool matrix, as sets."""
    return [int.from_bytes(row.tobytes(), "little") for row in np.packbits(matrix, axis=1, bitorder="little")]
