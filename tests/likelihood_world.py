"""Columns of several laws, and the likelihood of a node as a direct sum over its levels."""

import copy
import dataclasses

import numpy as np
import torch

from disco.likelihood.rank_design import BESIDE, STRAIGHT, WIDTH, Prior, RowTerms

COUNT, BINARY, POISSON, MANY, TRIALS, THREE, NOISE = range(7)
PAIRS = [
    (POISSON, [COUNT, BINARY]), (MANY, [BINARY, COUNT, TRIALS]), (TRIALS, [POISSON]), (BINARY, [COUNT, THREE]),
    (THREE, [POISSON]), (COUNT, []), (MANY, []), (NOISE, [THREE, BINARY, COUNT]),
]  # fmt: skip # a table
LINKED = Prior(0.3, 2.0, 5.0, 0.4, 0.7, (0.8,))


def ranked(*columns):
    """Columns as ranks on their grids."""
    return np.column_stack([np.unique(column, return_inverse=True)[1] for column in columns])


def columns_of(rows, seed=0):
    """Counts of several laws: Poisson, two levels, hundreds of levels, binomial, three levels."""
    random = np.random.default_rng(seed)
    count, binary = random.poisson(3, rows), random.binomial(1, 0.4, rows)
    poisson = random.poisson(np.exp(0.3 + 0.15 * count - 0.4 * binary))
    many = random.negative_binomial(1, 1 / (1 + 120 * np.exp(0.3 * binary)))
    trials = random.binomial(20, 1 / (1 + np.exp(1 - 0.2 * poisson)))
    return count, binary, poisson, many, trials, random.binomial(2, 0.3 + 0.3 * binary), random.poisson(1.5, rows)


def beside(rows, seed=3):
    """Five columns of the rows, of two kinds."""
    random = np.random.default_rng(seed)
    raw = np.column_stack([random.normal(size=(rows, 3)), random.integers(0, 3, rows), random.integers(0, 2, rows)])
    orthonormal = np.linalg.qr(raw - raw.mean(0))[0] * np.sqrt(rows)
    return RowTerms(orthonormal, np.array([0, 1, 1, 0, 1]))


def at_rows(design, ranks, offset=None):
    """The design's bases at other rows of its grid."""
    columns = np.stack([design.basis[node][ranks[:, node]].T for node in range(design.nodes)])
    assert not design.own
    return dataclasses.replace(design, ranks=ranks, columns=columns, offset=offset)


def tensors(design):
    """The design with tensors in place of arrays, for automatic differentiation."""
    design = copy.copy(design)
    for name, value in vars(design).items():
        if isinstance(value, np.ndarray):
            object.__setattr__(design, name, torch.as_tensor(value))
    return design


def canonical(design, parents, theta):
    """The canonical parameter at the rows, without the offset: a curved function of the sum of effects.

    Args:
        design: with `tensors`.
    """
    index, bend = torch.zeros(design.rows).double(), theta[design.bend]
    for number, parent in enumerate(parents):
        at = design.head + WIDTH * number
        index = index + design.basis[parent][design.ranks[:, parent]] @ theta[at : at + WIDTH]
    outside = design.columns[design.nodes :].flatten(0, 1).double().T @ theta[design.bend + 1 : design.head]
    return theta[0] + outside + (torch.expm1(bend * index) / bend if bend else index)


def direct(design, node, parents, theta, weights=None):
    """Log-likelihood and penalty of one problem, by the sum over the levels at every row, as tensors."""
    design, theta = tensors(design), torch.as_tensor(theta)
    weights = None if weights is None else torch.as_tensor(weights)
    ranks, levels = design.ranks, torch.arange(int(design.ranks[:, node].max()) + 1)
    scale = design.ranks[:, node].double().std(correction=0)
    shapes = design.measure[node, : len(levels)]
    slope = canonical(design, parents, theta) / scale
    slope = slope if design.offset is None else slope + design.offset
    logits = slope[:, None] * levels + shapes @ theta[1 : 1 + shapes.shape[1]]
    counted = torch.ones(len(ranks)).bool() if weights is None else weights > 0
    seen = torch.isin(levels, ranks[counted, node])  # a level without weighted rows does not exist
    own = logits[:, seen].logsumexp(1)
    own = torch.where(counted, logits[torch.arange(len(ranks)), ranks[:, node]] - own, 0.0)
    link = torch.tensor([design.prior.link])
    expected, precisions = map(torch.as_tensor, of_effects(design, node, parents))
    kinds = [(*design.prior.beside, BESIDE)[0], BESIDE, 1.0]  # the last: padding
    of_rows = torch.tensor(kinds)[design.kinds.flatten()]
    priors = torch.cat([torch.zeros(1), design.measure_precision[node], link, of_rows, precisions])
    apart = theta - torch.cat([torch.zeros(design.head), expected])
    return own @ (torch.ones(len(ranks)).double() if weights is None else weights), priors @ apart**2 / 2


def of_effects(design, node, parents):
    """Prior means and precisions of the parents' coefficients."""
    deviation = np.std(np.asarray(design.ranks), 0)
    means, precisions = np.zeros((len(parents), WIDTH)), np.ones((len(parents), WIDTH))
    for row, parent in enumerate(parents):
        unit = (deviation[parent] / deviation[node]) ** design.prior.power
        means[row, 0] = design.prior.mean * unit
        kinds = np.array([design.prior.linear, *[design.prior.bends] * (WIDTH - 1)])
        precisions[row, : design.width[parent]] = kinds[: design.width[parent]] / unit**2
    return means.ravel(), precisions.ravel()


def real(design, node, parents):
    """Which coefficients are not padding."""
    measure, width = design.measure.shape[-1], np.arange(WIDTH)
    blocks = [width < design.width[parent] for parent in parents]
    own = [[True], np.arange(measure) < design.measure_width[node], [bool(parents) and design.prior.link < STRAIGHT]]
    return np.concatenate([*own, design.kinds.ravel() >= 0, *blocks])


def residual(design, theta, moments):
    """x̂ − E v̂ at the rows, times their weights."""
    return moments.slopes[:, 0] / design.bent(theta)[1]


def close(found, expected, **tolerances):
    np.testing.assert_allclose(np.asarray(found), np.asarray(expected), **tolerances)
