"""Other classes of a node's distribution given its parents, as designs for the same fits.

The semiparametric GLM multiplies a node's base measure by exp(v η(pa)). A direction that this class identifies need not
be identified if the true class is another one:

- *hurdle*: whether a node is above 0, and its value where it is, each follow a GLM with parents of its own,

      p(v | pa) = p(1[v > 0] | pa) · p(v | v > 0, pa)^1[v > 0].

  If a parent acts on the zeros alone, its own distribution given the node is a GLM, so the reversed edge fits exactly.
- *normal scores*: the base measure is multiplied by exp(z(v) η(pa)), with z(v) the normal quantile of v's middle rank
  and η linear in the parents' normal scores. That is a Gaussian copula, in which a pair of nodes has no direction.

Each design differs from the table's only in what a node is as a child and, for normal scores, as a parent. Scores
without parents differ between classes by a constant, so only differences from them can be compared.
"""

from dataclasses import replace

import numpy as np
from numpy.polynomial.hermite_e import hermeval
from scipy.special import factorial, ndtri

from disco.likelihood.rank_design import RIDGE, Prior, RankDesign, by_node, level_counts, orthonormal, padded

_DEGREES = 12  # of Hermite's polynomials
_LEAST = 10  # rows at 0, and rows above it, of a node with a hurdle


def has_hurdle(design: RankDesign) -> np.ndarray:
    """Whether a node has enough rows at its lowest level and above, and more than two levels, (d,)."""
    at_zero = design.counts[:, 0]
    return (np.minimum(at_zero, design.rows - at_zero) >= _LEAST) & (design.exists.sum(1) > 2)


def zero_parts(design: RankDesign) -> RankDesign:
    """The design of 1[v > 0] for every node."""
    is_above = design.ranks > 0
    spread = np.maximum(is_above.std(axis=0), RIDGE)
    nodes = [(np.array([0.0, 1.0]) / scale, np.empty((2, 0))) for scale in spread]
    return _as_child(design, is_above.astype(np.int64), nodes)


def positive_parts(design: RankDesign) -> RankDesign:
    """The design of every node on its rows above 0; of all rows for a node without a hurdle."""
    nodes, rows = [], (design.ranks.T > 0).astype(float)
    for node, applies in enumerate(has_hurdle(design).tolist()):
        value, measure, share = _of_node(design, node)
        if applies:
            above = share[1:] / share[1:].sum()
            shapes = orthonormal(measure[1:], above, [np.ones_like(above), value[1:]])
            mean = above @ value[1:]
            value = value / np.sqrt(above @ (value[1:] - mean) ** 2)
            measure = np.vstack([np.zeros((1, shapes.shape[1])), shapes])
        else:
            rows[node] = 1.0
        nodes.append((value, measure))
    own_rows = rows if design.own_rows is None else rows * design.own_rows
    return replace(_as_child(design, design.ranks, nodes), own_rows=np.ascontiguousarray(own_rows))


def normal_scores(design: RankDesign, prior: Prior) -> RankDesign:
    """The design of a Gaussian copula, under a prior that keeps effects and link linear.

    An exposure acts only through the rows' own columns, since an offset has no meaning on this scale.
    """
    nodes = []
    basis, columns = np.zeros_like(design.basis), np.zeros_like(design.columns)
    columns[design.nodes :] = design.columns[design.nodes :]
    for node in range(design.nodes):
        value, measure, share = _of_node(design, node)
        z = _normal(share)
        shapes = np.column_stack([value, z**2, z**3, measure])
        nodes.append((z - z[0], orthonormal(shapes, share, [np.ones_like(z), z])))
        levels = design.parent_ranks[:, node]
        as_parent = _normal(np.bincount(levels) / design.rows)
        basis[node, : len(as_parent), 0] = as_parent
        if design.columns.shape[2]:
            columns[node, 0] = as_parent[levels]
    width = np.concatenate([np.ones(design.nodes, int), design.width[design.nodes :]])
    result = _as_child(design, design.ranks, nodes)
    return replace(result, basis=basis, columns=columns, width=width, prior=prior, offset=None)


def exactness(design: RankDesign) -> np.ndarray:
    """How closely every column's normal scores follow a normal variable whose intervals are its levels, (d, k).

    They are a step function of it; these are its coefficients on Hermite's polynomials of degree 1, 2, …, of which the
    first is the correlation of the two.
    """
    coefficients = np.empty((design.nodes, _DEGREES))
    for node in range(design.nodes):
        share = _of_node(design, node)[2]
        cuts = ndtri(np.cumsum(share)[:-1])
        heights = np.exp(-(cuts**2) / 2) / np.sqrt(2 * np.pi)
        steps = np.diff(_normal(share))
        coefficients[node] = [
            steps @ (heights * hermeval(cuts, [*[0] * (degree - 1), 1])) / np.sqrt(factorial(degree))
            for degree in range(1, _DEGREES + 1)
        ]
    return coefficients


def _of_node(design: RankDesign, node: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scaled levels, base measure columns and shares of a node's levels, without padding."""
    levels = int(design.exists[node].sum())
    measure = design.measure[node, :levels, : design.measure_width[node]]
    return design.value[node, :levels], measure, design.counts[node, :levels] / design.rows


def _normal(share: np.ndarray) -> np.ndarray:
    """Normal quantiles of the middle ranks of levels, standardised under their shares, (levels,)."""
    z = ndtri(np.cumsum(share) - share / 2)
    centred = z - share @ z
    return centred / np.sqrt(share @ centred**2)


def _as_child(design: RankDesign, ranks: np.ndarray, nodes: list[tuple[np.ndarray, np.ndarray]]) -> RankDesign:
    """The design with other ranks, (n, d), and other scaled levels and base measure columns of every node."""
    value, exists, measure = padded(nodes)
    widths = np.array([shapes.shape[1] for _, shapes in nodes])
    return replace(
        design,
        ranks=by_node(ranks),
        value=value,
        exists=exists,
        counts=level_counts(ranks, value.shape[1]),
        measure=measure,
        measure_width=widths,
        measure_precision=np.where(np.arange(measure.shape[2]) < widths[:, None], RIDGE, 1.0),
    )
