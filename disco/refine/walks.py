"""Searches that yield the fits they need, so that searches side by side share batches of fits."""

from collections.abc import Generator, Iterable, Sequence
from typing import Any, TypeVar

Parents = tuple[int, ...]
Allowed = int  # a set of nodes, as bits by node number
Wanted = tuple[int, Parents]
Asked = TypeVar("Asked")  # what a walk needs: a fit, or a fit by some scores
Result = TypeVar("Result")
Walk = Generator[list[Wanted], None, Result]  # yields the fits that it needs, and continues once they are made


def together(walks: Sequence[Generator[list[Asked], None, Result]]) -> Generator[list[Asked], None, list[Result]]:
    """Several walks as one: they run side by side, so that their fits share batches."""
    results: list[Any] = [None] * len(walks)
    open_ = list(range(len(walks)))
    while True:
        still: list[int] = []
        wanted: list[Asked] = []
        for number in open_:
            try:
                wanted += next(walks[number])
                still.append(number)
            except StopIteration as stop:
                results[number] = stop.value
        if not still:
            return results
        yield wanted
        open_ = still


def bits_of(nodes: Iterable[int]) -> Allowed:
    """A set of nodes as bits."""
    return sum(1 << node for node in set(nodes))
