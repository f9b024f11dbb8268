"""ODS: exact scores, the order of tables whose families are known, and what it refuses."""

import numpy as np
import pandas as pd
import pytest

from disco.errors import FitStopped, InputError
from disco.methods import find
from disco.methods.likelihoods import assigned
from disco.methods.ods import Options, ordered, overdispersion
from disco.progress import Reporter
from tests.enumerated import PARAMETER, given, joint

ROWS = 20_000
COMPLETE = [(0, ()), (1, (0,)), (2, (0, 1))]  # node, nodes before it: all parents, no descendant
LACKING = [(1, ()), (2, ()), (2, (0,)), (2, (1,))]
WITH_A_DESCENDANT = [(0, (1,)), (0, (2,)), (0, (1, 2)), (1, (0, 2))]
BETA = {"poisson": 0.0, "nb": 1 / PARAMETER["nb"], "binomial": -1 / PARAMETER["binomial"]}


def exact(family: str, node: int, before: tuple[int, ...], criterion: str) -> float:
    moments = given(joint(family), node, before)
    return overdispersion(moments.mean, moments.variance, BETA[family], criterion=criterion, weights=moments.weights)


@pytest.mark.parametrize("family", BETA)
@pytest.mark.parametrize(("criterion", "none"), [("difference", 0.0), ("ratio", 1.0)])
def test_the_exact_score_is_zero_with_all_parents_and_positive_if_one_is_missing(family, criterion, none):
    """A descendant among the nodes before makes it negative, which an order from sources never comes to."""
    for node, before in COMPLETE:
        assert exact(family, node, before, criterion) == pytest.approx(none, abs=1e-10)
    for node, before in LACKING:
        assert exact(family, node, before, criterion) > none + 0.03
    for node, before in WITH_A_DESCENDANT:
        assert exact(family, node, before, criterion) < none - 0.03


def chain() -> pd.DataFrame:
    random = np.random.default_rng(0)
    first = random.poisson(3.0, ROWS)
    second = random.poisson(1 + 0.8 * first)
    return pd.DataFrame({"c": random.poisson(1 + 0.8 * second), "a": first, "b": second})


@pytest.mark.parametrize("criterion", ["difference", "ratio"])
@pytest.mark.parametrize("means", ["linear", "glm", "lasso"])
@pytest.mark.parametrize("features", ["log1p", "raw"])
def test_a_chain_is_ordered_sources_first_whatever_the_order_of_its_columns(criterion, means, features):
    table = chain()[: ROWS if means != "lasso" else 3000]
    changes = {"criterion": criterion, "means": means, "features": features}
    assert find("ods-poisson", table, changes).order == ["a", "b", "c"]
    assert find("ods-poisson", table[["b", "c", "a"]], changes).order == ["a", "b", "c"]


def test_least_squares_by_deflation_is_that_of_each_regression():
    counts, options = chain(), Options()
    kinds = assigned(counts, "poisson", 6.0, None)
    places, ratios = ordered(counts, kinds, options, Reporter(None, {"order": 1.0}, ""))
    values = counts.to_numpy(dtype=float)
    for step, place in enumerate(places):
        design = np.column_stack([np.ones(ROWS), values[:, places[:step]]])
        mean = np.maximum(design @ np.linalg.lstsq(design, values[:, place], rcond=None)[0], 0.05)
        assert ratios[step] == pytest.approx(np.sum((values[:, place] - mean) ** 2) / mean.sum(), rel=1e-9)


def negative_binomial_source() -> pd.DataFrame:
    random = np.random.default_rng(1)
    source = random.negative_binomial(6, 6 / (6 + 6.0), ROWS)
    return pd.DataFrame({"x": source, "y": random.poisson(3 + 0.3 * source)})


def test_each_column_is_held_against_its_own_family():
    """A negative-binomial source and its Poisson child: with the families swapped, the child comes first."""
    table = negative_binomial_source()
    assert find("ods-oracle", table, {"families": {"x": ["nb", 6]}}).directed == [("x", "y")]
    assert find("ods-oracle", table, {"families": {"x": "poisson", "y": ("nb", 6.0)}}).directed == [("y", "x")]
    assert find("ods-nb", table, {"families": {"y": "poisson"}}).order == ["x", "y"]


def test_a_wrong_family_is_seen_in_the_notes():
    right = find("ods-oracle", negative_binomial_source(), {"families": {"x": ["nb", 6]}})
    assert right.notes[0] == (
        "Assumed families: nb of size 6 for 1 node, poisson for 1; means by least squares; parents by CAM at p < 0.001."
    )
    wrong = find("ods-poisson", negative_binomial_source())
    assert "Here it has 0.98 to 1.00 times as much" in right.notes[1]
    assert float(wrong.notes[1].split(" to ")[1].split()[0]) > 1.3


def test_binomial_tables_of_few_trials_are_ordered():
    random = np.random.default_rng(2)
    cause = random.binomial(5, 0.3, ROWS)
    table = pd.DataFrame({"effect": random.binomial(5, 0.2 + 0.1 * cause), "cause": cause})
    assert "binomial of 5 trials for 2 nodes" in find("ods-binomial", table).notes[0]
    for means in ("linear", "glm"):
        assert find("ods-binomial", table, {"means": means}).directed == [("cause", "effect")]
        assert find("ods-oracle", table, {"family": "binomial", "trials": 5, "means": means}).order[0] == "cause"


def test_parents_by_lasso_follow_rule_and_seed():
    random = np.random.default_rng(3)
    table = pd.DataFrame({f"x{k}": random.poisson(2.0, 1500) for k in range(6)})
    table["y"] = random.poisson(0.5 + 0.8 * table["x0"] + 0.6 * table["x1"])
    strict = find("ods-poisson", table, {"parents": "lasso"})
    loose = find("ods-poisson", table, {"parents": "lasso", "rule": "min"})
    assert [edge for edge in strict.directed if edge[1] == "y"] == [("x0", "y"), ("x1", "y")]
    assert set(strict.directed) < set(loose.directed)
    assert "parents by L1 regressions on log1p counts, by the rule min of 5 folds" in loose.notes[0]
    again = [find("ods-poisson", table, {"parents": "lasso", "rule": "min", "seed": seed}) for seed in (0, 1)]
    assert again[0].directed == loose.directed and len({tuple(one.directed) for one in again}) > 1
    sizes = loose.scores.set_index(["parent", "child"])["score"]
    assert set(sizes[sizes > 0].index) == set(loose.directed) and len(sizes) == 21


@pytest.mark.parametrize(
    ("name", "changes", "says"),
    [
        ("ods-binomial", {"trials": 3}, 'A binomial of 3 trials cannot fit "cause", with largest count 4'),
        ("ods-oracle", {"families": {"cause": ["nb", 0]}}, 'The nb of "cause" needs a finite number above 0; got 0'),
        ("ods-oracle", {"families": {"cause": ["binomial", 7.5]}}, "needs a whole number above 0; got 7.5"),
        ("ods-oracle", {"families": {"cause": ["binomial", 2]}}, 'binomial of 2 trials cannot fit "cause"'),
        ("ods-oracle", {"families": {"cause": "gamma"}}, "must be \"poisson\", .* got 'gamma'"),
        ("ods-oracle", {"families": {"cause": ["nb"]}}, 'must be "poisson"'),
        ("ods-oracle", {"families": {"cause": 6}}, 'must be "poisson"'),
        ("ods-oracle", {"families": {"caus": "poisson"}}, '"caus", which is not a column'),
        ("ods-oracle", {"families": "nb"}, "families must map columns to families"),
    ],
)
def test_a_family_that_cannot_be_is_refused(name, changes, says):
    table = pd.DataFrame({"cause": np.arange(60) % 5, "effect": np.arange(60) % 8})
    with pytest.raises(InputError, match=says):
        find(name, table, changes)


def test_tables_that_cannot_be_are_refused():
    table = chain()[:100]
    with pytest.raises(InputError, match='The logarithms of column "d" do not vary'):
        find("ods-poisson", table.assign(d=2**52 + np.arange(100) % 2))
    wide = pd.DataFrame(np.random.default_rng(0).poisson(2, (20, 30))).add_prefix("x")
    with pytest.raises(InputError, match="it needs over 31 rows for 30 columns; got 20"):
        find("ods-poisson", wide)


@pytest.mark.parametrize("means", ["linear", "glm"])
@pytest.mark.parametrize("name", ["ods-poisson", "ods-nb", "ods-binomial"])
def test_copies_huge_rare_and_separated_columns_give_a_result(name, means):
    random = np.random.default_rng(4)
    base = random.poisson(3, 400)
    table = pd.DataFrame({"base": base, "copy": base, "huge": random.integers(0, 2**50, 400)})
    table["heaped"] = base * 1000 + random.integers(0, 2, 400) * 500
    table["rare"] = (np.arange(400) == 7).astype(int)
    table["split"] = (base > 3).astype(int)
    with np.errstate(all="raise", under="ignore"):
        result = find(name, table, {"means": means})
    assert sorted(result.order) == sorted(table) and np.isfinite(result.scores["score"]).all()


@pytest.mark.parametrize("changes", [{}, {"means": "glm"}, {"means": "lasso"}, {"parents": "lasso"}])
def test_it_stops_in_order_and_parents(changes):
    for stage in ("order", "parents"):
        heard = []

        def stop(event, stage=stage, heard=heard):
            heard.append(event.stage)
            return event.stage != stage

        with pytest.raises(FitStopped):
            find("ods-poisson", chain()[:500], changes, callback=stop)
        assert heard[-1] == stage
