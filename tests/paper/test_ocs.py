import numpy as np
import pandas as pd
import pytest

from disco.errors import ScoreUnavailable
from disco.paper import jackknife
from disco.paper.ocs import (
    check_available,
    frequencies,
    means,
    own_thresholds,
    robust_scale,
    select,
    sensitivity,
    standardise,
    tidy,
    with_z,
)
from disco.paper.settings import Settings


def test_z_is_median_and_interquartile_range():
    values = np.array([1.0, 2.0, 3.0, 4.0, 20.0])
    z = standardise([np.array([5.0]), values])[1]
    assert z.tolist() == ((values - 3) / 2).tolist()


def test_scale_falls_back_in_the_papers_order():
    iqr_zero = np.array([1, 1, 1, 1, 1, 1, 1, 9.0])  # the MAD is 0 as well, so the standard deviation is used
    assert robust_scale(iqr_zero) == pytest.approx(np.std(iqr_zero)) and robust_scale(np.array([2.0, 2.0, 2.0])) == 1.0
    assert robust_scale(np.array([0.0, 4.0])) == pytest.approx(2.0)


def test_scaled_median_absolute_deviation_is_second():
    """Where the IQR is exactly 0, so is the MAD; so the MAD's turn comes while an IQR shrinks to nothing."""
    used = []
    for spread in np.geomspace(1e-6, 1e-16, 150):
        values = np.array([-1.0, 0.0, 0.0, spread, 1.0])
        scales = {"IQR": spread, "MAD": 1.4826 * spread, "standard deviation": np.std(values)}
        used += [name for name, scale in scales.items() if np.isclose(robust_scale(values), scale, rtol=1e-9, atol=0)]
    assert list(dict.fromkeys(used)) == ["IQR", "MAD", "standard deviation"] and len(used) == 150


def test_a_single_candidate_is_not_centred_and_borrows_the_median_scale():
    candidates = [np.array([6.0]), np.array([0.0, 4.0]), np.array([0.0, 2.0, 8.0]), np.array([0.0, 1.0, 2.0, 3.0])]
    scales = [robust_scale(values) for values in candidates[1:]]
    assert standardise(candidates)[0].tolist() == [6.0 / np.median(scales)]


def frame():
    z = {("a", "b"): [3.0, 2.5, 2.1], ("a", "c"): [3.0, 0.5, 2.2], ("b", "c"): [2.0, 2.0, 2.0], ("a", "d"): [0, 0, 5]}
    rows = [(f + 1, p, c, v / 10, v) for (p, c), values in z.items() for f, v in enumerate(values)]
    return pd.DataFrame(rows, columns=["fold", "parent", "child", "ocs", "z"])


def test_selection_needs_its_share_of_folds_strictly_above_the_threshold():
    assert select(frame(), 2.0, 1.0)[["parent", "child"]].to_numpy().tolist() == [["a", "b"]]
    two = select(frame(), 2.0, 2 / 3)
    assert two[["parent", "child"]].to_numpy().tolist() == [["a", "b"], ["a", "c"]]
    assert len(select(frame(), 1.9, 1.0)) == 2 and len(select(frame(), 2.0, 1 / 3)) == 3


def test_edges_carry_means_over_folds():
    found = frequencies(frame(), 2.0)[["parent", "child", "ocs"]]
    pd.testing.assert_frame_equal(means(frame()), found.rename(columns={"ocs": "score"}))
    edge = frequencies(frame(), 2.0).set_index(["parent", "child"]).loc[("a", "c")]
    assert edge.to_dict() == pytest.approx({"ocs": 0.19, "z": 1.9, "frequency": 2 / 3})


def test_means_are_of_a_candidate_in_whatever_order_the_rows_are(rng):
    kept = frequencies(frame(), 2.0).sort_values(["parent", "child"], ignore_index=True)
    mixed = frame().iloc[rng.permutation(len(frame()))]
    swapped = pd.concat([frame().iloc[:2][::-1], frame().iloc[2:]])  # folds of equal size, with the pairs in two orders
    for rows in (mixed, swapped, frame().iloc[::-1]):
        found = frequencies(rows, 2.0).sort_values(["parent", "child"], ignore_index=True)
        pd.testing.assert_frame_equal(found, kept)
    by_fold = frame().sort_values("fold", kind="stable", ignore_index=True)
    pd.testing.assert_frame_equal(frequencies(by_fold, 2.0), frequencies(frame(), 2.0))
    assert frequencies(by_fold[:0], 2.0).empty
    one_less = frequencies(by_fold.iloc[:-1], 2.0).set_index(["parent", "child"])
    assert one_less.loc[("a", "d")].tolist() == [0.0, 0.0, 0.0] and one_less.loc[("b", "c"), "z"] == 2.0


def test_sensitivity_counts_what_selection_keeps():
    taus = [-1.0, 0.0, 0.5, 1.9, 2.0, 2.1, 2.3, 4.0, 9.0]
    counts = sensitivity(frame(), taus)
    for row in counts.itertuples():
        assert row.edges == len(select(frame(), row.tau_z, row.pi_min))
    assert sorted(counts["pi_min"].unique()) == pytest.approx([1 / 3, 2 / 3, 1])


def test_tidy_follows_the_order():
    found = {"b": np.array([[0.5], [0.6]]), "c": np.array([[0.1, 0.9], [0.2, 0.8]])}
    ocs = tidy(found, found, ["a", "b", "c"])
    assert ocs[["fold", "parent", "child", "ocs"]].to_numpy().tolist() == [
        [1, "a", "b", 0.5], [1, "a", "c", 0.1], [1, "b", "c", 0.9], [2, "a", "b", 0.6], [2, "a", "c", 0.2],
        [2, "b", "c", 0.8],
    ]  # fmt: skip # a table
    assert ocs["z"].tolist()[1:3] == pytest.approx([-1.0, 1.0])


def test_an_unavailable_edge_is_named():
    with pytest.raises(ScoreUnavailable, match="The OCS of 'b' → 'c' is unavailable in held-out fold 2: no row is adm"):
        check_available(np.array([[1.0, 1.0], [1.0, np.nan]]), "c", ["a", "b"], "admissible")


def agreeing(rng, nodes=12, effect=0.0, edges=(), noise=None):
    """Mean curvatures as from the networks of the folds: a true value per pair, and noise of its child's scale."""
    order = [f"n{k}" for k in range(nodes)]
    scale = np.exp(rng.normal(0, 0.7, nodes)) if noise is None else np.full(nodes, noise)
    curvature = {}
    for place in range(1, nodes):
        values = rng.normal(size=(3, place)) * scale[place]
        for parent in range(place):
            if (parent, place) in edges:
                values[:, parent] += effect * scale[place]
        curvature[order[place]] = values
    return order, curvature, tidy({k: np.abs(v) for k, v in curvature.items()}, curvature, order, "jackknife")


def test_the_jackknife_z_is_the_mean_over_its_standard_error():
    # With one common noise the smoothed variance of many pairs is that of a delete-group jackknife: of independent
    # fold values with variance 1 it estimates (B - 1)^2 / B = 4 / 3, so |mean| / s has scale sqrt(1/3 / (4/3)) = 1/2.
    _, _, table = agreeing(np.random.default_rng(0), nodes=60, noise=1.0)
    z = table.loc[table["fold"] == 1, "z"]
    assert np.sqrt((z**2).mean()) == pytest.approx(0.5, abs=0.03)
    assert table.groupby(["parent", "child"])["z"].nunique().max() == 1


def test_the_jackknife_z_does_not_depend_on_the_units_of_a_node():
    order, curvature, table = agreeing(np.random.default_rng(1))
    rescaled = {child: values * 100.0 for child, values in curvature.items()}
    again = tidy(curvature, rescaled, order, "jackknife")
    assert np.allclose(again["z"], table["z"])
    stretched = {c: v * (50.0 if c == "n11" else 1.0) for c, v in curvature.items()}
    moved = tidy(curvature, stretched, order, "jackknife")
    ratio = (moved["z"] / table["z"])[table["child"] == "n11"]  # ten candidates against the weight of three of others
    assert ratio.between(1, 3).all()


def test_the_jackknife_finds_edges_among_few_candidates_and_hardly_any_where_there_are_none():
    settings = Settings(parent_rule="jackknife")
    edges = {(0, 1), (0, 2), (1, 2), (2, 3), (1, 3), (3, 8), (5, 11)}
    *_, table = agreeing(np.random.default_rng(2), effect=12.0, edges=edges)
    kept = select(table, *own_thresholds(table, settings))
    assert {(int(p[1:]), int(c[1:])) for p, c in kept[["parent", "child"]].itertuples(index=False)} == edges
    empty = [agreeing(np.random.default_rng(seed))[2] for seed in range(10)]
    assert sum(len(select(table, *own_thresholds(table, settings))) for table in empty) <= 2


def drawn(seed, candidates, null, scale, mean, spread):
    """Z of candidates, a share of which has no edge, and which these are."""
    rng = np.random.default_rng(seed)
    without = rng.random(candidates) < null
    z = np.where(without, rng.normal(0, scale, candidates), rng.normal(mean, spread, candidates))
    return np.abs(z), without


@pytest.mark.parametrize("made", [(0.85, 0.6, 3.3, 1.6), (0.7, 0.9, 4.5, 1.2), (0.95, 0.7, 6.0, 2.0)])
def test_the_two_groups_of_z_are_found(made):
    z, _ = drawn(1, 20_000, *made)
    assert jackknife.two_groups(z) == pytest.approx(made, rel=0.05)


def test_the_local_false_discovery_rate_is_met_at_the_threshold():
    z, without = drawn(2, 100_000, 0.85, 0.6, 3.3, 1.6)
    groups = jackknife.two_groups(z)
    for fdr in (0.1, 0.3, 0.5):
        at = jackknife.crossing(groups, fdr)
        assert without[np.abs(z - at) < 0.03].mean() == pytest.approx(fdr, abs=0.05)
        assert groups.false(at) == pytest.approx((without & (z > at)).mean(), rel=0.1, abs=1.5e-4)
    assert jackknife.crossing(groups, 1.0) == 0.0


def test_a_table_without_edges_keeps_hardly_any_candidate():
    tables = [drawn(seed, candidates, 1.0, 0.6, 9, 1)[0] for seed in range(50) for candidates in (6, 190)]
    assert sum((z > jackknife.threshold(z, 0.3)).any() for z in tables) <= 5
    assert jackknife.two_groups(tables[1]) == pytest.approx((1, 0.6, 1.2, 0.6), rel=0.15)


def test_few_candidates_are_judged_as_if_their_null_were_normal():
    for few in ([0.0], [1.5], [0.1, 0.4, 1.2], [1e-9] * 5, [2.5]):
        assert not (np.array(few) > jackknife.threshold(np.array(few), 0.3)).any()
    for few in ([4.0], [8.0, 9.0, 12.0], [0.1, 0.2, 10.0], [1e200, 2e200]):  # a dense graph keeps its edges
        assert ((np.array(few) > jackknife.threshold(np.array(few), 0.3)) == (np.array(few) > 1)).all()


def test_either_rule_can_be_had_from_the_same_scores():
    order, curvature, table = agreeing(np.random.default_rng(3))
    papers = tidy({k: np.abs(v) for k, v in curvature.items()}, curvature, order, "iqr")
    assert with_z(table, "iqr").equals(papers) and with_z(papers, "jackknife")["z"].equals(table["z"])
    assert own_thresholds(papers, Settings.of("paper", tau_z=1.5, pi_min=0.5)) == (1.5, 0.5)
