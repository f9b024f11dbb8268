"""BOSS, the rival that a user might choose instead: a general search over orders, on log counts.

causal-learn's best order score search (Andrews and others, 2023) maximises a Gaussian BIC of linear regressions, here
of standardised log(1 + x), with λ = 2: every coefficient costs 2 log n, four times as much as in the BIC. Linear
Gaussian models of the same equivalence class fit equally well, so the result is the class: directed edges, and
undirected edges whose direction is left open.

An undirected edge counts as an edge in both directions. If it joins a true pair, that is one true and one false
positive, so SHD counts one error and F1 half a hit.

    pip install -r benchmarks/requirements.txt
"""

import random
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from disco.errors import InputError
from disco.metrics import Edges, evaluate

PENALTY = 2  # λ, causal-learn's default

Pairs = list[tuple[str, str]]


@dataclass(frozen=True)
class Class:
    """An equivalence class of graphs.

    Attributes:
        directed: (parent, child) of the edges in all its graphs.
        undirected: the adjacent pairs whose direction differs between its graphs, each once.
    """

    directed: Pairs
    undirected: Pairs

    @property
    def edges(self) -> Pairs:
        """All edges, undirected ones in both directions."""
        return self.directed + self.undirected + [(v, u) for u, v in self.undirected]


def boss(table: pd.DataFrame, seed: int = 0) -> Class:
    """The class that BOSS finds.

    Args:
        table: counts, one column per node.
        seed: seed of the order in which nodes are moved.

    Raises:
        InputError: causal-learn is not installed, or a column is constant.
    """
    search = _search()
    logged = np.log1p(table.to_numpy(dtype=float))
    spread = logged.std(axis=0)
    if not spread.all():
        raise InputError(f'BOSS needs columns that vary; "{table.columns[int(spread.argmin())]}" is constant.')
    state = random.getstate()
    random.seed(seed)
    try:
        found = search(
            (logged - logged.mean(axis=0)) / spread,
            score_func="local_score_BIC_from_cov",
            parameters={"lambda_value": PENALTY},
            verbose=False,
        )
    finally:
        random.setstate(state)
    return _read(found.graph, list(table.columns))


def read_boss(table: pd.DataFrame, truth: Edges, seed: int) -> dict[str, Any]:
    """Its edges compared with the truth, and `undirected`, the number of edges without direction; it has no order.

    Raises:
        InputError: as for `boss`.
    """
    found = boss(table, seed)
    return {**evaluate(truth, edges=found.edges, table=table), "undirected": len(found.undirected)}


def _search() -> Any:  # noqa: ANN401
    try:
        from causallearn.search.PermutationBased.BOSS import boss as search
    except ModuleNotFoundError as error:
        raise InputError(
            f"BOSS needs causal-learn, of which {error.name} is not installed: "
            "pip install -r benchmarks/requirements.txt."
        ) from error
    return search


def _read(graph: np.ndarray, names: list[str]) -> Class:
    """The edges of causal-learn's matrix (nodes, nodes), which has -1 at the tail of an edge and 1 at its head."""
    tail = graph == -1
    directed = np.argwhere(tail & (graph.T == 1))
    undirected = np.argwhere(np.triu(tail & tail.T))
    return Class(*([(names[i], names[j]) for i, j in edges] for edges in (directed, undirected)))
