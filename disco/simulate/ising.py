"""The complete pairwise binary model (Ising model): all nodes are drawn exactly, by enumeration.

log p(x) = Σ_i a x_i + Σ_{i<j} θ_ij (x_i - ½)(x_j - ½) - log Z, x in {0, 1}^d.

The distribution of any node given all others is logistic with main effects only, so the model looks the same from
every causal order.
"""

from collections.abc import Sequence

import numpy as np
from scipy.special import expit, logit

from disco.simulate.drawn_arms import Arms
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


def draw(
    mechanisms: Sequence[Mechanism], order: np.ndarray, arms: Arms, streams: Sequence[np.random.Generator]
) -> np.ndarray:
    """The values of all nodes, (nodes, rows); a is a node's intercept and θ the scaled coefficient of a parent.

    `order` is a causal order of the nodes, along which the arms act. The first of the streams, one per node, draws all
    nodes of the controls.
    """
    coupling = np.zeros((len(mechanisms), len(mechanisms)))
    for child, mechanism in enumerate(mechanisms):
        coupling[mechanism.parents, child] = mechanism.scale * mechanism.coefficients
    joint = probabilities(np.array([node.intercept for node in mechanisms]), coupling)
    below, controls = joint.cumsum(), int((arms.arm == 0).sum())
    chosen = np.searchsorted(below, streams[0].random(controls) * below[-1], side="right")
    values = np.zeros((len(mechanisms), len(arms.arm)), dtype=np.int64)
    values[:, :controls] = states(len(mechanisms))[np.minimum(chosen, len(below) - 1)].T
    for number, node in enumerate(order):
        chance = _conditional(joint, order[: number + 1], values)
        effect = arms.shifted(node, None)
        chance = chance if effect is None else expit(logit(chance) + effect)
        drawn = np.where(arms.arm > 0, streams[node].random(len(chance)) < chance, values[node])
        values[node] = arms.set(node, drawn)
    return values


def _conditional(joint: np.ndarray, nodes: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The probability that the last of some nodes is 1, given the values of those before it, (rows,)."""
    state = states(len(values))
    weights = 1 << np.arange(len(nodes))
    masses = np.bincount(state[:, nodes] @ weights, joint, 1 << len(nodes))
    codes = values[nodes[:-1]].T @ weights[:-1]
    ones_mass, zeros_mass = masses[codes + weights[-1]], masses[codes]
    return ones_mass / (ones_mass + zeros_mass)
