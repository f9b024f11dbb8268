"""Thinned tables: exact moments, halves that add up, and independence where the counts are Poisson."""

import numpy as np
import pandas as pd
import pytest

from disco.errors import InputError
from disco.table.thinning import halves, thinned


def repeated(value: int, rows: int = 100_000) -> pd.DataFrame:
    return pd.DataFrame({"a": np.full(rows, value)})


@pytest.mark.parametrize("share", [0.25, 0.5, 0.9])
def test_the_moments_are_those_of_binomial_draws(share):
    kept = thinned(repeated(12), share)["a"]
    deviation = np.sqrt(12 * share * (1 - share))
    assert kept.mean() == pytest.approx(12 * share, abs=4 * deviation / np.sqrt(len(kept)))
    assert kept.var() == pytest.approx(deviation**2, rel=0.03) and kept.between(0, 12).all()


def test_a_share_of_1_keeps_the_table_and_a_seed_repeats():
    table = pd.DataFrame({"a": [0, 5, 2**40], "b": [1, 2, 3]}, index=["r", "s", "t"])
    pd.testing.assert_frame_equal(thinned(table, 1.0), table)
    pd.testing.assert_frame_equal(thinned(table, 0.5, seed=4), thinned(table, 0.5, seed=4))
    assert not thinned(repeated(9), 0.5, seed=4).equals(thinned(repeated(9), 0.5, seed=5))


def test_halves_add_up_and_are_independent_for_poisson_counts_only():
    rng, rows = np.random.default_rng(0), 100_000
    counts = {"poisson": rng.poisson(6, rows), "nb": rng.negative_binomial(3, 1 / 3, rows)}
    table = pd.DataFrame(counts)
    one, other = halves(table)
    pd.testing.assert_frame_equal(one + other, table)
    assert one["poisson"].var() == pytest.approx(3, rel=0.03) and one["poisson"].mean() == pytest.approx(3, rel=0.01)
    covariance = {name: np.cov(one[name], other[name])[0, 1] for name in table}
    assert abs(covariance["poisson"]) < 4 * 3 / np.sqrt(rows)
    assert covariance["nb"] == pytest.approx((18 - 6) / 4, rel=0.1)  # (variance - mean) / 4, exactly


@pytest.mark.parametrize("share", [0, -0.5, 1.5, float("nan")])
def test_a_share_out_of_range_is_refused(share):
    with pytest.raises(InputError, match="must lie above 0"):
        thinned(repeated(1, 3), share)
