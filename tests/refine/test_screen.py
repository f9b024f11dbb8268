"""The screen's inverse covariance against scikit-learn's."""

import numpy as np
import pytest
from sklearn.covariance import ledoit_wolf

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
