"""Fits by cells of equal parents: the same as those of all rows."""

import numpy as np
import pytest

from disco.likelihood import merged_rows
from disco.likelihood.batch import Problems
from disco.likelihood.merged_rows import fit_cells
from disco.likelihood.newton import fit
from disco.likelihood.rank_design import Prior, RankDesign
from disco.table.cells import dense_ranks

PRIOR = Prior(2.0, 5.0, 1.0, mean=0.2, power=0.5)


@pytest.fixture(scope="module")
def ranks() -> np.ndarray:
    rng = np.random.default_rng(3)
    few = rng.poisson(1.5, 3000)
    many = rng.negative_binomial(2, 0.05, 3000)
    child = rng.poisson(0.5 + few + 0.05 * many)
    two = rng.integers(0, 2, 3000)
    return dense_ranks(np.column_stack([few, many, child, two, rng.poisson(1 + child / 4)]))


@pytest.mark.parametrize(
    ("node", "parents"), [(2, (0,)), (2, (0, 1)), (4, (0, 1, 2, 3)), (3, (2,)), (0, ()), (1, (3, 4))]
)
@pytest.mark.parametrize("listed", [1 << 22, 10])
def test_a_fit_by_cells_is_that_of_all_rows(ranks, node, parents, listed, monkeypatch):
    monkeypatch.setattr(merged_rows, "_MOST_LISTED", listed)
    whole = fit(RankDesign.of(ranks, prior=PRIOR), Problems.of([(node, parents)]), tolerance=1e-9)
    found = fit_cells(RankDesign.of(ranks, prior=PRIOR, at_rows=False), node, parents, tolerance=1e-9)
    for name in ("evidence", "log_likelihood"):
        assert getattr(found, name) == pytest.approx(getattr(whole, name), abs=1e-5)
    assert np.allclose(found.theta, whole.theta, atol=1e-4) and found.converged.all()


def test_equal_rows_are_one_cell(ranks, monkeypatch):
    seen, real = [], merged_rows.fit_batch
    monkeypatch.setattr(
        merged_rows, "fit_batch", lambda batch, *more: seen.append(batch.weights.shape[1]) or real(batch, *more)
    )
    fit_cells(RankDesign.of(ranks, prior=PRIOR, at_rows=False), 2, (0, 3))
    (rows,) = seen
    assert rows == len(np.unique(ranks[:, [0, 3]], axis=0)) < 40
