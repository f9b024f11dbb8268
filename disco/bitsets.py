"""Sets of small numbers, such as the nodes of a graph, as the bits of an integer."""

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np


def sorted_nodes(children: Sequence[int]) -> list[int]:
    """The nodes of a graph given by every node's children, sources first, without those in or below a cycle."""
    waits = [0] * len(children)
    for mask in children:
        for child in members(mask):
            waits[child] += 1
    order = [node for node, count in enumerate(waits) if not count]
    for node in order:  # grows
        for child in members(children[node]):
            waits[child] -= 1
            if not waits[child]:
                order.append(child)
    return order


def descendants(children: Sequence[int]) -> list[int]:
    """Every node's descendants in a DAG given by every node's children."""
    below = [0] * len(children)
    for node in reversed(sorted_nodes(children)):
        for child in members(children[node]):
            below[node] |= 1 << child | below[child]
    return below


def reached(nodes: Iterable[int], neighbours: Callable[[int], int], among: int = -1) -> int:
    """The set of nodes reached from some nodes along `neighbours`, `among` those of a set, −1 for all."""
    reached_nodes, todo = 0, list(nodes)
    for node in todo:  # grows
        new = neighbours(node) & among & ~reached_nodes
        reached_nodes |= new
        todo += members(new)
    return reached_nodes


def turned(children: Sequence[int]) -> list[int]:
    """Every node's parents, from every node's children."""
    parents = [0] * len(children)
    for node, mask in enumerate(children):
        for child in members(mask):
            parents[child] |= 1 << node
    return parents


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
