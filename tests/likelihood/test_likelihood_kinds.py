"""The shape of a fitted node's distribution."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom, nbinom, poisson

from disco.errors import InputError
from disco.likelihood.count_shapes import BINOMIAL, COM, NB, POISSON, _Fitted, _shapes, describe
from disco.likelihood.model import Model
from disco.simulate import Design, simulate


def kinds(family, seed, **parameters):
    known = simulate(Design(nodes=4, rows=5000, k=1, family=family, parameters=parameters, seed=seed))
    parents = {child: list(rows["parent"]) for child, rows in known.truth.groupby("child")}
    model = Model.of(known.table, parents)
    return [describe(model, node) for node in known.table]


def alone(values):
    return describe(Model.of(pd.DataFrame({"x": values, "y": np.arange(len(values)) % 3}), {}), "x")


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("family", "parameters", "name", "word", "low", "high"),
    [
        ("poisson-softplus", {}, POISSON, "Neither over- nor under-dispersed", 0.95, 1.05),
        ("nb-softplus", {"size": 2}, NB, "Over-dispersed", 1.5, 3.2),
        ("binomial-sigmoid", {"trials": 10}, BINOMIAL, "Under-dispersed", 0.8, 0.94),
        ("com-poisson", {"nu": 2.0}, COM, "Under-dispersed", 0.5, 0.7),
    ],
)
def test_simulated_families_are_told(seed, family, parameters, name, word, low, high):
    found = kinds(family, seed, **parameters)
    for kind in found:
        names = [shape.name for shape in kind.shapes if shape.cost - kind.nearest.cost < 3.0]
        assert name in names and kind.fits and not kind.nearest.zero_weight
        assert kind.sentence().startswith(word) and low < kind.ratio < high
    assert sum(kind.nearest.name == name for kind in found) >= 3
    parameter = np.median([kind.nearest.parameter for kind in found])
    if parameters:
        assert parameter == pytest.approx(next(iter(parameters.values())), rel=0.25)


def test_large_counts_that_differ_little_are_told_as_exactly_as_small_ones(rng):
    """Poisson counts, and the same shifted by 10⁹, where squares of counts are mostly rounding error."""
    values = rng.poisson(3.0, 400)
    small, large = alone(values), alone(10**9 + values)
    assert large.ratio == pytest.approx(small.ratio * values.mean() / 1e9, rel=1e-2)
    assert np.isfinite(large.table()[["distance", "cost"]]).all(axis=None) and "-0.00" not in large.sentence()
    assert large.nearest.distance < small.nearest.distance + 0.1


def test_a_group_that_is_all_at_one_count_has_shapes():
    """Separated rows: the probability of every other count is so small that it is 0."""
    log_probability = np.array([[0.0, -2000.0, -4000.0], [-1.0986122886681098] * 3])
    found = list(_shapes(_Fitted(np.array([0.0, 1.0, 2.0]), np.array([0.5, 0.5]), log_probability), 100))
    assert len(found) >= 4 and all(np.isfinite([shape.distance, shape.cost, shape.cut]).all() for shape in found)
    assert min(shape.distance for shape in found) < 0.05


@pytest.mark.parametrize("seed", range(3))
def test_extra_zeros_are_told_from_over_dispersion(seed):
    for kind in kinds("zip", seed, zeros=0.3):
        assert kind.nearest.zero_weight > 0 and "with extra zeros" in kind.sentence()
        assert kind.zeros > 1.1 * kind.nearest.base_zeros
        assert next(s for s in kind.shapes if s.name == NB and not s.zero_weight).cost > kind.nearest.cost + 5
    assert not any(kind.nearest.zero_weight for kind in kinds("nb-softplus", seed))


def test_a_shape_that_is_there_exactly_is_found_exactly():
    """A free base measure fits the shares, and these are a Poisson's, a binomial's, a negative binomial's."""
    grid = np.arange(7)
    for law, name, parameter in (
        (poisson(0.8), POISSON, None),
        (binom(6, 0.4), BINOMIAL, 6),
        (nbinom(1.5, 0.7), NB, 1.5),
    ):
        rows = np.repeat(grid, np.round(5e5 * law.pmf(grid)).astype(int).clip(1))
        kind = alone(rows)
        assert kind.nearest.name == name and kind.nearest.distance < 1e-6
        assert parameter is None or kind.nearest.parameter == pytest.approx(parameter, rel=0.05)
        share = law.pmf(grid) / law.pmf(grid).sum()
        mean = share @ grid
        assert kind.ratio == pytest.approx((share @ grid**2 - mean**2) / mean, rel=1e-3)
        assert kind.zeros == pytest.approx(share[0], rel=1e-3)


def test_the_distance_is_the_loss_in_log_likelihood():
    """For a node without parents: n · KL between the fitted shares and the best Poisson on the same counts."""
    values = np.random.default_rng(0).negative_binomial(3, 0.5, 3000).clip(max=6)
    kind, grid = alone(values), np.arange(7)
    share = np.bincount(values) / len(values)
    means = np.linspace(0.5, 30, 60_000)
    log_q = np.log(means)[:, None] * grid - np.cumsum(np.log(np.maximum(grid, 1)))
    log_q -= np.log(np.exp(log_q).sum(1, keepdims=True))
    least = (share * (np.log(share) - log_q)).sum(1).min()
    found = next(shape for shape in kind.shapes if shape.name == POISSON and not shape.zero_weight)
    assert found.distance == pytest.approx(least, rel=1e-3)


def test_two_humps_are_none_of_the_shapes():
    random = np.random.default_rng(0)
    kind = alone(np.where(random.random(4000) < 0.5, random.poisson(3, 4000), random.poisson(25, 4000)))
    assert not kind.fits and "not close to any of these shapes" in kind.sentence()


def test_a_bounded_column_is_said_to_be_cut_off():
    kind = alone(np.random.default_rng(0).poisson(4.0, 5000).clip(max=30) % 31)
    assert "truncated" not in kind.sentence()
    values = np.random.default_rng(0).poisson(4.0, 9000)
    kind = alone(values[values <= 4])
    assert kind.nearest.name == POISSON and kind.nearest.cut > 0.3 and "truncated" in kind.sentence()


def test_gaps_are_spoken_of_where_rows_lie_beside_them():
    random = np.random.default_rng(0)
    even = alone(2 * random.poisson(3.0, 4000))
    assert even.gaps >= 8 and even.beside == pytest.approx(1.0) and "rough guide" in even.sentence()
    tail = alone(random.poisson(100.0, 4000))
    assert tail.gaps > 0 and "rough guide" not in tail.sentence()


def test_few_values():
    random = np.random.default_rng(0)
    assert "Two values only" in alone(random.integers(0, 2, 500)).sentence()
    rare = alone(np.where(random.random(5000) < 0.004, random.integers(1, 3, 5000), 0))
    assert np.isfinite(rare.table()[["distance", "cost"]].to_numpy()).all() and rare.sentence() and rare.zeros > 0.99


def test_levels_are_not_called_counts():
    model = Model.of(pd.DataFrame({"x": np.arange(40) % 4, "y": np.arange(40) % 3}), {})
    assert "not counts" in describe(model, "x", is_level=True).sentence()
    with pytest.raises(InputError, match='no node "q"'):
        describe(model, "q")
