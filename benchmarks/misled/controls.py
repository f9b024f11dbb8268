"""Designs of the model class: controls, and tables that show the power and how it grows with the rows."""

from typing import Any

import numpy as np
from numpy.random import Generator

from benchmarks.misled.design import Drawn, dag, grown, simulated

NB, NEARLY_NB = "d 30, NB", "d 30, nearly NB"  # one graph per seed, with more and more rows


def of_class(random: Generator, edges: str = "", **design: Any) -> Drawn:
    """A table of the model class (`disco.simulate`). Right: the true directions, as many as before."""
    if edges:  # such as 1-2 2-3
        pairs = (pair.split("-") for pair in edges.split())
        design |= {"graph": "own", "edges": tuple((f"x{parent}", f"x{child}") for parent, child in pairs)}
    return simulated(random, **design)


def nearly_of_class(random: Generator, rows: int) -> Drawn:
    """Negative binomial counts whose variance is 1.4 times their mean: nearly of the class, so that misfit grows with
    the rows and stays small beside the evidence. Right: the true directions, never fewer with more rows."""
    graph, dispersion = dag(random, 30, 57), 0.4

    def law(parents: np.ndarray) -> np.ndarray:
        means = 0.2 + np.logaddexp(0.0, 0.5 + 0.45 * parents.sum(axis=1))
        return random.poisson(random.gamma(means / dispersion, dispersion))

    return Drawn(grown(graph, rows, law), graph.edges)
