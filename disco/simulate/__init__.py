"""Random causal graphs and count mechanisms with known truth (paper, Experimental Setup)."""

import numpy as np
import pandas as pd

from disco.simulate.graphs import edge_list, erdos_renyi
from disco.simulate.mechanisms import poisson_softplus

__all__ = ["edge_list", "erdos_renyi", "poisson_er", "poisson_softplus"]


def poisson_er(nodes: int = 20, rows: int = 2000, k: float = 3, seed: int = 0) -> tuple[pd.DataFrame, pd.DataFrame]:
    """A Poisson table on an ERk graph, and its true edges (columns parent and child).

    The graph, the coefficients and each node's counts have a random stream of their own: a table with fewer rows is
    the first rows of a longer one, as in the paper's sample-size curves.
    """
    graph_stream, mechanism_stream = np.random.default_rng(seed).spawn(2)
    adjacency = erdos_renyi(nodes, k, graph_stream)
    return poisson_softplus(adjacency, rows, mechanism_stream), edge_list(adjacency)
