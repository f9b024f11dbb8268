"""BOSS: what a user would pick instead, a general search over orders on logged counts.

causal-learn's best order score search (Andrews and others, 2023) maximises a Gaussian BIC of linear regressions, here
of standardised log(1 + x), with λ = 2: every coefficient costs 2 log n, four times what the BIC asks for. Linear
Gaussian models of one equivalence class fit alike, so its answer is the class: directed edges, and undirected ones,
whose direction it leaves open.

An undirected edge counts as an edge in both directions: where it joins a true pair, one true and one false positive,
so SHD counts it once and F1 half.

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
        directed: parent, child of the edges that all its graphs have.
        undirected: the joined pairs whose direction differs between them, each once.
    """

    directed: Pairs
    undirected: Pairs

    @property
    def edges(self) -> Pairs:
        """All edges, an undirected one in both directions."""
        return self.directed + self.undirected + [(v, u) for u, v in self.undirected]


def boss(table: pd.DataFrame, seed: int = 0) -> Class:
    """The class that BOSS finds.

    Args:
        table: counts, one column a node.
        seed: of the order in which nodes are moved.

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
    """Its edges against the truth, with `undirected`, the number of edges without a direction; it gives no order.

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
    """The edges of causal-learn's matrix, which has -1 at the tail of an edge and 1 at its head: (nodes, nodes)."""
    tail = graph == -1
    directed = np.argwhere(tail & (graph.T == 1))
    undirected = np.argwhere(np.triu(tail & tail.T))
    return Class(*([(names[i], names[j]) for i, j in edges] for edges in (directed, undirected)))
