"""Contexts: what they act on is found, nothing acts on them, and they tell directions that the counts cannot."""

import numpy as np
import pandas as pd
import pytest

from disco.errors import InputError
from disco.knowledge import Knowledge
from disco.refine import Choice, refine
from disco.refine.leading import contexts_as_columns
from disco.table.prepared import prepare, without_interventions
from disco.table.roles import Roles

FAST = Choice(starts=1, restarts=1, bootstrap=0, folds=0)


@pytest.fixture(scope="module")
def trial() -> pd.DataFrame:
    """arm → a → b, whose direction only the arm can tell (log link, affine), and temperature → c."""
    rng, rows = np.random.default_rng(4), 1500
    arm, warm = rng.integers(0, 3, rows), rng.normal(size=rows)
    a = rng.poisson(np.exp(1.4 + 0.5 * (arm == 1)))
    table = pd.DataFrame({"a": a, "b": rng.poisson(np.exp(0.6 + 0.12 * a)), "c": rng.poisson(np.exp(1.5 + 0.3 * warm))})
    return table.assign(arm=np.array(["control", "drug", "sham"])[arm], warm=warm)


def test_effects_are_found_and_no_edge_enters_a_context(trial):
    found = refine(trial, FAST, roles={"arm": ("context", "randomised"), "warm": "context"})
    assert sorted(found.order) == ["a", "b", "c"] and set(found.edges["child"]) <= {"a", "b", "c"}
    effects = {(row.context, row.level, row.node) for row in found.contexts.itertuples()}
    assert effects == {("arm", "drug", "a"), ("warm", "", "c")}
    assert (found.contexts["gain_nats"] > 20).all() and list(found.nodes["node"]) == ["a", "b", "c"]
    assert set(found.orders["node"]) == {"a", "b", "c"} and found.orders["position"].max() == 3
    assert "rule" not in found.edges


def test_a_context_tells_a_direction_that_a_covariate_does_not(trial):
    """A covariate may act on both ends, so that it tells nothing of the edge between them."""
    told = {}
    for role in (("context", "randomised"), "covariate"):
        edges = refine(trial, FAST, roles={"arm": role, "warm": "covariate"}).edges.set_index(["parent", "child"])
        told[role] = edges.loc[("a", "b"), "direction_nats"] if ("a", "b") in edges.index else -np.inf
    assert told["context", "randomised"] > told["covariate"] + 10


def test_the_graph_of_a_search_that_goes_on_has_no_effects_of_contexts(trial):
    seen = []
    roles = {"arm": "context", "warm": "context"}
    refine(trial, FAST, roles=roles, callback=lambda event: seen.append(event.graph) or True)
    graphs = [graph for graph in seen if graph is not None]
    nodes = ["a", "b", "c"]
    assert len(graphs) > 2 and all(sorted(graph.order) == sorted(nodes) for graph in graphs)
    assert any(graph.edges for graph in graphs) and any(graph.decided for graph in graphs)
    assert all({*pair[:2]} <= {*nodes} for graph in graphs for pair in (*graph.edges, *graph.decided))


def test_knowledge_and_an_order_before_go_along_with_contexts(trial):
    knowledge = Knowledge(forbidden=["a → b"])
    roles = {"arm": "context", "warm": "covariate"}
    found = refine(trial, FAST, roles=roles, knowledge=knowledge, order=["c", "b", "a"])
    assert not ((found.edges["parent"] == "a") & (found.edges["child"] == "b")).any() and "rule" in found.edges
    assert sorted(found.moves["before"]) == [1, 2, 3] and set(found.moves["node"]) == {"a", "b", "c"}


def test_an_exposure_concerns_counts_alone(trial):
    rng = np.random.default_rng(0)
    deep = rng.gamma(4, 0.25, len(trial))
    table = trial.assign(c=rng.poisson(6 * deep), depth=deep)
    found = refine(table, FAST, roles={"arm": "context", "warm": "ignore", "depth": "exposure"})
    assert ("arm", "drug", "a") in {(row.context, row.level, row.node) for row in found.contexts.itertuples()}


def test_the_columns_of_a_context():
    rows = pd.DataFrame({"a": [1, 2, 3, 4] * 5, "b": [2, 1] * 10, "arm": ["x", "y", "x", "z"] * 5})
    given, columns = contexts_as_columns(prepare(rows, {"arm": "context"}))
    assert list(given.counts) == ["arm = y", "arm = z", "a", "b"] and columns["arm = z"] == ("arm", "z")
    assert given.counts["arm = z"].tolist() == [0, 0, 0, 1] * 5
    numbers, _ = contexts_as_columns(prepare(rows.assign(arm=np.linspace(0, 1, 20)), {"arm": "context"}))
    assert numbers.counts["arm"].is_monotonic_increasing and numbers.counts["arm"].nunique() == 20
    clash = rows.rename(columns={"b": "arm = y"})
    with pytest.raises(InputError, match='A count column is called "arm = y", as an effect of a context: rename it'):
        contexts_as_columns(prepare(clash, {"arm": "context"}))


def test_a_control_is_what_others_are_compared_with():
    rows = pd.DataFrame({"a": [1, 2, 3, 4] * 5, "b": [2, 1] * 10, "arm": ["Control", "y", "y", "y"] * 5})
    assert list(contexts_as_columns(prepare(rows, {"arm": "context"}))[0].counts) == ["arm = y", "a", "b"]


def test_what_cannot_search_for_effects_takes_as_covariates(trial):
    given, words = without_interventions(prepare(trial, {"arm": "context", "warm": "context"}))
    assert [one.name for one in given.adjustment.covariates] == ["arm", "warm"] and not given.adjustment.contexts
    assert words == ""


@pytest.mark.parametrize(
    ("roles", "said"),
    [
        ({"arm": ("context", "ordinal")}, "A context is categorical, continuous, randomised"),
        ({"arm": ("context", "continuous")}, 'The continuous context "arm" has "drug" in row'),
        ({"same": "context"}, 'The context "same" is constant'),
        ({"gap": "context"}, 'The context "gap" has 2 missing cells'),
    ],
)
def test_bad_contexts_are_said(trial, roles, said):
    table = trial.assign(same="x", gap=np.where(trial.index < 2, None, "x"))
    given = {"arm": "ignore", "warm": "ignore", "same": "ignore", "gap": "ignore"} | roles
    with pytest.raises(InputError, match=said):
        prepare(table.iloc[np.argsort(trial["arm"] != "drug")], Roles(given))
