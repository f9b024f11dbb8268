"""How often every edge comes again on other rows: bootstrap tables, and folds left out in turn."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import torch

from disco.likelihood.bank import Bank
from disco.ranks import fold_of_rows
from disco.refine.choice import Choice
from disco.refine.memory import Memory
from disco.refine.progress import Told
from disco.refine.scores import SEARCHING, Scores, resolve
from disco.refine.search import Found, search

KINDS = ("folds", "bootstrap")
_SWEEPS = 3
_SIDE_BY_SIDE = 4  # searches whose fits share batches

Drawn = tuple[list[list[int]], int]  # edges (parent, child), and how many fits they took


def draw(
    rows: int, choice: Choice, told: Told, kept: Memory, again: Callable[[Sequence[np.ndarray]], Iterator[Drawn]]
) -> None:
    """Search on every draw that is asked for, and keep its edges.

    Args:
        rows: n.
        again: searches on tables whose rows have some weights, (n,) each.
    """
    drawn = dict(_weights(rows, choice))
    missing = [name for name in drawn if name not in kept.drawn]
    for at in range(0, len(missing), _SIDE_BY_SIDE):
        part = missing[at : at + _SIDE_BY_SIDE]
        done = len(drawn) - len(missing) + at
        told.step("bootstrap", done, len(drawn), message=f"bootstrap: table {done + 1} of {len(drawn)}")
        for name, (edges, made) in zip(part, again([drawn[name] for name in part]), strict=True):
            kept.drawn[name], kept.made[name] = edges, made
        kept.write()


def of_kind(drawn: dict, kind: str, choice: Choice) -> list:
    """What belongs to the folds, or to the bootstrap tables, that are asked for."""
    return [drawn[_name(kind, number, choice)] for number in range(getattr(choice, kind))]


def constant_columns(bank: Bank, choice: Choice) -> dict[str, list[int]]:
    """The columns without a second value on the rows of a draw, by its name."""
    ranks, found = bank.ranks.T.cpu().numpy(), {}
    for name, weights in _weights(bank.rows, choice):
        seen = ranks[:, weights > 0]
        found[name] = np.flatnonzero(seen.min(1) == seen.max(1)).tolist()
    return found


def shares(edges: list[tuple[int, int]], drawn: list[list], constant: list[list[int]]) -> list[float]:
    """The share of the draws with an edge, of those in which both its columns vary; NaN where there is none."""
    times = Counter(tuple(edge) for one in drawn for edge in one)
    told = [len(drawn) - sum(parent in one or child in one for one in constant) for parent, child in edges]
    return [times[edge] / count if count else np.nan for edge, count in zip(edges, told, strict=True)]


def near_found(scores: Scores, found: Found, weights: Sequence[np.ndarray]) -> Iterator[Drawn]:
    """Short searches on weighted rows from the order found, by the same screen and prior."""
    tasks = []
    for one in weights:
        weighted = torch.as_tensor(one).to(scores.bank.value)
        other = scores.but(weights=weighted, warm=scores, tolerance=SEARCHING)
        tasks.append((other, search(other, found.order, found.parents, most_sweeps=_SWEEPS)))
    for (other, _), again in zip(tasks, resolve(tasks), strict=True):
        yield [[parent, child] for child, nodes in enumerate(again.parents) for parent in nodes], other.made


def _weights(rows: int, choice: Choice) -> Iterator[tuple[str, np.ndarray]]:
    """The weights of the rows when each fold is left out, then in each bootstrap table."""
    fold = fold_of_rows(rows, choice.folds, choice.seed) if choice.folds else None
    for number in range(choice.folds):
        yield _name("folds", number, choice), (fold != number).astype(float)
    for number in range(choice.bootstrap):
        drawn = np.random.default_rng([choice.seed, 13, number]).integers(0, rows, rows)
        yield _name("bootstrap", number, choice), np.bincount(drawn, minlength=rows).astype(float)


def _name(kind: str, number: int, choice: Choice) -> str:
    return f"{'redone ' * choice.redone}{kind} {number}"
