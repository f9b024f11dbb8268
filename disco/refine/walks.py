"""Searches that yield the fits they need, so that parallel searches share batches of fits."""

from collections.abc import Generator, Sequence
from typing import Any, TypeVar

Parents = tuple[int, ...]
Allowed = int  # a set of a node's candidates, as bits by their position among these
Wanted = tuple[int, Parents]
Asked = TypeVar("Asked")  # the request of a walk: a fit, or a fit by some scores
Result = TypeVar("Result")
Walk = Generator[list[Wanted], None, Result]  # yields the fits that it needs and continues when they are made


def together(walks: Sequence[Generator[list[Asked], None, Result]]) -> Generator[list[Asked], None, list[Result]]:
    """Several walks as one, run in parallel with shared batches of fits."""
    results: list[Any] = [None] * len(walks)
    open_ = list(range(len(walks)))
    while True:
        still: list[int] = []
        requests: list[Asked] = []
        for number in open_:
            try:
                requests += next(walks[number])
                still.append(number)
            except StopIteration as stop:
                results[number] = stop.value
        if not still:
            return results
        yield requests
        open_ = still
