"""BOSS, the rival that a user might choose instead (`disco.rivals.general`), compared with a truth.

An undirected edge counts as an edge in both directions. If it joins a true pair, that is one true and one false
positive, so SHD counts one error and F1 half a hit.

    pip install -r benchmarks/requirements.txt
"""

from typing import Any

import pandas as pd

from disco.metrics import Edges, evaluate
from disco.rivals import find, options_of

PENALTY = options_of("boss").penalty  # λ


def read_boss(table: pd.DataFrame, truth: Edges, seed: int) -> dict[str, Any]:
    """Its edges compared with the truth, and `undirected`, the number of edges without direction; it has no order.

    Raises:
        InputError: causal-learn is not installed, or a column is constant.
    """
    found = find("boss", table, {"seed": seed})
    return {**evaluate(truth, edges=found.adjacency, table=table), "undirected": len(found.undirected)}
