"""The screen: its inverse covariance against scikit-learn's, and how many candidates a node names."""

import numpy as np
import pandas as pd
import pytest
from refine_world import design_of
from sklearn.covariance import ledoit_wolf

from disco.refine import screen as screening
from disco.refine.screen import _precision


@pytest.mark.parametrize(("rows", "nodes"), [(5000, 50), (400, 8), (12, 40), (30, 31), (3, 2)])
def test_the_covariance_is_shrunk_as_scikit_learn_does(rng, rows, nodes):
    values = np.sqrt(rng.poisson(4.0, (rows, nodes)) @ rng.normal(size=(nodes, nodes)) ** 2)
    values -= values.mean(0)
    expected = np.linalg.inv(ledoit_wolf(values)[0])
    root, diagonal = _precision(values)
    np.testing.assert_allclose(diagonal, np.diag(expected), rtol=1e-8)
    product, apart = root @ root.T, ~np.eye(nodes, dtype=bool)
    np.testing.assert_allclose(np.abs(product[apart]), np.abs(expected[apart]), rtol=1e-6, atol=1e-9 * diagonal.max())


def test_nothing_that_varies_is_tied_to_nothing():
    root, diagonal = _precision(np.zeros((5, 3)))
    assert np.isfinite(root).all() and (diagonal > 0).all() and not (root @ root.T)[~np.eye(3, dtype=bool)].any()


def test_each_node_names_few_candidates_however_many_go_along_with_it(rng, monkeypatch):
    """One factor drives all columns; then one column drives all others, each of which names it."""
    factor = rng.normal(size=(2000, 1))
    alike = pd.DataFrame(rng.poisson(np.exp(factor + 1), (2000, 30))).add_prefix("x")
    every = sum(map(len, screening.screen(design_of(alike))))
    monkeypatch.setattr(screening, "_MOST_PER_NODE", 2)
    few = sum(map(len, screening.screen(design_of(alike))))
    assert few <= 2 * 2 * 2 * 30 < every / 3
    hub = rng.poisson(4, (2000, 1))
    star = pd.DataFrame(np.hstack([hub, rng.poisson(1 + hub, (2000, 12))])).add_prefix("x")
    assert screening.screen(design_of(star))[0] == tuple(range(1, 13))
