"""Count mechanisms (paper, Data generation, table of the six benchmark mechanisms).

Of a node j with parents, the index is z_j = b0 + sum over parents k of beta_kj phi(X_k). Nothing is standardised,
normalised by the number of parents, or changed after it is drawn.
"""

import networkx as nx
import numpy as np
import pandas as pd

from disco.errors import InputError

SOURCE_MEAN = 2.0
INTERCEPT = 0.5  # b0
COEFFICIENTS = (0.30, 0.45)  # beta ~ U
FLOOR = 0.2


def poisson_softplus(adjacency: pd.DataFrame, rows: int, rng: np.random.Generator) -> pd.DataFrame:
    """X_j ~ Poisson(0.2 + log(1 + exp(0.5 + sum_k beta_kj X_k))), beta ~ U[0.30, 0.45]; sources ~ Poisson(2).

    Args:
        adjacency: 0/1, rows are parents, columns are children.
        rows: the number of observations.
        rng: gives one stream for the coefficients and one to each node.

    Returns:
        int64 counts, (rows, nodes), columns as in the matrix.

    Raises:
        InputError: the matrix has a cycle.
    """
    present = adjacency.to_numpy(dtype=bool)
    try:
        order = list(nx.topological_sort(nx.from_numpy_array(present, create_using=nx.DiGraph)))
    except nx.NetworkXUnfeasible:
        raise InputError("The graph has a cycle; counts can be drawn along a directed acyclic graph only.") from None
    coefficient_stream, *node_streams = rng.spawn(1 + len(present))
    coefficients = coefficient_stream.uniform(*COEFFICIENTS, size=present.shape) * present
    counts = np.zeros((rows, len(present)), dtype=np.int64)
    for node in order:
        mean = FLOOR + np.logaddexp(0.0, INTERCEPT + counts @ coefficients[:, node])
        if not present[:, node].any():
            mean = np.full(rows, SOURCE_MEAN)
        counts[:, node] = node_streams[node].poisson(mean)
    return pd.DataFrame(counts, columns=adjacency.columns)
