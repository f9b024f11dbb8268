"""Simulated graphs and counts: known truth, exact files, the paper's rates and rules."""

from pathlib import Path

import pandas as pd

from disco import simulate

DATASETS = Path(__file__).parents[2] / "datasets"


def test_the_sample_files_are_what_the_generator_gives(tmp_path):
    table, edges = simulate.poisson_er()
    table.to_csv(tmp_path / "poisson20.csv", index=False)
    edges.to_csv(tmp_path / "poisson20_truth.csv", index=False)
    for name in ("poisson20.csv", "poisson20_truth.csv"):
        assert (tmp_path / name).read_text() == (DATASETS / name).read_text()
    assert f"its {len(edges)} true edges" in (DATASETS / "README.md").read_text()


def test_edge_list_holds_the_convention():
    adjacency = pd.DataFrame([[0, 1], [0, 0]], index=["cause", "effect"], columns=["cause", "effect"])
    assert simulate.edge_list(adjacency).to_dict("records") == [{"parent": "cause", "child": "effect"}]
