"""The mean of an outcome if nodes are set, in one graph: ancestral sampling from the fits.

Nodes that the set ones do not act on keep what they have in the rows, as do covariates and exposure. Nodes between are
drawn, along the order; of the outcome itself the mean given its parents is taken, which needs no draw. Every value in
question uses the same random numbers, so that differences have little error.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from disco.effects.nodes import Conditional, Key, Nodes

Settings = Sequence[Mapping[int, float]]  # the values in question: of every set node, the same nodes in each


def means(
    nodes: Nodes, path: Sequence[Key], settings: Settings, rows: np.ndarray, number: int, random: np.random.Generator
) -> np.ndarray:
    """The outcome's mean at each of k settings, (k,).

    Args:
        nodes: the fits.
        path: the nodes changed by the set ones that act on the outcome, each with its parents, causes first; the
            outcome comes last.
        settings: the values in question.
        rows: over which to average, their numbers, (m,).
        number: of the draw of the coefficients; −1: those of the fit.
    """
    drawn = dict[int, np.ndarray]()
    for key in path[:-1]:
        one = nodes.conditional(key, number)
        levels = one.drawn(_index(nodes, one, key, settings, rows, drawn), rows, random)
        drawn[key[0]] = nodes.as_parent(key[0], levels, rows)
    one = nodes.conditional(path[-1], number)
    return one.mean(_index(nodes, one, path[-1], settings, rows, drawn), rows)


def _index(
    nodes: Nodes, one: Conditional, key: Key, settings: Settings, rows: np.ndarray, drawn: Mapping[int, np.ndarray]
) -> np.ndarray:
    """The sum of the parents' effects, (k, m)."""
    found = np.zeros((len(settings), len(rows)))
    for number, parent in enumerate(key[1]):
        if parent in settings[0]:
            at = [one.at(number, nodes.basis_at(parent, values[parent])) for values in settings]
            found += np.array(at)[:, None]
        else:
            found += one.effects[number][drawn[parent] if parent in drawn else nodes.levels[rows, parent]]
    return found
