"""The PCM selector against its formulas fit by fit, its error rates, a known truth, and its invariances."""

import inspect

import numpy as np
import pandas as pd
import pytest
import torch
from scipy import stats

from disco.errors import InputError
from disco.selectors import pcm
from disco.selectors.pcm import edges


def halves(table, order, seed=0):
    """The two halves and the seeds of the forests that `edges` draws."""
    rng = np.random.default_rng(seed)
    values = table[list(order)].to_numpy(float)[rng.permutation(len(table))]
    return values[: len(table) // 2], values[len(table) // 2 :], rng.integers(2**32, size=len(order)).tolist()


def powers(fit, test, columns):
    """1, x, x², … of each variable with x from -1 to 1 on the first half; on the second by interpolation."""
    both, parts = np.concatenate([fit, test]), [np.ones(len(fit) + len(test))]
    for value, every in zip(fit.T, both.T, strict=True):
        distinct = np.unique(value)
        scaled = np.interp(distinct, distinct[[0, -1]], (-1, 1))
        parts += [np.interp(every, distinct, scaled**k) for k in range(1, min(columns, len(distinct) - 1) + 1)]
    return np.split(np.stack(parts, axis=1), [len(fit)])


def fitted(y, z):
    return z @ np.linalg.lstsq(z, y)[0]


def one_test(fit, test, y, test_y, candidate, columns, v):
    """T of one candidate, with every regression fitted separately."""
    others = np.delete(np.arange(fit.shape[1]), candidate)
    (all1, all2), (z1, z2) = powers(fit, test, columns), powers(fit[:, others], test[:, others], columns)
    slopes = np.linalg.lstsq(all1, y)[0]
    z_slopes = np.linalg.lstsq(z1, all1 @ slopes)[0]
    sign = np.sign(np.mean((y - z1 @ z_slopes) * (all1 @ slopes)))
    f = sign * (all2 @ slopes - z2 @ z_slopes) / v
    product = (test_y - fitted(test_y, z2)) * (f - fitted(f, z2))
    return np.sqrt(len(product)) * product.mean() / product.std()


@pytest.mark.parametrize(("columns", "trees"), [(1, 0), (2, 0), (3, 0), (3, 5)])
def test_each_test_is_that_of_its_formulas_fit_by_fit(rng, columns, trees):
    a, b = rng.poisson(2.0, 401), rng.negative_binomial(2, 0.3, 401)
    table = pd.DataFrame({"a": a, "b": b, "c": rng.poisson(0.3 + 0.6 * a), "d": rng.binomial(1, 0.3, 401)})
    table["e"] = np.exp(rng.normal(size=401)) + 0.3 * table["c"]
    (fit, test, seeds), expected = halves(table, "dbace", seed=3), []
    for child in range(1, 5):
        x, test_x, y, test_y = fit[:, :child], test[:, :child], fit[:, child], test[:, child]
        squares = (y - fitted(y, powers(x, x, columns)[0])) ** 2
        v = pcm.variances(squares, x, test_x, trees, seeds[child]) if trees else 1.0
        expected += [one_test(x, test_x, y, test_y, parent, columns, v) for parent in range(child)]
    found = edges(table, list("dbace"), columns=columns, trees=trees, seed=3)
    assert np.allclose(found["score"], expected, rtol=1e-6)
    assert np.allclose(found["p_value"], stats.norm.sf(expected), rtol=1e-5)


def test_two_nodes_need_intercepts_only(rng):
    table = pd.DataFrame({"x": rng.poisson(2.0, 300)}).assign(y=lambda drawn: rng.poisson(1 + 0.2 * drawn["x"]))
    fit, test, _ = halves(table, "xy")
    f = np.polyfit(*fit.T, 1)[0] * np.clip(test[:, 0], fit[:, 0].min(), fit[:, 0].max())
    product = (test[:, 1] - test[:, 1].mean()) * (f - f.mean())
    found = edges(table, ["x", "y"], columns=1, trees=0)
    assert found["score"].tolist() == pytest.approx([np.sqrt(150) * product.mean() / product.std()])


def test_the_variances_are_the_same_with_any_number_of_threads(rng):
    squares, x = rng.exponential(size=300), rng.poisson(5.0, (300, 3)).astype(float)
    before, found = torch.get_num_threads(), []
    try:
        for threads in (1, 3):
            torch.set_num_threads(threads)
            found.append(pcm.variances(squares, x, x, 40, 0))
    finally:
        torch.set_num_threads(before)
    assert np.array_equal(*found)


def test_the_variances_meet_their_equation(rng):
    x, squares, variances = rng.normal(size=(200, 1)), rng.chisquare(1, 200), rng.uniform(0, 0.5, 200)
    c = pcm._raise(squares, variances)
    assert c > 0 and np.mean(squares / (variances + c)) == pytest.approx(1) and pcm._raise(squares, 2 * squares) == 0
    for squares in (rng.chisquare(1, 200) * np.exp(x[:, 0]), np.where(x[:, 0] > 0, 1.0, 0.0), np.ones(200)):
        v = pcm.variances(squares, x, x, 20, 0)
        assert v.shape == (200,) and v.min() > 0 and np.mean(squares / squares.mean() / v) < 1 + 1e-6
        assert np.allclose(v, pcm.variances(1000 * squares, x, x, 20, 0))


@pytest.mark.parametrize(("trees", "effect"), [(0, 0.0), (0, 0.8), (10, 0.8)])
def test_what_does_nothing_given_the_others_passes_as_often_as_alpha_says(rng, trees, effect):
    p_values = []
    for _ in range(10):
        z = rng.poisson(2.0, 500)
        table = pd.DataFrame(rng.poisson(0.5 + effect * z[:, None], (500, 12))).add_prefix("x").assign(z=z)
        found = edges(table, ["z", *table.columns[:-1]], trees=trees)
        p_values.append(found.loc[found["parent"] != "z", "p_value"])
    assert np.mean(np.concatenate(p_values) < 0.05) == pytest.approx(0.05, abs=0.03)  # 660 tests: a standard error
    assert np.mean(p_values) == pytest.approx(0.5, abs=0.04)  # of 0.008, and here of 0.011


def test_defaults_are_those_of_the_paper_and_alpha_is_strict(small_table):
    settings = {name: one.default for name, one in list(inspect.signature(edges).parameters.items())[2:]}
    del settings["callback"], settings["adjustment"]
    assert settings == {"alpha": 0.05, "columns": 3, "trees": 500, "seed": 0}
    found = edges(small_table, list("abcde"), trees=0)
    assert (found["selected"] == (found["p_value"] < 0.05)).all()
    assert set("ab bc ad".split()) <= set((found["parent"] + found["child"])[found["selected"]])
    weakest = found["p_value"].max()
    assert edges(small_table, list("abcde"), trees=0, alpha=weakest)["selected"].sum() == len(found) - 1


@pytest.mark.parametrize("trees", [0, 5])
def test_the_seed_decides_and_neither_the_columns_places_nor_units_nor_the_type_matter(small_table, trees):
    order = list("caedb")
    found = edges(small_table, order, trees=trees, seed=1)
    assert list(found) == ["parent", "child", "score", "p_value", "selected"]
    assert (found["parent"] + found["child"]).tolist() == ["ca", "ce", "ae", "cd", "ad", "ed", "cb", "ab", "eb", "db"]
    for other in (small_table, small_table[list("edcba")], small_table.astype("Int64"), small_table.astype(object)):
        pd.testing.assert_frame_equal(edges(other, order, trees=trees, seed=1), found)
    pd.testing.assert_frame_equal(edges(7.0 + 2 * small_table, order, trees=trees, seed=1), found, rtol=1e-6)
    assert not np.allclose(edges(small_table, order, trees=trees, seed=2)["score"], found["score"])


@pytest.mark.parametrize("trees", [0, 5])
def test_copies_constants_and_exact_sums_are_no_ground_for_an_edge(small_table, trees):
    table = small_table.assign(copy=3 * small_table["a"] - 7, flat=4, total=small_table[["a", "b"]].sum(axis=1))
    found = edges(table, ["flat", "a", "copy", *"bcde", "total"], trees=trees)
    assert np.isfinite(found[["score", "p_value"]].to_numpy()).all()
    undefined = found["parent"].isin(["flat", "copy"])
    assert (found.loc[undefined, "score"] == 0).all() and (found.loc[undefined, "p_value"] == 1).all()
    assert found.loc[found["selected"] & (found["child"] == "total"), "parent"].tolist() == ["a", "b"]
    if not trees:
        others = found[~undefined & ~found["child"].isin(["copy", "total"])].reset_index(drop=True)
        pd.testing.assert_frame_equal(others, edges(small_table, list("abcde"), trees=0), rtol=1e-6)


def test_too_few_rows_are_refused_with_what_would_do(rng):
    table = pd.DataFrame(rng.normal(size=(33, 6)), columns=list("abcdef"))
    message = "15 columns, too many for 16 rows, half of the table's: use at least 34 rows, or columns = 2\\."
    with pytest.raises(InputError, match=message):
        edges(table, list("abcdef"))
    assert len(edges(table, list("abcdef"), columns=2, trees=0)) == 15
    assert len(edges(pd.concat([table, table.head(1) + 1]), list("abcdef"), trees=0)) == 15


def test_settings_out_of_their_range_are_refused(small_table):
    whole = dict.fromkeys(("columns", "trees", "seed"), "must be a whole number from . up; got")
    for name, message in (whole | {"alpha": "must be a number from 0 to 1; got"}).items():
        for value in (-1, -0.5, 1.5, float("nan"), True, "1", None) + (0,) * (name == "columns"):
            with pytest.raises(InputError, match=f"{name} {message}"):
                edges(small_table, list("abcde"), **{name: value})
