"""The simulated table of the tests of the refinement."""

import pytest

from disco.simulate import Design, simulate


@pytest.fixture(scope="module")
def known():
    return simulate(Design(nodes=8, rows=3000, k=2, family="nb-softplus", seed=1))
