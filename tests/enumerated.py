"""Joint tables of three nodes, a → b, a → c, b → c, summed instead of sampled."""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
from scipy import stats

MEANS: dict[str, tuple[float, Callable, Callable]] = {  # of a, of b by a, of c by a and b
    "poisson": (0.9, lambda a: 0.4 + 0.6 * a, lambda a, b: 0.3 + 0.25 * a + 0.35 * b),
    "nb": (0.7, lambda a: 0.4 + 0.6 * a, lambda a, b: 0.3 + 0.25 * a + 0.35 * b),
    "binomial": (1.5, lambda a: 0.7 + 0.5 * a, lambda a, b: 0.5 + 0.3 * a + 0.4 * b),
}
PARAMETER = {"poisson": np.inf, "nb": 4.0, "binomial": 5.0}
LAWS = {
    "poisson": lambda mean: stats.poisson(mean),
    "nb": lambda mean: stats.nbinom(4.0, 4.0 / (4.0 + mean)),
    "binomial": lambda mean: stats.binom(5, mean / 5),
}
LEVELS = {"poisson": 60, "nb": 110, "binomial": 6}


class Given(NamedTuple):
    """Moments of a node in every cell of others, and the probability of the cell, all (cells,)."""

    mean: np.ndarray
    variance: np.ndarray
    second: np.ndarray  # E[X (X − 1)]
    weights: np.ndarray


@cache
def joint(family: str) -> np.ndarray:
    """P(a, b, c), (levels, levels, levels), with a mass of 1 within 1e-12 before it is made exact."""
    levels = np.arange(LEVELS[family])
    law = LAWS[family]
    of_a, of_b, of_c = MEANS[family]
    a, b = levels[:, None], levels[None, :]
    table = law(of_a).pmf(levels)[:, None] * law(of_b(a)).pmf(b)
    table = table[..., None] * law(of_c(a, b)[..., None]).pmf(levels)
    assert abs(table.sum() - 1) < 1e-12
    return table


def given(table: np.ndarray, node: int, before: tuple[int, ...]) -> Given:
    """The moments of a node in every cell of the nodes before it that can occur."""
    gone = tuple(axis for axis in range(3) if axis != node and axis not in before)
    cells = np.moveaxis(table.sum(axis=gone, keepdims=True), node, -1).reshape(-1, table.shape[node])
    weights = cells.sum(axis=1)
    cells, weights = cells[weights > 1e-300], weights[weights > 1e-300]
    levels = np.arange(table.shape[node])
    share = cells / weights[:, None]
    mean = share @ levels
    second = share @ (levels * (levels - 1))
    return Given(mean, second + mean - mean**2, second, weights)
