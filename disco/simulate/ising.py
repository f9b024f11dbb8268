"""The complete pairwise binary model (Ising model): all nodes are drawn together, exactly, by enumeration.

log p(x) = Σ_i a x_i + Σ_{i<j} θ_ij (x_i - ½)(x_j - ½) - log Z, x in {0, 1}^d.

The distribution of any node given all others is logistic with main effects only, so the model looks the same from
every causal order.
"""

from collections.abc import Sequence

import numpy as np

from disco.simulate.mechanisms import Mechanism

KEY = "ising"


def states(nodes: int) -> np.ndarray:
    """All joint values of the nodes, (2^nodes, nodes)."""
    return np.arange(2**nodes)[:, None] >> np.arange(nodes) & 1


def probabilities(field: np.ndarray, coupling: np.ndarray) -> np.ndarray:
    """The probability of each of `states`; field (nodes,), coupling (nodes, nodes) with each pair once."""
    values = states(len(field))
    centred = values - 0.5
    logs = values @ field + ((centred @ coupling) * centred).sum(axis=1)
    weights = np.exp(logs - logs.max())
    return weights / weights.sum()


def draw(mechanisms: Sequence[Mechanism], rows: int, stream: np.random.Generator) -> np.ndarray:
    """The values of all nodes, (nodes, rows); a is a node's intercept and θ the scaled coefficient of a parent."""
    coupling = np.zeros((len(mechanisms), len(mechanisms)))
    for child, mechanism in enumerate(mechanisms):
        coupling[mechanism.parents, child] = mechanism.scale * mechanism.coefficients
    below = probabilities(np.array([node.intercept for node in mechanisms]), coupling).cumsum()
    chosen = np.searchsorted(below, stream.random(rows) * below[-1], side="right")
    return states(len(mechanisms))[np.minimum(chosen, len(below) - 1)].T
