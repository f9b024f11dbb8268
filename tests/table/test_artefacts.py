"""Artefacts: what creates edges is found on disturbed tables of the laboratory, and hardly ever on others."""

import numpy as np
import pandas as pd
import pytest

from disco import DISCO
from disco.errors import InputError
from disco.methods import find
from disco.refine import QUICK, refine
from disco.simulate import Design, simulate
from disco.table.artefacts import ARTEFACTS, artefacts

BESIDE = ("batch", "age", "sex", "group", "depth")
SIZE = {"rows": 1000, "nodes": 12}


def kinds(table: pd.DataFrame, roles: dict | None = None, **more: object) -> list[str]:
    return [one.kind for one in artefacts(table, roles, **more)]


@pytest.mark.parametrize("family", ["poisson-softplus", "nb-softplus"])
@pytest.mark.parametrize("shape", [{"graph": "er", "k": 1}, {"graph": "er"}, {"graph": "sf"}])
def test_a_depth_is_seen_until_it_is_declared(family, shape):
    drawn = simulate(Design(**SIZE, **shape, family=family, depth=0.5, seed=1))
    table = drawn.whole
    assert kinds(drawn.table) == ["depth"] == kinds(table, {"depth": "ignore"})
    assert kinds(table, {"depth": "exposure"}) == []
    assert kinds(drawn.table, dismissed=("depth",)) == []


def test_undisturbed_tables_hardly_ever_warn():
    shapes = [{"graph": graph, "k": k, "nodes": d} for graph in ("er", "sf") for k in (1, 3) for d in (10, 20)]
    families = ("poisson-softplus", "nb-softplus", "binomial-sigmoid", "zip")
    drawn = [simulate(Design(rows=1000, family=name, seed=7, **shape)).table for shape in shapes for name in families]
    assert sum(bool(kinds(table)) for table in drawn) <= 1


@pytest.mark.parametrize("what", [{"batches": 3}, {"groups": 8}, {"age_and_sex": True}])
def test_a_column_left_aside_is_seen_until_it_is_adjusted_for(what):
    table = simulate(Design(**SIZE, **what, k=1, seed=2)).whole
    names = [name for name in table if name in BESIDE]
    (found,) = artefacts(table, dict.fromkeys(names, "ignore"))
    assert found.kind == "covariate" and set(found.aside) == set(names) and f'"{names[0]}"' in found.message
    assert kinds(table, dict.fromkeys(names, "covariate")) == []
    rng = np.random.default_rng(0)
    shuffled = table.iloc[rng.permutation(len(table))].assign(**{name: rng.permutation(table[name]) for name in names})
    assert kinds(shuffled, dict.fromkeys(names, "ignore")) == []


def test_a_depth_is_seen_within_batches():
    table = simulate(Design(nodes=20, batches=3, depth=0.5, seed=3)).whole
    assert kinds(table, {"batch": "covariate", "depth": "ignore"}) == ["depth"]
    assert kinds(table, {"batch": "covariate", "depth": "exposure"}) == []


def test_columns_that_fabricate_edges_come_worst_first_with_their_positions(rng):
    table = pd.DataFrame(rng.poisson(6, (300, 3)), columns=list("abc"))
    table = table.assign(id=range(1, 301), copy=10 * table["c"] + (rng.random(300) < 0.05), sum=table["a"] + table["b"])
    found = {one.kind: one.columns for one in artefacts(table)}
    assert found == {"relation": (5,), "identifier": (3,), "near": (4,)}
    assert list(found) == sorted(found, key=ARTEFACTS.index)


def test_an_unknown_kind_cannot_be_dismissed(rng):
    with pytest.raises(InputError, match="no artefact 'deep'; the kinds are relation, repeated"):
        artefacts(rng.poisson(3, (50, 3)), dismissed=("deep",))


def test_a_depth_is_seen_in_a_wide_table(rng):
    means = rng.gamma(2, 5, 300)
    for sd, expected in ((0.6, ["depth"]), (0.0, [])):
        counts = rng.poisson(np.exp(sd * rng.standard_normal((60, 1))) * means)
        assert kinds(pd.DataFrame(counts).add_prefix("g")) == expected


def test_python_names_them_in_its_notes_whatever_looks_for_a_graph(rng):
    table = pd.DataFrame(rng.poisson(2.0, (120, 3)), columns=["a", "b", "c"])
    table["d"] = table["a"] + table["b"]
    short = {"width": 8, "hidden_layers": 1, "noise_levels": 2, "joint_epochs": 2, "projection_epochs": 2}
    told = {
        "DISCO": lambda **more: DISCO("paper", device="cpu", **short).fit(table, **more).notes_,
        "find": lambda **more: find("sort-mean", table, **more).notes,
        "refine": lambda **more: refine(table, QUICK, **more).notes,
    }
    for name, notes in told.items():
        (said,) = [note for note in notes() if "arithmetic, not cause" in note]
        assert said in map(str, artefacts(table)), name
        assert not [note for note in notes(dismissed=["relation"]) if "arithmetic" in note], name
