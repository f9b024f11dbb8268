"""CAM and PCM with covariates, exposure and groups: against separate least squares, and on disturbed tables."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from disco.errors import InputError
from disco.paper.ranks import split_rows
from disco.paper.settings import Settings
from disco.selectors import cam, pcm, selection
from disco.selectors.smooths import adjustment_columns
from disco.table.adjustment import Adjustment, Covariate

SELECTORS = {"cam": cam.edges, "pcm": lambda *given, **named: pcm.edges(*given, trees=0, **named)}


def batches(rows: int, rng: np.random.Generator, levels: int = 3) -> Covariate:
    """A categorical covariate with levels of random rows."""
    return Covariate("batch", "categorical", rng.integers(0, levels, rows), tuple("abcdef"[:levels]))


def small(rng: np.random.Generator, rows: int = 240) -> tuple[pd.DataFrame, Adjustment]:
    """Three nodes in a chain under a batch and an age."""
    batch, age = batches(rows, rng), Covariate("age", "continuous", rng.uniform(20, 60, rows))
    a = rng.poisson(np.exp(0.5 + 0.4 * batch.values))
    b = rng.poisson(1 + 0.5 * a + 0.03 * age.values)
    c = rng.poisson(np.exp(0.2 + 0.3 * batch.values) + 0.3 * b)
    return pd.DataFrame({"a": a, "b": b, "c": c}), Adjustment(rows, (batch, age))


def powers(values: np.ndarray) -> np.ndarray:
    """x, x², x³ with x from -1 to 1: the functions of a smooth of three columns."""
    return np.stack([np.interp(values, (values.min(), values.max()), (-1, 1)) ** k for k in (1, 2, 3)], axis=1)


def residuals(y: np.ndarray, *parts: np.ndarray) -> tuple[np.ndarray, int]:
    """Residuals and rank of least squares on an intercept and these columns."""
    z = np.column_stack([np.ones(len(y)), *parts])
    slopes, _, rank, _ = np.linalg.lstsq(z, y)
    return y - z @ slopes, rank


@pytest.mark.parametrize("exposed", [False, True])
def test_cam_tests_nodes_beside_the_covariates_of_every_regression(rng, exposed):
    table, adjustment = small(rng)
    values = table.to_numpy(float)
    if exposed:
        adjustment = Adjustment(len(table), adjustment.covariates, rng.uniform(1, 3, len(table)))
        values = values / adjustment.exposure[:, None]
    always, expected = adjustment_columns(adjustment, len(table)), []
    for child in range(1, 3):
        parts = [powers(values[:, parent]) for parent in range(child)]
        whole, rank = residuals(values[:, child], always, *parts)
        for parent in range(child):
            rest, smaller = residuals(values[:, child], always, *(parts[:parent] + parts[parent + 1 :]))
            square, free = (whole**2).sum(), len(table) - rank
            expected.append(((rest**2).sum() - square) / (rank - smaller) / (square / free))
    found = cam.edges(table, list("abc"), adjustment=adjustment)
    assert np.allclose(found["score"], expected, rtol=1e-6)
    assert np.allclose(found["p_value"], stats.f.sf(expected, 3, len(table) - rank), rtol=0.05, atol=1e-12)


@pytest.mark.parametrize("trees", [0, 4])
def test_pcm_takes_the_covariates_into_every_regression_of_both_halves(rng, trees):
    """Each regression fitted separately, with the covariates' columns in all of them."""
    table, adjustment = small(rng)
    draw = np.random.default_rng(3)
    first, second = np.split(draw.permutation(len(table)), [len(table) // 2])
    seeds = draw.integers(2**32, size=3)
    values, always = table.to_numpy(float), adjustment_columns(adjustment, len(table))
    inputs = adjustment.inputs()

    def functions(node: int) -> np.ndarray:
        """Powers on the first half, interpolated on the second."""
        grid = np.unique(values[first, node])
        return np.stack([np.interp(values[:, node], grid, column) for column in powers(grid).T], axis=1)

    def fitted(y: np.ndarray, *parts: np.ndarray) -> np.ndarray:
        """The fit of the first half at all rows."""
        z = np.column_stack([np.ones(len(table)), always, *parts])
        return z @ np.linalg.lstsq(z[first], y[first])[0]

    expected = []
    for child in range(1, 3):
        y, parts = values[:, child], [functions(parent) for parent in range(child)]
        y = (y - y[first].mean()) / np.linalg.norm(y[first] - y[first].mean())
        whole, v = fitted(y, *parts), np.ones(len(table))
        if trees:
            seen = np.hstack([values[:, :child], inputs])
            squares = ((y - whole)[first]) ** 2
            v[second] = pcm.variances(squares, seen[first], seen[second], trees, int(seeds[child]))
        for parent in range(child):
            others = parts[:parent] + parts[parent + 1 :]
            f = (whole - fitted(whole, *others)) / v
            z = [always[second], *(part[second] for part in others)]
            product = residuals(y[second], *z)[0] * residuals(f[second], *z)[0]
            expected.append(np.sqrt(len(second)) * product.mean() / product.std())
    found = pcm.edges(table, list("abc"), trees=trees, seed=3, adjustment=adjustment)
    assert np.allclose(found["score"], expected, rtol=1e-5)


@pytest.mark.parametrize("selector", SELECTORS)
def test_what_drives_both_of_two_nodes_makes_no_edge_once_it_has_a_role(rng, selector):
    rows, edges = 900, SELECTORS[selector]
    batch, age, depth = batches(rows, rng), rng.uniform(-1, 1, rows), np.exp(0.6 * rng.normal(size=rows))
    pairs = {
        "batch": (np.array([-0.7, 0.7, 0.0])[batch.values], Adjustment(rows, (batch,))),
        "age": (np.sin(3 * age), Adjustment(rows, (Covariate("age", "continuous", age),))),
        "depth": (np.log(depth), Adjustment(rows, exposure=depth)),
    }
    for effect, adjustment in pairs.values():
        table = pd.DataFrame({"a": rng.poisson(np.exp(1 + effect)), "b": rng.poisson(np.exp(1.5 + effect))})
        table["c"] = rng.poisson(1 + 0.6 * table["b"])
        assert edges(table, list("abc"))["selected"].iloc[0]
        found = edges(table, list("abc"), adjustment=adjustment)["p_value"]
        assert found.iloc[0] > 0.005 and found.iloc[2] < 0.001


@pytest.mark.parametrize("selector", SELECTORS)
def test_a_node_that_a_covariate_determines_is_no_ground_for_an_edge(rng, selector):
    """As a parent and as a child."""
    table, adjustment = small(rng)
    table["d"] = adjustment.covariates[0].values + 2
    for order in ("dabc", "abcd"):
        found = SELECTORS[selector](table, list(order), adjustment=adjustment)
        of_d = (found["parent"] == "d") | (found["child"] == "d")
        assert (found.loc[of_d, "score"] == 0).all() and (found.loc[of_d, "p_value"] == 1).all()
        whole = SELECTORS[selector](table.drop(columns="d"), list("abc"), adjustment=adjustment)
        assert np.allclose(found.loc[~of_d, "score"], whole["score"], atol=1e-6)


def test_a_level_that_only_one_half_has_does_no_harm(rng):
    table, adjustment = small(rng)
    first, second = pcm.halves(len(table), np.random.default_rng(0), None)
    for half in (first, second):
        values = np.where(np.isin(np.arange(len(table)), half[:9]), 3, adjustment.covariates[0].values)
        rare = Covariate("batch", "categorical", values, tuple("abcd"))
        found = pcm.edges(table, list("abc"), trees=3, adjustment=Adjustment(len(table), (rare,)))
        assert np.isfinite(found["score"]).all() and found["selected"].tolist() == [True, False, True]


def test_groups_stay_together_in_the_halves(rng):
    group = rng.integers(0, 40, 300)
    table = pd.DataFrame(rng.poisson(2.0, (300, 3)), columns=list("abc"))
    parts = pcm.halves(300, np.random.default_rng(1), Adjustment(300, group=group))
    assert not set(group[parts[0]]) & set(group[parts[1]]) and sorted(np.concatenate(parts)) == list(range(300))
    one, other = split_rows(300, Settings(disjoint_rows=True), group)
    assert not set(group[one]) & set(group[other]) and sorted([*one, *other]) == list(range(300))
    assert abs(len(one) - len(other)) < 20
    with pytest.raises(InputError, match="The rows form 1 group, too few"):
        pcm.edges(table, list("abc"), trees=0, adjustment=Adjustment(300, group=np.zeros(300, dtype=int)))


@pytest.mark.parametrize("selector", SELECTORS)
def test_too_many_columns_are_refused_before_a_fit_as_after_it(rng, selector):
    table = pd.DataFrame(rng.poisson(4.0, (38, 3)), columns=list("abc"))
    batch = Covariate("batch", "categorical", np.arange(38) % 20, tuple(map(str, range(20))))
    age = Covariate("age", "continuous", rng.normal(size=38))
    adjustment = Adjustment(38, (batch, age), rng.uniform(1, 2, 38))
    words = "on 2 nodes and the covariates has 37 columns, too many for"
    with pytest.raises(InputError, match=words):
        selection.check(selector, table, Settings(), adjustment)
    with pytest.raises(InputError, match=words):
        selection.candidates(selector, table, list("abc"), Settings(), adjustment=adjustment)
