"""What the class misses of a node, and the shapes that a column's own distribution adds to a base measure."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy.linalg import helmert
from scipy.special import gammaln

from disco import simulate as lab
from disco.errors import FitStopped
from disco.likelihood.batch import Problems
from disco.likelihood.departures import _fitted, departures
from disco.likelihood.misfit import _information, misfits
from disco.likelihood.newton import fit
from disco.likelihood.rank_design import RankDesign
from disco.progress import Reporter
from disco.refine import Choice, refine
from disco.refine.bounds import MISFIT
from disco.refine.prior import BEFORE


def design_of(**columns: np.ndarray) -> RankDesign:
    ranks = np.column_stack([np.unique(column, return_inverse=True)[1] for column in columns.values()])
    return RankDesign.of(ranks, prior=BEFORE)


def test_a_node_of_the_class_has_no_misfit():
    """In the true graph, for three families."""
    for family in ("poisson-softplus", "nb-softplus", "binomial-sigmoid"):
        drawn = lab.simulate(lab.Design(nodes=8, k=2, rows=2000, family=family, seed=3))
        names, truth = list(drawn.table), drawn.truth
        parents = [truth.loc[truth["child"] == name, "parent"].map(names.index).tolist() for name in names]
        pairs = list(enumerate(parents))
        assert misfits(design_of(**drawn.table), pairs).max() < MISFIT


@pytest.mark.parametrize("kind", ["interaction", "spread"])
def test_what_the_class_does_not_have_is_a_misfit(kind):
    """Effects that do not add up, and a spread that depends on a parent; the parents themselves have no misfit."""
    random = np.random.default_rng(4)
    a, b = random.poisson(3.0, 3000), random.poisson(3.0, 3000)
    if kind == "interaction":
        y = random.poisson(np.where((a > 2) == (b > 2), 8.0, 3.0))
    else:
        size = np.where(a > 2, 1.0, 50.0)
        y = random.poisson(6.0 * random.gamma(size) / size)
    of_a, of_b, of_y = misfits(design_of(a=a, b=b, y=y), [(0, ()), (1, ()), (2, (0, 1))])
    assert of_y > 20 and max(of_a, of_b) < MISFIT


def test_a_misfit_is_what_the_true_distribution_gains_at_most():
    """For a level that depends only on the product of two parents, the exact log-likelihoods are known."""
    random = np.random.default_rng(5)
    a, b = random.integers(0, 2, 4000), random.integers(0, 2, 4000)
    chance = np.where(a == b, 0.7, 0.3)
    y = (random.random(4000) < chance).astype(int)
    design = design_of(a=a, b=b, y=y)
    true = np.log(np.where(y == 1, chance, 1 - chance)).sum()
    fitted = float(fit(design, Problems.of([(2, (0, 1))])).log_likelihood[0])
    found = misfits(design, [(2, (0, 1))])[0]
    assert found == pytest.approx(true - fitted, rel=0.05)


def test_misfits_can_be_stopped():
    reporter = Reporter(lambda event: False, {"evidence": 1.0}, "stopped")
    with pytest.raises(FitStopped):
        misfits(design_of(a=np.arange(60) % 3), [(0, ())], reporter=reporter)


def test_a_table_that_the_class_misses_has_no_decided_direction():
    """One of three nodes is missed: however strong its evidence, it is a hypothesis, and the result says so."""
    random = np.random.default_rng(6)
    a, b = random.poisson(3.0, 3000), random.poisson(3.0, 3000)
    size = np.where(a > 2, 1.0, 50.0)
    y = random.poisson((2.0 + a + b) * random.gamma(size) / size)
    result = refine(pd.DataFrame({"a": a, "b": b, "y": y}), Choice(starts=2, restarts=0, bootstrap=0, folds=0))
    assert result.nodes.set_index("node").loc["y", "misfit_nats"] > MISFIT and not result.edges["decided"].any()
    assert any("poorly fitted" in note and "so no direction of this table is decided" in note for note in result.notes)


def test_the_information_of_contrasts_is_that_of_the_groups(rng):
    rows, chances = rng.normal(size=(40, 3)), rng.dirichlet(np.ones(4), 40)
    spread = np.einsum("rg,gh->rgh", chances, np.eye(4)) - chances[:, :, None] * chances[:, None]
    contrasts = helmert(4)
    expected = np.einsum("ri,rj,ag,rgh,bh->aibj", rows, rows, contrasts, spread, contrasts).reshape(9, 9)
    assert _information(rows, chances, contrasts) == pytest.approx(expected)


def test_a_log_linear_fit_is_that_of_statsmodels(rng):
    level = np.arange(40.0)
    counts = rng.poisson(3000 * np.exp(-(((level - 12) / 7) ** 2))) + 1
    columns = np.column_stack([level, level**2, np.sqrt(level), level == 0])
    model = sm.GLM(counts, sm.add_constant(columns / np.abs(columns).max(0)), family=sm.families.Poisson())
    assert _fitted(counts, columns) == pytest.approx(model.fit(tol=1e-12).fittedvalues, rel=1e-6)


@pytest.mark.parametrize("counts", [[10**7, 3, *[1] * 60], [1, *[0.5] * 30, 10**6], [2, 10**9, 1, 1, 1]], ids=str)
def test_a_log_linear_fit_stands_huge_counts_and_long_tails(counts):
    """Shapes and hinges that nearly depend on each other; only the intercept has no ridge."""
    counts = np.array(counts)
    level = np.arange(len(counts), dtype=float)
    hinges = np.maximum(np.sqrt(level)[:, None] - np.sqrt(level[1:-1:3]), 0.0) ** 3
    fitted = _fitted(counts, np.column_stack([level, gammaln(level + 1), shapes_of(len(counts)), hinges]))
    assert np.isfinite(fitted).all() and fitted.sum() == pytest.approx(counts.sum(), rel=1e-9)


def shapes_of(levels: int) -> np.ndarray:
    level = np.arange(levels, dtype=float)
    return np.column_stack([level**2, np.sqrt(level), level == 0, level == 1])


def test_a_column_of_the_shapes_asks_for_no_more():
    random = np.random.default_rng(7)
    for draw in (random.poisson(8.0, 4000), random.negative_binomial(3, 0.3, 4000), random.binomial(30, 0.4, 4000)):
        counts = np.bincount(np.unique(draw, return_inverse=True)[1])
        level = np.arange(len(counts), dtype=float)
        assert departures(counts, np.column_stack([gammaln(level + 1), shapes_of(len(counts))])).shape[1] == 0


def test_heaps_and_modes_become_columns():
    """A base measure with the columns found gives each level its share to within its noise; without, it does not."""
    random = np.random.default_rng(8)
    heaped = random.poisson(12.0, 6000)
    heaped = np.where(random.random(6000) < 0.5, (heaped // 5) * 5, heaped)
    modes = random.poisson(np.where(random.random(6000) < 0.5, 4.0, 25.0))
    for draw in (heaped, modes):
        ranks = np.unique(draw, return_inverse=True)[1]
        counts = np.bincount(ranks)
        found = departures(counts, shapes_of(len(counts)))
        assert 1 <= found.shape[1] <= 3
        design = RankDesign.of(ranks[:, None], prior=BEFORE)
        reached = float(fit(design, Problems.of([(0, ())])).log_likelihood[0])
        saturated = float((counts * np.log(counts / counts.sum())).sum())
        assert saturated - reached < len(counts)
