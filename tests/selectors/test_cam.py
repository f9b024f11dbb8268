"""The CAM selector against node-by-node least squares, statsmodels and a known truth, and its invariances."""

import inspect

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy import stats

from disco.errors import InputError
from disco.metrics import f1
from disco.selectors import cam, evidence, pcm
from disco.selectors.cam import edges
from disco.simulate import poisson_er


def mixed_table(rng, rows=300):
    """Counts with few and with many values, 0/1, and skewed numbers."""
    a, b = rng.poisson(2.0, rows), rng.negative_binomial(1, 0.1, rows)
    c = rng.poisson(0.3 + 0.6 * a)
    d = (rng.normal(size=rows) + 0.2 * b > 1).astype(int)
    e = np.exp(2 * rng.normal(size=rows)) + c
    return pd.DataFrame({"a": a, "b": b, "c": c, "d": d, "e": e, "f": rng.normal(100, 1, rows) + 0.1 * e})


def powers(values, columns):
    """x, x², … with x from -1 to 1: the same functions as a smooth of up to three columns."""
    scaled = np.interp(values, (values.min(), values.max()), (-1, 1))
    return np.stack([scaled**k for k in range(1, min(columns, len(np.unique(values)) - 1) + 1)], axis=1)


def cubic_splines(values, columns):
    """Truncated powers at quantiles of the distinct values: the same functions as a smooth of four or more columns."""
    distinct = np.unique(values)
    if len(distinct) <= 4:
        return powers(values, 3)
    inner = np.quantile(distinct, np.linspace(0, 1, min(columns, len(distinct) - 1) - 1)[1:-1])
    scale = distinct[-1] - distinct[0]
    bends = [np.maximum((values - knot) / scale, 0) ** 3 for knot in inner]
    return np.column_stack([powers(values, 3), *bends])


def residual_squares(y, parts):
    """RSS and rank of a least squares fit on an intercept and these columns."""
    z = np.column_stack([np.ones(len(y)), *parts])
    slopes, _, rank, _ = np.linalg.lstsq(z, y)
    return ((y - z @ slopes) ** 2).sum(), rank


def one_by_one(table, order, columns, basis=powers):
    """F and p of every candidate, each from a full and a reduced fit."""
    rows = []
    for place in range(1, len(order)):
        y = table[order[place]].to_numpy(float)
        parts = [basis(table[name].to_numpy(float), columns) for name in order[:place]]
        full, rank = residual_squares(y, parts)
        free = len(y) - rank
        for left_out, parent in enumerate(order[:place]):
            reduced, smaller = residual_squares(y, parts[:left_out] + parts[left_out + 1 :])
            f = (reduced - full) / (rank - smaller) / (full / free)
            rows.append((parent, order[place], f, stats.f.sf(f, rank - smaller, free)))
    return pd.DataFrame(rows, columns=["parent", "child", "score", "p_value"])


@pytest.mark.parametrize(
    ("columns", "basis"), [(1, powers), (2, powers), (3, powers), (4, cubic_splines), (6, cubic_splines)]
)
@pytest.mark.parametrize("order", ["abcdef", "fedcba", "dbface"])
def test_each_test_is_that_of_a_full_and_a_reduced_fit(rng, columns, basis, order):
    table = mixed_table(rng)
    found = edges(table, list(order), columns=columns)
    expected = one_by_one(table, list(order), columns, basis)
    pd.testing.assert_frame_equal(found[["parent", "child"]], expected[["parent", "child"]])
    assert np.allclose(found["score"], expected["score"], rtol=1e-6, atol=1e-9)
    assert np.allclose(found["p_value"], expected["p_value"], rtol=1e-5, atol=0)


def test_more_columns_than_are_factorised_together(rng):
    table = pd.DataFrame(rng.poisson(2.0, (400, 50))).add_prefix("x")
    table["x49"] += table["x3"] + table["x44"]
    found = edges(table, list(table), columns=3).set_index("child").loc["x49"]
    y, parts = table["x49"].to_numpy(float), [powers(table[f"x{j}"].to_numpy(float), 3) for j in range(49)]
    full, rank = residual_squares(y, parts)
    reduced, smaller = residual_squares(y, parts[:44] + parts[45:])
    assert rank - smaller == 3 and rank > 128
    assert found["score"].iloc[44] == pytest.approx((reduced - full) / 3 / (full / (400 - rank)))
    assert found.loc[found["selected"], "parent"].tolist() == ["x3", "x44"]


def test_one_column_is_the_linear_model_of_statsmodels(rng):
    table = mixed_table(rng)
    found = edges(table, list("abcdef"), columns=1).set_index("child")
    for place, child in enumerate("bcdef", start=1):
        fit = sm.OLS(table[child], sm.add_constant(table[list("abcdef")[:place]])).fit()
        assert np.allclose(found.loc[[child], "p_value"], fit.pvalues.iloc[1:], rtol=1e-6)
        assert np.allclose(found.loc[[child], "score"], fit.tvalues.iloc[1:] ** 2, rtol=1e-6)


def test_neither_the_columns_places_nor_units_nor_the_type_matter():
    table, _ = poisson_er(nodes=10, rows=400)
    order = sorted(table)
    found = edges(table, order)
    pd.testing.assert_frame_equal(edges(table[table.columns[::-1]], order), found)
    for other in (table.astype(float), table.astype("Int64"), table.astype(object), table.sample(frac=1.0)):
        pd.testing.assert_frame_equal(edges(other, order), found)
    pd.testing.assert_frame_equal(edges(1000.0 - 0.01 * table, order), found, rtol=1e-6)


def test_every_predecessor_is_a_row_in_causal_order_and_the_table_is_left_as_it_was(small_table):
    before = small_table.copy()
    found = edges(small_table, list("caedb"))
    assert list(found) == ["parent", "child", "score", "p_value", "selected"]
    assert (found["parent"] + found["child"]).tolist() == "ca ce ae cd ad ed cb ab eb db".split()
    assert found["selected"].dtype == bool
    assert edges(small_table[["a"]], ["a"]).columns.equals(found.columns)
    pd.testing.assert_frame_equal(small_table, before)


def test_the_cutoff_is_the_papers_and_strict(small_table, small_truth):
    assert inspect.signature(edges).parameters["cutoff"].default == 0.001
    found = edges(small_table, list("abcde"))
    assert (found["selected"] == (found["p_value"] < 0.001)).all() and f1(small_truth, found[found["selected"]]) == 1
    assert not edges(small_table, list("abcde"), cutoff=0.0)["selected"].any()
    assert edges(small_table, list("abcde"), cutoff=1.0)["selected"].all()
    weakest = found["p_value"].max()
    assert edges(small_table, list("abcde"), cutoff=weakest)["selected"].sum() == len(found) - 1


def test_what_earlier_predecessors_span_is_left_out(small_table):
    plain = edges(small_table, list("abcde"))
    doubled = small_table.assign(copy=3 * small_table["a"] - 7)
    found = edges(doubled, ["a", "copy", "b", "c", "d", "e"])
    copies = found[found["parent"] == "copy"]
    assert (copies["score"] == 0).all() and (copies["p_value"] == 1).all()
    assert found.iloc[0][["parent", "child", "selected"]].tolist() == ["a", "copy", True]
    others = found[(found[["parent", "child"]] != "copy").all(axis=1)].reset_index(drop=True)
    pd.testing.assert_frame_equal(others, plain, rtol=1e-6)


@pytest.mark.parametrize("columns", [1, 3, 5])
def test_a_sum_is_its_terms_and_a_sum_among_predecessors_does_no_harm(rng, columns):
    table = pd.DataFrame(rng.poisson(2.0, (500, 3)), columns=list("abc"))
    table = table.assign(total=table.sum(axis=1), y=rng.poisson(0.5 + table["a"]), alone=rng.poisson(2.0, 500))
    found = edges(table, list(table), columns=columns)
    assert np.isfinite(found[["score", "p_value"]].to_numpy()).all()
    kept = {(parent, child) for parent, child, *_ in found[found["selected"]].itertuples(index=False)}
    assert kept == {("a", "total"), ("b", "total"), ("c", "total"), ("a", "y")}


def test_a_constant_is_nobodys_parent_or_child(small_table):
    plain = edges(small_table, list("abcde"))
    table = small_table.assign(first=4, last=0.1)
    found = edges(table, ["first", *"abc", "last", *"de"])
    constant = found[["parent", "child"]].isin(["first", "last"]).any(axis=1)
    assert (found.loc[constant, "score"] == 0).all() and (found.loc[constant, "p_value"] == 1).all()
    pd.testing.assert_frame_equal(found[~constant].reset_index(drop=True), plain)
    assert not edges(table[["first", "last"]], ["first", "last"])["selected"].any()


@pytest.mark.parametrize(
    ("order", "message"),
    [
        ("abcd", '"e" is a column of the table but is not in the order'),
        ("abcdex", '"x" is in the order but is not a column of the table'),
        ("abcded", '"d" appears twice in the order'),
    ],
)
def test_an_order_of_other_names_is_refused(small_table, order, message):
    for selector in (cam, pcm, evidence):
        with pytest.raises(InputError, match=message):
            selector.edges(small_table, list(order))


def test_too_few_rows_are_refused_with_what_would_do(rng):
    table = pd.DataFrame(rng.normal(size=(16, 6)), columns=list("abcdef"))
    where = 'The regression of "f" on 5 nodes has 15 columns, too many for 16 rows'
    message = f"{where}: use at least 17 rows, or columns = 2"
    with pytest.raises(InputError, match=message):
        edges(table, list("abcdef"))
    assert len(edges(table, list("abcdef"), columns=2)) == 15
    assert len(edges(pd.concat([table, table.head(1) + 1]), list("abcdef"))) == 15
    with pytest.raises(InputError, match="5 columns, too many for 6 rows: use at least 7 rows\\."):
        edges(table.head(6), list("abcdef"), columns=1)
    with pytest.raises(InputError, match="too many for 16 rows"):
        edges(table, list("abcdef"), columns=10**12)
    with pytest.raises(InputError, match="The table has no rows"):
        edges(table.head(0), list("abcdef"))


@pytest.mark.parametrize("columns", [0, -1, 2.5, True, "3", None])
def test_columns_must_be_a_whole_number_from_1(small_table, columns):
    with pytest.raises(InputError, match="columns must be a whole number from 1 up; got"):
        edges(small_table, list("abcde"), columns=columns)


@pytest.mark.parametrize("cutoff", [-0.1, 1.1, float("nan"), True, "0.05", None])
def test_the_cutoff_must_be_a_share(small_table, cutoff):
    with pytest.raises(InputError, match="cutoff must be a number from 0 to 1; got"):
        edges(small_table, list("abcde"), cutoff=cutoff)
