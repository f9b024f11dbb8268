"""Tables drawn from random causal graphs and mechanisms, so that the truth is known (paper, Experimental Setup)."""

import pandas as pd

from disco.simulate.design import Design
from disco.simulate.edge_files import read_edges, read_truth, truth_of
from disco.simulate.mechanism_families import FAMILIES
from disco.simulate.random_graphs import GRAPHS, edge_list
from disco.simulate.sampling import Simulated, do, simulate


def poisson_er(nodes: int = 20, rows: int = 2000, k: float = 3, seed: int = 0) -> tuple[pd.DataFrame, pd.DataFrame]:
    """A Poisson table on an ERk graph, and its true edges (columns parent and child)."""
    drawn = simulate(Design(nodes=nodes, rows=rows, k=k, seed=seed))
    return drawn.table, drawn.truth[["parent", "child"]]
