"""Shares of bootstrap tables and folds, and columns that are constant in some of them."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
from refine_world import QUICK, chain

from disco.refine import Choice, refine, stability


def rare(ones, rows=300):
    """A column with this many ones, beside two counts independent of it."""
    random = np.random.default_rng(0)
    return pd.DataFrame({"k": (np.arange(rows) < ones) * 1, "a": random.poisson(3, rows), "b": random.poisson(2, rows)})


def link(parent, child):
    return pd.DataFrame({"parent": [parent], "child": [child]})


def test_redone_shares_are_those_of_refinements_of_the_drawn_tables():
    """Each table has its own screen, prior and starts; a column that is constant in a table is left out of it."""
    table = chain(rows=300).assign(rare=(np.arange(300) < 2) * 1)
    choice = dataclasses.replace(QUICK, bootstrap=3, redone=True)
    found, again = refine(table, choice), []
    for number in range(3):
        rows = np.sort(np.random.default_rng([choice.seed, 13, number]).integers(0, 300, 300))
        drawn = table.iloc[rows]
        again.append(refine(drawn.loc[:, drawn.nunique() > 1].reset_index(drop=True), QUICK).graph())
    for edge in found.edges.itertuples():
        told = [graph for graph in again if edge.parent in graph and edge.child in graph]
        assert edge.bootstrap == pytest.approx(np.mean([graph.has_edge(edge.parent, edge.child) for graph in told]))


@pytest.mark.parametrize("ones", [2, 3, 5])
def test_a_column_that_is_constant_in_a_draw_ends_no_search(ones):
    result = refine(rare(ones), Choice(starts=1, restarts=0, bootstrap=50, folds=3), edges=link("a", "k"))
    assert np.isfinite(result.score)
    missing = [note for note in result.notes if "bootstrap tables" in note]
    assert len(missing) == (ones < 5) and all(note.startswith('"k" has only one value in ') for note in missing)


def test_shares_are_those_of_the_draws_that_tell_of_the_edge():
    edges, drawn = [(0, 1), (1, 2), (3, 4)], [[[0, 1], [1, 2]], [[1, 2]], [], []]
    constant = [[], [0], [0, 2], [3]]
    assert stability.shares(edges[:2], drawn, constant) == [0.5, 2 / 3]
    assert np.isnan(stability.shares(edges[2:], drawn, [[3], [4], [3], [3]])).all()
    assert np.isnan(stability.shares(edges, [], [])).all()


def test_a_column_that_is_constant_without_one_fold():
    table = pd.DataFrame({"k": (np.arange(12) == 0) * 1, "a": np.arange(12) % 3})
    result = refine(table, Choice(starts=1, restarts=0, bootstrap=0, folds=2))
    said = "in 1 of 2 fits without one part of the rows"
    assert np.isfinite(result.score) and any(said in note for note in result.notes)
