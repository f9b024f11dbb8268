"""Other classes of a node's distribution: exact likelihoods by sums over the levels, and what each class can fit."""

import numpy as np
import pandas as pd
import pytest
from refine_world import design_of
from scipy.special import ndtri

from disco.likelihood.batch import Problems
from disco.likelihood.newton import fit
from disco.likelihood.other_classes import has_hurdle, normal_scores, positive_parts, zero_parts
from disco.likelihood.rank_design import STRAIGHT, Prior

LINEAR = Prior(10.0, 1e7, STRAIGHT)


def _log_likelihood(design, node, parents):
    return float(fit(design, Problems.of([(node, parents)]), tolerance=1e-8).log_likelihood[0])


@pytest.fixture(scope="module")
def hurdle():
    """a opens the zeros of b and leaves the counts above 0 alone."""
    random = np.random.default_rng(1)
    a = random.poisson(4.0, 3000)
    b = random.poisson(5.0, 3000) * (random.random(3000) < 1 / (1 + np.exp(4.0 - a)))
    return pd.DataFrame({"a": a, "b": b, "c": random.integers(0, 2, 3000), "d": 5 + random.poisson(9.0, 3000)})


def test_only_nodes_with_zeros_and_more_than_two_levels_have_a_hurdle(hurdle):
    few = hurdle.assign(d=np.where(np.arange(3000) < 9, 0, hurdle["d"]))
    assert has_hurdle(design_of(few)).tolist() == [True, True, False, False]


def test_the_parts_of_a_hurdle_add_up_to_the_distribution(hurdle):
    """Without parents, both classes fit b's eight or more levels up to the base measure: the same log-likelihood."""
    small = hurdle.assign(b=hurdle["b"].clip(upper=6))  # a free base measure
    design = design_of(small)
    shares = small["b"].value_counts(normalize=True)
    exact = float((3000 * shares * np.log(shares)).sum())
    assert _log_likelihood(design, 1, ()) == pytest.approx(exact, abs=0.01)
    parts = _log_likelihood(zero_parts(design), 1, ()), _log_likelihood(positive_parts(design), 1, ())
    is_zero = (small["b"] == 0).mean()
    assert parts[0] == pytest.approx(3000 * (is_zero * np.log(is_zero) + (1 - is_zero) * np.log1p(-is_zero)), abs=0.01)
    assert sum(parts) == pytest.approx(exact, abs=0.01)


def test_a_hurdle_is_seen_in_its_zeros_alone(hurdle):
    design = design_of(hurdle)
    gains = [
        _log_likelihood(one, 1, (0,)) - _log_likelihood(one, 1, ())
        for one in (zero_parts(design), positive_parts(design), design)
    ]
    true = 1 / (1 + np.exp(4.0 - hurdle["a"]))
    is_above, share = hurdle["b"] > 0, (hurdle["b"] > 0).mean()
    exact = np.log(np.where(is_above, true, 1 - true)).sum() - np.log(np.where(is_above, share, 1 - share)).sum()
    assert gains[0] == pytest.approx(exact, abs=5.0) and abs(gains[1]) < 4.0 and gains[2] < exact - 50


def test_rows_that_were_set_from_outside_stay_out_of_the_positive_part(hurdle):
    was_set = np.zeros((3000, 4), bool)
    was_set[:1000, 1] = True
    own = positive_parts(design_of(hurdle, was_set=was_set)).own_rows
    assert (own[1] == ((hurdle["b"] > 0) & ~was_set[:, 1])).all() and own[2].sum() == 3000


def test_normal_scores_fit_a_gaussian_copula_alike_in_both_directions():
    """The exact gain of a Gaussian pair is −½ n log(1 − r²), whatever the marginal distributions."""
    random = np.random.default_rng(2)
    x = random.normal(size=4000)
    y = 0.6 * x + 0.8 * random.normal(size=4000)
    table = pd.DataFrame({"x": np.floor(np.exp(x) * 20), "y": np.floor(30 * y + 200)}).astype(int)
    design = normal_scores(design_of(table), LINEAR)
    gains = [_log_likelihood(design, node, (1 - node,)) - _log_likelihood(design, node, ()) for node in (0, 1)]
    exact = -2000 * np.log1p(-(np.corrcoef(x, y)[0, 1] ** 2))
    assert gains[0] == pytest.approx(gains[1], abs=2.0) and gains[0] == pytest.approx(exact, rel=0.03)


def test_normal_scores_are_those_of_middle_ranks():
    design = normal_scores(design_of(pd.DataFrame({"x": [0, 0, 1, 3], "y": [0, 1, 1, 0]})), LINEAR)
    z = ndtri([0.25, 0.625, 0.875])
    z = (z - z @ [0.5, 0.25, 0.25]) / np.sqrt((z - z @ [0.5, 0.25, 0.25]) ** 2 @ [0.5, 0.25, 0.25])
    assert design.value[0, :3] == pytest.approx(z - z[0])
    assert design.columns[0, 0] == pytest.approx(z[[0, 0, 1, 2]]) and not design.columns[0, 1:].any()
