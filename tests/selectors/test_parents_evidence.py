"""Parents by the likelihood, along a given order."""

import numpy as np
import pandas as pd
import pytest

from disco.metrics import f1
from disco.selectors import evidence
from disco.simulate import Design, simulate


@pytest.fixture(scope="module", params=["poisson-softplus", "nb-softplus", "binomial-sigmoid"])
def known(request):
    return simulate(Design(nodes=12, rows=3000, k=2, family=request.param, seed=3))


def test_true_order_gives_nearly_the_true_graph(known):
    found = evidence.edges(known.table, known.order)
    assert f1(known.truth, found[found["selected"]]) > 0.93 and len(found) == 12 * 11 // 2
    place = {name: number for number, name in enumerate(known.order)}
    assert (found["parent"].map(place) < found["child"].map(place)).all()
    assert (found.loc[found["selected"], "score"] > -0.5).all()
    assert (found.loc[~found["selected"], "score"].fillna(-1.0) < 0.5).all()  # NaN: the screen leaves it out


@pytest.mark.parametrize("other", [np.arange(12) % 2, 1 - np.arange(12) % 2])
def test_a_copy_and_a_complement_have_an_answer(other):
    found = evidence.edges(pd.DataFrame({"a": np.arange(12) % 2, "b": other}), ["a", "b"])
    assert len(found) == 1 and not np.isinf(found["score"]).any()


def test_the_order_is_kept_where_it_is_wrong():
    """Along the reverse of x → y the edge is still found, reversed."""
    random = np.random.default_rng(0)
    x = random.poisson(2.0, 1500)
    table = pd.DataFrame({"x": x, "y": random.poisson(0.5 + x)})
    forward, back = evidence.edges(table, ["x", "y"]), evidence.edges(table, ["y", "x"])
    assert forward[["parent", "child"]].iloc[0].tolist() == ["x", "y"] and forward["selected"].all()
    assert back[["parent", "child"]].iloc[0].tolist() == ["y", "x"] and back["selected"].all()


def test_no_parents_among_independent_columns():
    table = pd.DataFrame(np.random.default_rng(1).poisson(2.0, (1000, 12))).rename(columns=str)
    assert not evidence.edges(table, list(table.columns))["selected"].any()
