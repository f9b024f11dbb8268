"""NOTEARS-MLP (Zheng and others, 2020) by gCastle, on standardised log(1 + x).

A multilayer perceptron predicts every node from the others; an edge's weight is the norm of the first-layer weights
from its parent, and a penalty on cycles among the weights grows until hardly any is left. Edges of weight above a
threshold are kept. If they have cycles, the weakest edge on any cycle is dropped until there is none. The order is the
topological one nearest to the order of the columns.

gCastle changes torch's default type for the whole process and cannot be stopped. So it runs in a process of its own,
which is ended when the caller stops, the time is over, or this process is gone:

    python -m disco.methods.notears FOLDER      reads input.npy and options.json there, writes weights.npy
"""

import contextlib
import dataclasses
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import networkx as nx
import numpy as np
import pandas as pd

from disco.checks import check, number, whole
from disco.errors import InputError
from disco.found import Found
from disco.methods.general import standardised
from disco.progress import Callback, Reporter
from disco.table.prepared import Table, prepare

_NAMED = 5  # dropped edges, at most, that a note names
_LOOK = 0.1  # seconds between two looks at the process and the callback


@dataclass(frozen=True)
class Options:
    """gCastle's numbers, as it has them by default, and a time limit.

    Attributes:
        lambda1, lambda2: of the penalties on the sizes and the squares of weights.
        max_iter: steps in which the penalty on cycles grows.
        threshold: weight that an edge must exceed.
        hidden: units of the hidden layer.
        limit: seconds after which it is ended.
        seed: of the first weights.
    """

    lambda1: float = number(0.01, at_least=0)
    lambda2: float = number(0.01, at_least=0)
    max_iter: int = whole(100, at_least=1)
    threshold: float = number(0.3, at_least=0)
    hidden: int = whole(10, at_least=1)
    limit: float = number(14_400.0, above=0)
    seed: int = whole(0, at_least=0, at_most=2**32 - 1)

    def __post_init__(self) -> None:
        check(self)


def find(table: Table, options: Options, *, callback: Callback | None = None) -> Found:
    """Edges by NOTEARS-MLP, made acyclic, and an order of them; an edge's score is its weight.

    Raises:
        InputError: a column is constant, the time is over, or gCastle failed.
        FitStopped: the callback asked to stop.
    """
    counts = prepare(table).counts
    names = list(counts.columns)
    weights = _apart(standardised(counts, "NOTEARS"), options, callback)
    if not np.isfinite(weights).all():
        raise InputError("NOTEARS found no finite weights on this table.")
    check = Reporter(callback, {"search": 1.0}, "NOTEARS was stopped.").check
    kept, dropped = acyclic(np.where(weights > options.threshold, weights, 0.0), check)
    scored = [(names[i], names[j], weights[i, j]) for i, j in np.argwhere(weights > 0)]
    edges = [(names[i], names[j]) for i, j in np.argwhere(kept > 0)]
    notes = []
    if dropped:
        said = ", ".join(f'"{names[i]}" → "{names[j]}"' for i, j in dropped[:_NAMED])
        more = f" and {len(dropped) - _NAMED} more" if len(dropped) > _NAMED else ""
        notes.append(
            f"The edges had cycles, and the weakest edge on any was dropped until there was none: {said}{more}."
        )
    graph = nx.from_numpy_array(kept, create_using=nx.DiGraph)
    order = [names[node] for node in nx.lexicographical_topological_sort(graph)]
    scores = pd.DataFrame(scored, columns=["parent", "child", "score"]).astype({"score": float})
    return Found.of(names, edges, order=order, scores=scores, notes=tuple(notes))


def acyclic(weights: np.ndarray, check: Callable[[], None] = lambda: None) -> tuple[np.ndarray, list[tuple[int, int]]]:
    """Weights without cycles, and the edges dropped: the weakest on any cycle, the first of equals, again and again.

    One pass from the weakest edge up is enough, since an edge that is on no cycle does not come to be on one.

    Args:
        weights: [parent, child], 0 for no edge, (nodes, nodes).
        check: called before every edge; may stop.
    """
    left, dropped = weights.copy(), list[tuple[int, int]]()
    for _, i, j in sorted((weights[i, j], int(i), int(j)) for i, j in np.argwhere(weights > 0)):
        check()
        if _reaches(left > 0, j, i):
            left[i, j] = 0.0
            dropped.append((i, j))
    return left, dropped


def _reaches(joined: np.ndarray, start: int, end: int) -> bool:
    """Whether a path leads from a node to another, by [parent, child], (nodes, nodes)."""
    seen = np.zeros(len(joined), dtype=bool)
    fresh = np.arange(len(joined)) == start
    while fresh.any() and not fresh[end]:
        seen |= fresh
        fresh = joined[fresh].any(axis=0) & ~seen
    return bool(fresh[end])


def _apart(values: np.ndarray, options: Options, callback: Callback | None) -> np.ndarray:
    """The weights [parent, child], (nodes, nodes), computed in a process of its own."""
    reporter = Reporter(callback, {"search": 1.0}, "NOTEARS was stopped.")
    with TemporaryDirectory(prefix="disco-notears-") as name:
        folder = Path(name)
        np.save(folder / "input.npy", values, allow_pickle=False)
        (folder / "options.json").write_text(json.dumps(dataclasses.asdict(options)), encoding="utf-8")
        began = time.monotonic()
        with (folder / "log").open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "disco.methods.notears", name],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=Path(__file__).resolve().parents[2],  # where it finds this package
                env={**os.environ, "MPLBACKEND": "Agg", "CASTLE_BACKEND": "pytorch"},
            )
        try:
            while process.poll() is None:
                spent = time.monotonic() - began
                if spent > options.limit:
                    raise InputError(
                        f"NOTEARS was not done after {options.limit:,.0f} seconds: give it a longer limit."
                    )
                reporter.step("search", int(spent), int(options.limit), spent / options.limit)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(_LOOK)
        finally:
            process.kill()
            process.wait()
        if process.returncode or not (folder / "weights.npy").exists():
            raise InputError(f"NOTEARS failed: {_last_line(folder / 'log', process.returncode)}.")
        return np.load(folder / "weights.npy", allow_pickle=False)


def _last_line(log: Path, code: int) -> str:
    """The last words of a process, or, if it had none, how it ended."""
    lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    killed = "its process was ended from outside, perhaps for lack of memory"
    return lines[-1].rstrip(".") if lines and code > 0 else killed


def _end_with(parent: int) -> None:
    """End this process once its parent is gone."""
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


def _work(folder: Path) -> None:
    """What the process does."""
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    import torch
    from castle.algorithms import NotearsNonlinear

    given = json.loads((folder / "options.json").read_text(encoding="utf-8"))
    torch.manual_seed(given["seed"])
    model = NotearsNonlinear(
        lambda1=given["lambda1"],
        lambda2=given["lambda2"],
        max_iter=given["max_iter"],
        hidden_layers=(given["hidden"], 1),
    )
    model.learn(np.load(folder / "input.npy", allow_pickle=False))
    weights = np.abs(np.asarray(model.weight_causal_matrix, dtype=float))
    np.save(folder / "unfinished.npy", weights, allow_pickle=False)
    (folder / "unfinished.npy").rename(folder / "weights.npy")


if __name__ == "__main__":
    _work(Path(sys.argv[1]))
