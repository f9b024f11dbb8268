"""Simulated graphs and counts: known truth, exact files, the paper's rates and rules."""

from pathlib import Path

import pandas as pd
import pytest

from disco import simulate
from disco.errors import InputError
from disco.simulate import Design

DATASETS = Path(__file__).parents[2] / "datasets"


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


def test_a_cycle_is_named():
    edges = [("a", "b"), ("b", "c"), ("c", "a")]
    with pytest.raises(InputError, match="The graph has a cycle, a → b → c → a: a DAG has none"):
        Design(graph="own", edges=edges)


def test_edge_list_holds_the_convention():
    adjacency = pd.DataFrame([[0, 1], [0, 0]], index=["cause", "effect"], columns=["cause", "effect"])
    assert simulate.edge_list(adjacency).to_dict("records") == [{"parent": "cause", "child": "effect"}]
