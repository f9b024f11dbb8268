"""The parents of a node under linear models, selected from the correlations of their columns.

Compiled: `model` is a `disco.linear.insertion.LinearModel`, `work` what its `_room` makes.
"""

import numpy as np

from disco.likelihood.cpu import in_order

MOST_PARENTS = 32  # per node
_UNIQUE = 1e-6  # smallest share of a parent's variance that the other parents leave unexplained


@in_order
def gain_of(model, node, parents, newcomer, work):
    """The gain of one more parent, by the best of its columns alone, nats."""
    if len(parents) == MOST_PARENTS:
        return -np.inf
    factor, along = work[1][0][0], work[1][1]
    unexplained = _factorise(model, node, parents, factor, along[0])
    share = 0.0
    for column in model.columns[newcomer]:
        if column < 0:
            continue
        unique = 1.0
        partial = model.correlations[column, model.own[node]]
        for i in range(len(parents)):
            total = model.correlations[column, parents[i]]
            for j in range(i):
                total -= factor[i, j] * along[1, j]
            along[1, i] = total / factor[i, i]
            unique -= along[1, i] ** 2
            partial -= along[0, i] * along[1, i]
        if unique >= _UNIQUE:
            share = max(share, partial**2 / unique / unexplained)
    return _worth(model, share)


@in_order
def _worth(model, share):
    """The gain from a parent that explains a share of the remaining variance, nats."""
    return -model.half * np.log1p(-min(share, 1 - 1e-10)) - model.cost


@in_order
def _factorise(model, node, parents, factor, along):
    """Write the Cholesky factor L of the parents' correlations, and L⁻¹ times those with the node, into `along`.

    Returns the share of the node's variance that its parents leave unexplained.
    """
    unexplained = 1.0
    for i in range(len(parents)):
        for j in range(i + 1):
            total = model.correlations[parents[i], parents[j]]
            for k in range(j):
                total -= factor[i, k] * factor[j, k]
            factor[i, j] = np.sqrt(max(total, 1e-12)) if i == j else total / factor[j, j]
        total = model.correlations[parents[i], model.own[node]]
        for k in range(i):
            total -= factor[i, k] * along[k]
        along[i] = total / factor[i, i]
        unexplained -= along[i] ** 2
    return max(unexplained, 1e-10)


@in_order
def select(model, node, allowed, parents, work):
    """Select a node's parents: add the best until none has a gain, then remove the worst until each has one.

    Writes them into `parents`; returns their score and number.
    """
    (spanned, residual, is_in), _ = work
    count, size, score, unexplained = len(allowed), 0, 0.0, 1.0
    for i in range(count):
        residual[0, i], residual[1, i], is_in[i] = 1.0, model.correlations[allowed[i], model.own[node]], False
    while size < MOST_PARENTS:
        best, top = -1, 0.0
        for i in range(count):
            if not is_in[i] and residual[0, i] > _UNIQUE and residual[1, i] ** 2 / residual[0, i] > top:
                best, top = i, residual[1, i] ** 2 / residual[0, i]
        if best < 0:
            break
        gain = _worth(model, top / unexplained)
        if gain <= 0:
            break
        scale, with_node = 1 / np.sqrt(residual[0, best]), residual[1, best]
        for i in range(count):
            if not is_in[i]:
                total = model.correlations[allowed[i], allowed[best]]
                for k in range(size):
                    total -= spanned[i, k] * spanned[best, k]
                spanned[i, size] = total * scale
                residual[0, i] -= spanned[i, size] ** 2
                residual[1, i] -= spanned[i, size] * with_node * scale
        is_in[best], parents[size] = True, allowed[best]
        size, score, unexplained = size + 1, score + gain, max(unexplained - top, 1e-10)
    return _without_worst(model, node, parents, size, score, work)


@in_order
def _without_worst(model, node, parents, size, score, work):
    """Remove a node's parents that are not worth their cost, the worst first; returns their score and number."""
    (factor, inverse), along = work[1]
    while size > 1:
        unexplained = _factorise(model, node, parents[:size], factor, along[0])
        worst, smallest = -1, 0.0
        for j in range(size - 1, -1, -1):
            # Column j of L⁻¹; the coefficient and its variance follow from it.
            effect = variance = 0.0
            for i in range(j, size):
                total = 1.0 if i == j else 0.0
                for k in range(j, i):
                    total -= factor[i, k] * inverse[k, j]
                inverse[i, j] = total / factor[i, i]
                effect += inverse[i, j] * along[0, i]
                variance += inverse[i, j] ** 2
            lost = model.half * np.log1p(effect**2 / variance / unexplained) - model.cost
            if lost < smallest:
                worst, smallest = j, lost
        if worst < 0:
            break
        for j in range(worst, size - 1):
            parents[j] = parents[j + 1]
        size, score = size - 1, score - smallest
    return score, size
