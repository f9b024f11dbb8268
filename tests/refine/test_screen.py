"""The screen's covariance against scikit-learn's."""

import numpy as np
import pytest
from sklearn.covariance import ledoit_wolf

from disco.refine.screen import shrunk_covariance


@pytest.mark.parametrize(("rows", "nodes"), [(5000, 50), (400, 8), (12, 40), (3, 2)])
def test_the_covariance_is_shrunk_as_scikit_learn_does(rng, rows, nodes):
    values = np.sqrt(rng.poisson(4.0, (rows, nodes)) @ rng.normal(size=(nodes, nodes)) ** 2)
    values -= values.mean(0)
    np.testing.assert_allclose(shrunk_covariance(values), ledoit_wolf(values)[0], rtol=1e-10, atol=1e-12)


def test_nothing_that_varies_is_nothing():
    assert not shrunk_covariance(np.zeros((5, 3))).any()
