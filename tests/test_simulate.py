"""Simulated graphs and counts: known truth, exact files, the paper's rates and rules."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from disco import simulate
from disco.errors import InputError

DATASETS = Path(__file__).parents[1] / "datasets"


def test_the_sample_files_are_what_the_generator_gives(tmp_path):
    table, edges = simulate.poisson_er()
    table.to_csv(tmp_path / "poisson20.csv", index=False)
    edges.to_csv(tmp_path / "poisson20_truth.csv", index=False)
    for name in ("poisson20.csv", "poisson20_truth.csv"):
        assert (tmp_path / name).read_text() == (DATASETS / name).read_text()
    assert f"its {len(edges)} true edges" in (DATASETS / "README.md").read_text()


def test_fewer_rows_are_the_first_rows_of_more():
    long, edges = simulate.poisson_er(nodes=8, rows=500, seed=3)
    short, same_edges = simulate.poisson_er(nodes=8, rows=100, seed=3)
    pd.testing.assert_frame_equal(short, long.head(100))
    pd.testing.assert_frame_equal(edges, same_edges)


def test_another_seed_is_another_graph_and_table():
    (table, edges), (other_table, other_edges) = simulate.poisson_er(seed=0), simulate.poisson_er(seed=1)
    assert not table.equals(other_table) and not edges.equals(other_edges)


def test_erdos_renyi_has_the_expected_number_of_edges_and_no_cycle(rng):
    drawn = [simulate.erdos_renyi(30, 3, rng).to_numpy() for _ in range(300)]
    assert np.mean([matrix.sum() for matrix in drawn]) == pytest.approx(3 * 29, rel=0.02)
    assert all(not np.linalg.matrix_power(matrix, 30).any() for matrix in drawn)
    # A random order: edges run as often from a later column to an earlier one.
    backwards = np.mean([np.tril(matrix).sum() / matrix.sum() for matrix in drawn])
    assert backwards == pytest.approx(0.5, abs=0.03)


def test_a_dense_request_gives_the_complete_graph(rng):
    assert simulate.erdos_renyi(4, 9, rng).to_numpy().sum() == 6


@pytest.mark.parametrize(("nodes", "k"), [(1, 3), (5, -1)])
def test_impossible_graphs_are_refused(nodes, k, rng):
    with pytest.raises(InputError):
        simulate.erdos_renyi(nodes, k, rng)


def test_poisson_softplus_means(rng):
    """Two nodes: the child's mean given its parent lies on the curve 0.2 + softplus(0.5 + beta x)."""
    adjacency = pd.DataFrame([[0, 1], [0, 0]], index=["cause", "effect"], columns=["cause", "effect"])
    table = simulate.poisson_softplus(adjacency, 200_000, rng)
    assert table["cause"].mean() == pytest.approx(2.0, abs=0.02)
    assert table["cause"].var() == pytest.approx(2.0, abs=0.03)
    means = table.groupby("cause")["effect"].mean()
    assert means[0] == pytest.approx(0.2 + np.log1p(np.exp(0.5)), abs=0.02)
    indices = np.log(np.expm1(means.loc[1:5] - 0.2))
    slopes = (indices - 0.5) / means.loc[1:5].index
    assert slopes.between(0.28, 0.47).all() and slopes.std() < 0.02
    given = table.loc[table["cause"] == 2, "effect"]
    assert given.var() / given.mean() == pytest.approx(1.0, abs=0.03)


def test_a_cycle_is_refused(rng):
    adjacency = pd.DataFrame([[0, 1], [1, 0]], index=list("ab"), columns=list("ab"))
    with pytest.raises(InputError, match="The graph has a cycle"):
        simulate.poisson_softplus(adjacency, 10, rng)


def test_edge_list_holds_the_convention():
    adjacency = pd.DataFrame([[0, 1], [0, 0]], index=["cause", "effect"], columns=["cause", "effect"])
    assert simulate.edge_list(adjacency).to_dict("records") == [{"parent": "cause", "child": "effect"}]
