"""Stability of every edge on other rows: bootstrap tables, and folds left out in turn."""

import contextlib
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import replace

import numpy as np

from disco.paper.ranks import fold_of_rows
from disco.progress import Reporter
from disco.refine.bounds import KINDS
from disco.refine.choice import Choice
from disco.refine.node_scores import SEARCHING, Scores, resolve_until
from disco.refine.order_search import Optimum, search
from disco.refine.resume import Drawn, Memory
from disco.refine.task import Task

_SWEEPS = 3
_SIDE_BY_SIDE = 4  # searches with shared batches of fits


def draw(
    task: Task,
    reporter: Reporter,
    memory: Memory,
    again: Callable[[Sequence[Sequence[np.ndarray]]], Generator[Sequence[Drawn], None, None]],
) -> dict[str, Drawn]:
    """Search on every remaining requested draw until there are enough; returns all finished ones by name.

    Rows of a group are drawn and left out together; otherwise rows are drawn within arms. `again` searches on weighted
    rows, for batches of draws with weights (n,) each.
    """
    drawn = dict(_weights(task))
    missing = [name for name in drawn if name not in memory.drawn]
    size = 1 if task.choice.redone else _SIDE_BY_SIDE
    batches = [missing[at : at + size] for at in range(0, len(missing), size)]
    with contextlib.closing(again([[drawn[name] for name in batch] for batch in batches])) as results:
        for batch in batches:
            finished = sum(name in memory.drawn for name in drawn)
            reporter.step("bootstrap", finished, len(drawn), message=f"bootstrap: table {finished + 1} of {len(drawn)}")
            if reporter.has_enough:
                break
            finished_draws = next(results)
            if len(finished_draws) < len(batch):  # ended early
                break
            memory.drawn.update(zip(batch, finished_draws, strict=True))
            memory.write()
    return dict(memory.drawn)


def made(drawn: dict[str, Drawn], choice: Choice) -> Choice:
    """The choice with the finished draws: all unless ended early, and all folds or none."""
    count = dict.fromkeys(KINDS, 0)
    for kind in KINDS:
        while count[kind] < getattr(choice, kind) and _name(kind, count[kind], choice) in drawn:
            count[kind] += 1
    folds = choice.folds if count["folds"] == choice.folds else 0
    return replace(choice, folds=folds, bootstrap=count["bootstrap"])


def of_kind(drawn: dict, kind: str, choice: Choice) -> list:
    """The values of the requested folds or bootstrap tables, from a mapping by the draw's name."""
    return [drawn[_name(kind, number, choice)] for number in range(getattr(choice, kind))]


def constant_columns(task: Task) -> dict[str, list[int]]:
    """The columns with a single value in the rows of each draw, by the draw's name."""
    ranks, constant = task.design.ranks.T, {}
    for name, weights in _weights(task):
        seen = ranks[:, weights > 0]
        constant[name] = np.flatnonzero(seen.min(1) == seen.max(1)).tolist()
    return constant


def shares(edges: list[tuple[int, int]], drawn: list[list], constant: list[list[int]]) -> list[float]:
    """Each edge's share of draws with it, among those in which both its columns vary; NaN if there are none."""
    times = Counter(tuple(edge) for draw in drawn for edge in draw)
    counts = [
        len(drawn) - sum(parent in columns or child in columns for columns in constant) for parent, child in edges
    ]
    return [times[edge] / count if count else np.nan for edge, count in zip(edges, counts, strict=True)]


def near_found(scores: Scores, optimum: Optimum, weights: Sequence[np.ndarray]) -> list[Drawn]:
    """Short searches on weighted rows from the best graph, under the same screen and prior; none if ended early."""
    tasks = []
    for row_weights in weights:
        drawn_scores = scores.replace(weights=row_weights, warm=scores, tolerance=SEARCHING)
        tasks.append((drawn_scores, search(drawn_scores, optimum.order, optimum.parents, most_sweeps=_SWEEPS)))
    results = resolve_until(has_enough := lambda: scores.reporter.has_enough, tasks)
    return [
        Drawn([[parent, child] for child, nodes in enumerate(again.parents) for parent in nodes], drawn_scores.made)
        for (drawn_scores, _), again in zip(tasks, results, strict=True)
        if again is not None and not has_enough()
    ]


def _weights(task: Task) -> Iterator[tuple[str, np.ndarray]]:
    """Each draw's name and row weights: first each fold left out, then each bootstrap table."""
    choice, rows, group, arm = task.choice, task.design.rows, task.group, task.arm
    if choice.folds:
        fold = fold_of_rows(rows, choice.folds, choice.seed, group)
        for number in range(choice.folds):
            yield _name("folds", number, choice), (fold != number).astype(float)
    drawn_from = rows if group is None else int(group.max()) + 1
    for number in range(choice.bootstrap):
        random = np.random.default_rng([choice.seed, 13, number])
        if arm is None or group is not None:
            drawn = random.integers(0, drawn_from, drawn_from)
        else:
            each = [np.flatnonzero(arm == label) for label in np.unique(arm)]
            drawn = np.concatenate([random.choice(rows_of, len(rows_of)) for rows_of in each])
        times = np.bincount(drawn, minlength=drawn_from).astype(float)
        yield _name("bootstrap", number, choice), times if group is None else times[group]


def _name(kind: str, number: int, choice: Choice) -> str:
    return f"{'redone ' * choice.redone}{kind} {number}"
