"""Dispersion and zeros, against full enumeration and other software; columns that hardly vary, by hand."""

from itertools import product
from math import factorial

import numpy as np
import pandas as pd
import pytest
from scipy.stats import nbinom

from disco.table import dispersion as laws
from disco.table.dispersion import Screen, corrected, dispersion, left_out, nearly_constant, rare, spreads, zeros


def exact(rows: int, total: int) -> dict[float, float]:
    """Fisher's index of every way to spread a total over equal rows: index → probability."""
    found: dict[float, float] = {}
    for counts in product(range(total + 1), repeat=rows):
        if sum(counts) == total:
            weight = factorial(total) / np.prod([factorial(count) for count in counts], dtype=float) / rows**total
            index = round(float(((np.array(counts) - total / rows) ** 2).sum() / (total / rows)), 9)
            found[index] = found.get(index, 0.0) + weight
    return found


@pytest.mark.parametrize(("rows", "total"), [(2, 2), (4, 6), (6, 5), (5, 9)])
def test_both_p_values_at_a_small_total_are_the_enumerated_ones(rows, total):
    law, none = exact(rows, total), [0] * (rows - 2)
    for counts in ([total, 0, *none], [2, total - 2, *none], [total - 1, 1, *none]):
        found = dispersion(np.array(counts)[:, None]).iloc[0]
        index = round(found["dispersion"] * (rows - 1), 9)
        for side, sign in (("over", 1), ("under", -1)):
            expected = sum(p for at, p in law.items() if sign * at >= sign * index)
            assert found[side] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("rows", [8, 50, 900])
def test_the_two_laws_agree_where_they_meet(rows):
    counts = np.random.default_rng(0).multinomial(laws._SMALL, [1 / rows] * rows, 300).T
    by_law = dispersion(counts)
    total, index = np.full(300, float(laws._SMALL)), (rows - 1) * by_law["dispersion"].to_numpy()
    np.testing.assert_allclose(laws._by_cumulants(rows, total, index), by_law[["over", "under"]], atol=0.06)
    tail = by_law["over"] < 0.05
    np.testing.assert_allclose(laws._by_cumulants(rows, total, index)[tail, 0], by_law["over"][tail], atol=0.015)


@pytest.mark.parametrize("rows", [50, 2000])
@pytest.mark.parametrize("mean", [0.1, 5])
def test_the_test_against_poisson_holds_its_level(rows, mean):
    found = dispersion(np.random.default_rng(1).poisson(mean, (rows, 2000)))
    for side in ("over", "under"):
        for level in (0.05, 0.01):
            error = np.sqrt(level / 2000)
            assert np.mean(found[side] < level) < level + 3 * error
            if rows * mean > 100:  # with few counts in all the steps are coarse, and the test is careful
                assert np.mean(found[side] < level) > level - 4 * error


def test_the_test_finds_what_varies_more_or_less():
    rng = np.random.default_rng(0)
    found = dispersion(np.column_stack([rng.negative_binomial(2, 0.4, 300), rng.binomial(8, 0.6, 300)]))
    assert found["over"][0] < 1e-6 and found["under"][0] > 0.99 and found["under"][1] < 1e-6 and found["over"][1] > 0.99


def test_counts_whose_total_no_int64_holds(rng):
    micros = 1_700_000_000_000_000 + rng.integers(0, 10**12, (10_000, 2))  # times in microseconds
    found = dispersion(micros)
    assert found["dispersion"].to_numpy() == pytest.approx(micros.var(axis=0, ddof=1) / micros.mean(axis=0))
    assert (found["over"] < 1e-9).all() and (found["under"] == 1.0).all()


def test_columns_that_can_have_one_variance_only_have_no_evidence():
    found = dispersion(np.array([[0, 1, 3], [0, 0, 3], [0, 0, 3]]))
    np.testing.assert_allclose(found.loc[:1, ["over", "under"]], 1)
    assert np.isnan(found["dispersion"][0]) and found["under"][2] == pytest.approx(1680 / 3**9)
    assert dispersion(np.array([[4, 0]]))["over"].tolist() == [1, 1]
    np.testing.assert_allclose(dispersion(np.full((9, 1), 7))["over"], 1, atol=1e-3)


@pytest.mark.parametrize(("mean", "size"), [(0.2, 0.5), (3, 2), (3, 40), (12, 1)])
def test_expected_zeros_and_their_slopes(mean, size):
    variance, step = mean + mean**2 / size, 1e-5
    share, by_mean, by_variance = laws._zeros_of_nb(mean, variance)
    assert share == pytest.approx(nbinom.pmf(0, size, size / (size + mean)))
    for slope, at in ((by_mean, (step, 0)), (by_variance, (0, step))):
        up, down = (laws._zeros_of_nb(mean + sign * at[0], variance + sign * at[1])[0] for sign in (1, -1))
        assert slope == pytest.approx((up - down) / (2 * step), rel=1e-3)


def test_zeros_in_excess_are_measured_in_standard_errors():
    rng = np.random.default_rng(3)
    counts = rng.negative_binomial(2, 0.3, (800, 400))
    found = zeros(counts)
    assert abs(found["excess"].mean()) < 0.5 and 0.8 < found["excess"].std() < 1.3 and found["excess"].max() < 5
    np.testing.assert_allclose(found["zeros_nb"].mean(), 0.3**2, rtol=0.02)
    gaps = zeros(rng.poisson(6, (300, 1)) * (rng.random((300, 1)) < 0.7)).iloc[0]
    assert gaps["excess"] > 5 and gaps["zeros"] > gaps["zeros_nb"] + 0.1 > gaps["zeros_poisson"]


def test_holm_by_hand():
    np.testing.assert_allclose(corrected(np.array([0.02, 0.01, 0.5, 0.6])), [0.06, 0.04, 1, 1])


TABLE = pd.DataFrame({"usual": np.arange(200) % 5, "rare": [1, 1, 1] + [0] * 197, "same": [3] * 197 + [4, 5, 6]})
TABLE["often 0"], TABLE["text"] = [2] * 10 + [0] * 190, "x"


def test_the_spread_of_each_column_by_hand():
    found = spreads(TABLE).set_index("column")
    assert found.loc["rare", "prevalence"] == 0.015 and found.loc["same", "commonest"] == 0.985
    assert found.loc["usual", "mean"] == 2 and np.isclose(found.loc["usual", "variance"], 2 * 200 / 199)
    assert found.loc["text"].isna().all()


def test_rare_and_nearly_constant_columns_are_told_apart():
    found = spreads(TABLE)
    assert rare(found).tolist() == [False, True, False, False, False]
    assert nearly_constant(found).tolist() == [False, False, True, False, False]


def test_each_bound_leaves_out_what_it_says():
    found = spreads(TABLE)
    assert not left_out(found, Screen()).any()
    assert left_out(found, Screen(prevalence=0.02)).tolist() == [False, True, False, False, False]
    assert left_out(found, Screen(prevalence=0.1)).tolist() == [False, True, False, True, False]
    assert left_out(found, Screen(mean=0.5)).tolist() == [False, True, False, True, False]
    assert left_out(found, Screen(variance=0.15)).tolist() == [False, True, True, False, False]
    assert left_out(found, Screen(commonest=0.98)).tolist() == [False, True, True, False, False]
