"""Ranks, design and weights of the tests of the likelihood."""

import numpy as np
import pytest
from likelihood_world import COUNT, MANY, POISSON, columns_of, ranked

from disco.likelihood.rank_design import RankDesign


@pytest.fixture(scope="module")
def ranks():
    return ranked(*columns_of(600))


@pytest.fixture(scope="module")
def design(ranks):
    return RankDesign.of(ranks)


@pytest.fixture(scope="module")
def weights(ranks):
    """No weights, bootstrap counts, and weights that exclude every top level."""
    counts = np.random.default_rng(1).poisson(1, len(ranks)).astype(float)
    low = (ranks[:, POISSON] <= 4) & (ranks[:, MANY] <= 80) & (ranks[:, COUNT] <= 5)
    return {"none": None, "bootstrap": counts, "tail": counts * low}
