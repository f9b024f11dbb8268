"""Random DAGs (paper, Experimental Setup, Graph and sampling protocol). Rows are parents, columns children."""

import numpy as np
import pandas as pd

from disco.errors import InputError


def erdos_renyi(nodes: int, expected_parents: float, rng: np.random.Generator) -> pd.DataFrame:
    """An ERk graph with k = `expected_parents`: a random order of the nodes is the causal order.

    Each pair of an earlier and a later node is an edge independently with probability min(1, 2k / d), so that k (d - 1)
    edges are expected.

    Returns:
        The 0/1 matrix, (nodes, nodes), named x1 to xd on both sides.

    Raises:
        InputError: there are fewer than 2 nodes, or the expected number of parents is negative.
    """
    if nodes < 2:
        raise InputError(f"A graph needs at least 2 nodes; got {nodes}.")
    if expected_parents < 0:
        raise InputError(f"The expected number of parents must be 0 or more; got {expected_parents}.")
    place = rng.permutation(nodes)
    drawn = rng.random((nodes, nodes)) < 2 * expected_parents / nodes
    names = [f"x{j + 1}" for j in range(nodes)]
    return pd.DataFrame((drawn & (place[:, None] < place[None, :])).astype(np.int64), index=names, columns=names)


def edge_list(adjacency: pd.DataFrame) -> pd.DataFrame:
    """The edges of a 0/1 matrix as a table with columns parent and child."""
    rows, columns = adjacency.to_numpy().nonzero()
    names = adjacency.columns.to_numpy()
    return pd.DataFrame({"parent": names[rows], "child": names[columns]})
