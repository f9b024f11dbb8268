"""What an experiment says of the arrows of a graph, and what it must be read with."""

import numpy as np
import pandas as pd
import pytest

from disco.experiments import arrows, contrasts, remarks
from disco.experiments.rules import CANNOT_SAY, CONTRADICTED, SUPPORTED
from disco.table.prepared import prepare


@pytest.fixture(scope="module")
def chain() -> pd.DataFrame:
    """a → b → c, and d apart; b is set in 300 rows and c in 300."""
    rng, rows = np.random.default_rng(3), 3600
    arm = np.array([""] * 3000 + ["b"] * 300 + ["c"] * 300)
    a = rng.poisson(4, rows)
    b = np.where(arm == "b", 1, rng.poisson(1 + 1.2 * a))
    c = np.where(arm == "c", 20, rng.poisson(1 + 0.8 * b))
    return pd.DataFrame({"a": a, "b": b, "c": c, "d": rng.poisson(4, rows), "arm": arm})


def told(table: pd.DataFrame, *pairs: tuple[str, str]) -> dict[tuple[str, str], tuple[str, str]]:
    found = arrows(pd.DataFrame(pairs, columns=["parent", "child"]), contrasts(prepare(table, {"arm": "intervention"})))
    return {(row.parent, row.child): (row.verdict, row.why) for row in found.itertuples()}


def test_arrows_are_supported_contradicted_or_neither(chain):
    found = told(chain, ("b", "c"), ("c", "b"), ("b", "a"), ("a", "b"), ("a", "d"), ("b", "d"))
    assert found["b", "c"][0] == SUPPORTED and 'Setting "b" changes "c"' in found["b", "c"][1]
    assert found["c", "b"][0] == CONTRADICTED and "its supposed cause" in found["c", "b"][1]
    assert found["b", "a"] == (CONTRADICTED, found["b", "a"][1]) and 'leaves "a" as it was' in found["b", "a"][1]
    assert found["a", "b"][0] == CANNOT_SAY and "a hidden cause of both would too" in found["a", "b"][1]
    assert found["b", "d"][0] == CANNOT_SAY and ("a", "d") not in found


def test_an_edge_of_open_direction_is_neither_supported_nor_contradicted(chain):
    edges = pd.DataFrame([("b", "c", True), ("c", "b", False)], columns=["parent", "child", "decided"])
    found = arrows(edges, contrasts(prepare(chain, {"arm": "intervention"})))
    assert found["verdict"].tolist() == [SUPPORTED, CANNOT_SAY] and "direction open" in found["why"][1]


def test_groups_as_units_and_uneven_arms_are_said():
    rng, rows = np.random.default_rng(0), 600
    plot = np.repeat(np.arange(12), 50)
    table = pd.DataFrame({"a": rng.poisson(4, rows), "b": rng.poisson(5, rows), "plot": plot.astype(str)})
    table["arm"] = np.where(plot < 4, "a", "control")
    table["age"] = rng.normal(np.where(plot < 4, 52.0, 40.0), 8)
    table["site"] = np.where(rng.random(rows) < np.where(plot < 4, 0.9, 0.3), "north", "south")
    given = prepare(table, {"arm": "intervention", "plot": "group", "age": "covariate", "site": "covariate"})
    said = remarks(given, contrasts(given))
    assert len(said) == 3 and 'groups are the units: 4 groups in "a"' in said[0] and "cannot be told" not in said[0]
    assert 'differs from the controls in "age" (mean 5' in said[1] and "of 200 of the arm" in said[1]
    assert '"north" in ' in said[2] or '"south" in ' in said[2]
    one_each = table[["a", "b", "arm"]].assign(plot=np.where(plot < 4, "p", np.where(plot < 8, "q", "r")))
    two = prepare(one_each, {"arm": "intervention", "plot": "group"})
    assert "1 group in" in (words := remarks(two, contrasts(two))[0]) and "cannot be told" in words


def test_an_even_trial_needs_no_remark():
    said = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        table = pd.DataFrame({"a": rng.poisson(4, 300), "b": rng.poisson(5, 300), "age": rng.normal(40, 8, 300)})
        table = table.assign(arm=np.where(np.arange(300) < 30, "a", ""), site=rng.choice(["n", "s", "w"], 300))
        given = prepare(table, {"arm": "intervention", "age": "covariate", "site": "covariate"})
        said += len(remarks(given, contrasts(given)))
    assert said <= 1


def test_levels_of_a_context_are_compared_with_the_controls(chain):
    table = chain.assign(arm=np.where(chain["arm"] == "b", "drug", np.where(chain["arm"] == "c", "sham", "control")))
    found = contrasts(prepare(table, {"arm": ("context", "randomised")})).set_index(["arm", "node"])
    assert [*found.index] == [(arm, node) for arm in ("drug", "sham") for node in "abcd"]
    assert found.loc[("drug", "c"), "changed"] and found.loc[("drug", "a"), "unchanged"]
    chosen, drawn = (prepare(table, {"arm": kind}) for kind in ("context", ("context", "randomised")))
    assert 'levels of "arm" were not assigned by chance' in remarks(chosen, contrasts(chosen))[0]
    assert not remarks(drawn, contrasts(drawn))
    assert (found["targets"].map(len) == 0).all() and found["expected"].isna().all()
