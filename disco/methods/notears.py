"""NOTEARS-MLP (Zheng and others, 2020) by gCastle, on standardised log(1 + x).

An MLP predicts every node from the others. An edge's weight is the norm of the first-layer weights from its parent, and
a penalty on cycles among the weights grows until almost none is left. Edges above a threshold are kept. If they have
cycles, the weakest edge on any cycle is removed until there is none. In the order, a tie
goes to the earlier column, so the order of the columns enters it.

gCastle cannot be stopped, so callback and time limit are checked at every prediction of its network.
"""

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd

from disco.errors import FitStopped, InputError
from disco.fields import check, number, whole
from disco.graph.result import GraphResult
from disco.methods.general import standardised
from disco.methods.registry import INSTALL
from disco.progress import Callback, Reporter
from disco.table.prepared import Table, prepare

_NAMED = 5  # largest number of removed edges that a note names


@dataclass(frozen=True)
class Options:
    """gCastle's parameters, with its defaults, and a time limit."""

    lambda1: float = number(0.01, at_least=0, help="Weight of the L1 penalty.")
    lambda2: float = number(0.01, at_least=0, help="Weight of the L2 penalty.")
    max_iter: int = whole(100, at_least=1, help="Steps in which the penalty on cycles grows.")
    threshold: float = number(0.3, at_least=0, help="Weight that an edge must exceed.")
    hidden: int = whole(10, at_least=1, help="Number of hidden units.")
    limit: float = number(14_400.0, above=0, help="Time limit in seconds.")
    seed: int = whole(0, within=(0, 2**32 - 1), help="Seed of the initial weights.")

    def __post_init__(self) -> None:
        check(self)


def find(table: Table, options: Options, *, callback: Callback | None = None) -> GraphResult:
    """Edges by NOTEARS-MLP, made acyclic, and an order of them; an edge's score is its weight.

    While it runs, torch's default type in this process is double. InputError: a column is constant, the time limit was
    reached, or gCastle failed.
    """
    counts = prepare(table).counts
    names = list(counts.columns)
    reporter = Reporter(callback, {"search": 1.0}, "NOTEARS was stopped.")
    weights = _weights(standardised(counts, "NOTEARS"), options, reporter)
    if not np.isfinite(weights).all():
        raise InputError("NOTEARS found no finite weights for this table.")
    without_cycles, dropped = acyclic(np.where(weights > options.threshold, weights, 0.0), reporter.check)
    scored = [(names[i], names[j], weights[i, j]) for i, j in np.argwhere(weights > 0)]
    edges = [(names[i], names[j]) for i, j in np.argwhere(without_cycles > 0)]
    notes = []
    if dropped:
        removed = ", ".join(f'"{names[i]}" → "{names[j]}"' for i, j in dropped[:_NAMED])
        rest = f" and {len(dropped) - _NAMED} more" if len(dropped) > _NAMED else ""
        notes.append(
            f"The edges had cycles. The weakest edge on any cycle was removed until none was left: {removed}{rest}."
        )
    graph = nx.from_numpy_array(without_cycles, create_using=nx.DiGraph)
    order = [names[node] for node in nx.lexicographical_topological_sort(graph)]
    scores = pd.DataFrame(scored, columns=["parent", "child", "score"]).astype({"score": float})
    return GraphResult.of(names, edges, order=order, scores=scores, notes=tuple(notes))


def acyclic(weights: np.ndarray, check: Callable[[], None] = lambda: None) -> tuple[np.ndarray, list[tuple[int, int]]]:
    """Weights without cycles, and the removed edges: repeatedly the weakest on any cycle, the first of equals.

    One pass from the weakest edge up is enough, since removals never put an edge on a cycle. `weights` is [parent,
    child], 0 without an edge, (nodes, nodes); `check` is called before every edge and may stop.
    """
    remaining, dropped = weights.copy(), list[tuple[int, int]]()
    for _, i, j in sorted((weights[i, j], int(i), int(j)) for i, j in np.argwhere(weights > 0)):
        check()
        if _reaches(remaining > 0, j, i):
            remaining[i, j] = 0.0
            dropped.append((i, j))
    return remaining, dropped


def _reaches(joined: np.ndarray, start: int, end: int) -> bool:
    """Whether a path leads from a node to another, by [parent, child], (nodes, nodes)."""
    seen = np.zeros(len(joined), dtype=bool)
    fresh = np.arange(len(joined)) == start
    while fresh.any() and not fresh[end]:
        seen |= fresh
        fresh = joined[fresh].any(axis=0) & ~seen
    return bool(fresh[end])


def _weights(values: np.ndarray, options: Options, reporter: Reporter) -> np.ndarray:
    from torch.nn.modules.module import register_module_forward_pre_hook

    began = time.monotonic()

    def look(*_: Any) -> None:
        spent = time.monotonic() - began
        if spent > options.limit:
            raise InputError(f"NOTEARS did not finish within {options.limit:,.0f} seconds: set a longer limit.")
        reporter.step("search", int(spent), int(options.limit), spent / options.limit)

    hook = register_module_forward_pre_hook(look)
    try:
        with _contained(options.seed):
            from castle.algorithms import NotearsNonlinear

            sizes = {"lambda1": options.lambda1, "lambda2": options.lambda2, "max_iter": options.max_iter}
            model = NotearsNonlinear(**sizes, hidden_layers=(options.hidden, 1))
            model.learn(values)
            return np.abs(np.asarray(model.weight_causal_matrix, dtype=float))
    except ModuleNotFoundError as error:
        raise InputError(f"NOTEARS needs {error.name}, which is missing: {INSTALL}.") from error
    except (FitStopped, InputError, MemoryError):
        raise
    except Exception as error:
        raise InputError(f"NOTEARS failed: {type(error).__name__}: {str(error).rstrip('.')}.") from error
    finally:
        hook.remove()


@contextmanager
def _contained(seed: int) -> Iterator[None]:
    """Torch seeded and in double precision; gCastle's changes to torch, numpy and the root logger are undone."""
    import torch

    previous, silent = torch.get_default_dtype(), logging.NullHandler()
    logging.getLogger().addHandler(silent)  # gCastle adds none if there is one
    with np.printoptions(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        torch.set_default_dtype(torch.double)
        try:
            yield
        finally:
            torch.set_default_dtype(previous)
            logging.getLogger().removeHandler(silent)
