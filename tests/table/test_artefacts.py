"""Artefacts: what creates edges is found on disturbed tables of the laboratory, and hardly ever on others."""

import numpy as np
import pandas as pd
import pytest

from disco import DISCO
from disco.errors import InputError
from disco.methods import find
from disco.refine import QUICK, refine
from disco.simulate import Design, simulate
from disco.table.artefacts import ARTEFACTS, plain_artefacts
from disco.table.edits import applied
from disco.table.roles import Roles

BESIDE = ("batch", "age", "sex", "group", "depth")
SIZE = {"rows": 1000, "nodes": 12}


def kinds(table: pd.DataFrame, roles: dict | None = None, **more: object) -> list[str]:
    return [one.kind for one in plain_artefacts(table, roles, **more)]


@pytest.mark.parametrize("shape", [{"k": 1}, {"family": "nb-softplus"}, {"graph": "sf", "family": "nb-softplus"}])
def test_a_depth_is_seen_until_it_is_declared(shape):
    drawn = simulate(Design(**SIZE, **shape, depth=0.5, seed=1))
    table = drawn.whole
    assert kinds(drawn.table) == ["depth"] == kinds(table, {"depth": "ignore"})
    assert kinds(table, {"depth": "exposure"}) == []
    assert kinds(drawn.table, dismissed=("depth",)) == []


def test_undisturbed_tables_hardly_ever_warn():
    shapes = [{"graph": graph, "k": k, "nodes": 10} for graph in ("er", "sf") for k in (1, 3)] + [{"nodes": 20}]
    families = ("poisson-softplus", "nb-softplus", "binomial-sigmoid", "zip")
    drawn = [simulate(Design(rows=1000, family=name, seed=7, **shape)).table for shape in shapes for name in families]
    assert sum(bool(kinds(table)) for table in drawn) <= 1


@pytest.mark.parametrize("what", [{"batches": 3}, {"groups": 8}, {"age_and_sex": True}])
def test_a_column_left_aside_is_seen_until_it_is_adjusted_for(what):
    table = simulate(Design(**SIZE, **what, k=1, seed=2)).whole
    names = [name for name in table if name in BESIDE]
    (found,) = plain_artefacts(table, dict.fromkeys(names, "ignore"))
    assert found.kind == "covariate" and set(found.roles.columns) == set(names) and f'"{names[0]}"' in found.message
    assert kinds(table, dict.fromkeys(names, "covariate")) == []
    rng = np.random.default_rng(0)
    shuffled = table.iloc[rng.permutation(len(table))].assign(**{name: rng.permutation(table[name]) for name in names})
    assert kinds(shuffled, dict.fromkeys(names, "ignore")) == []


def test_a_depth_is_seen_within_batches():
    table = simulate(Design(nodes=20, batches=3, depth=0.5, seed=3)).whole
    assert kinds(table, {"batch": "covariate", "depth": "ignore"}) == ["depth"]
    assert kinds(table, {"batch": "covariate", "depth": "exposure"}) == []


def test_columns_that_fabricate_edges_come_worst_first_with_their_names(rng):
    table = pd.DataFrame(rng.poisson(6, (300, 3)), columns=list("abc"))
    table = table.assign(id=range(1, 301), copy=10 * table["c"] + (rng.random(300) < 0.05), sum=table["a"] + table["b"])
    found = {one.kind: one.without for one in plain_artefacts(table)}
    assert found == {"relation": ("sum",), "identifier": ("id",), "near": ("copy",)}
    assert list(found) == sorted(found, key=ARTEFACTS.index)


def test_an_unknown_kind_cannot_be_dismissed(rng):
    with pytest.raises(InputError, match="no artefact 'deep'; the kinds are relation, exclusive, code, repeated"):
        plain_artefacts(rng.poisson(3, (50, 3)), dismissed=("deep",))


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
        assert said in map(str, plain_artefacts(table)), name
        assert not [note for note in notes(dismissed=["relation"]) if "arithmetic" in note], name


def series(rng, rows: int = 400, columns: int = 6) -> pd.DataFrame:
    """Independent series, each with a season of its own."""
    season = np.sin(2 * np.pi * np.arange(rows)[:, None] / 150 + rng.uniform(0, 2 * np.pi, columns))
    return pd.DataFrame(rng.poisson(np.exp(1.2 + 0.5 * season))).add_prefix("x")


def test_what_is_advised_for_rows_that_depend_on_their_neighbours_was_tried_on_the_table(rng):
    steep = np.linspace(-1, 1, 400)[:, None] * rng.normal(0, 0.6, 6)
    trend = pd.DataFrame(rng.poisson(np.exp(1.2 + steep))).add_prefix("x")
    weekday = pd.DataFrame(rng.poisson(np.exp(1 + rng.normal(0, 0.5, (7, 6))[np.arange(400) % 7]))).add_prefix("x")
    for table, flag in ((trend, "--row-number"), (series(rng), "--blocks 60 --group-effects"), (weekday, "")):
        (found,) = plain_artefacts(table)
        assert (found.kind, found.flag) == ("serial", flag) and (found.roles is None) == (not flag)
        assert "Rows depend on their neighbours" in found.message and '"x' in found.message
        if found.roles is not None:
            assert plain_artefacts(table, found.roles) == ()
        shuffled = table.iloc[rng.permutation(400)].reset_index(drop=True)
        assert plain_artefacts(shuffled) == () == plain_artefacts(table.sort_values("x1", ignore_index=True))


def test_a_column_left_aside_that_accounts_for_the_order_of_the_rows_is_the_only_warning(rng):
    plot = np.arange(400) // 20
    table = pd.DataFrame(rng.poisson(np.exp(1.2 + rng.normal(0, 0.5, (20, 6))[plot]))).add_prefix("x")
    assert kinds(table) == ["serial"]
    beside = table.assign(plot=[f"p{one}" for one in plot])
    assert kinds(beside, {"plot": "ignore"}) == ["covariate"]
    assert kinds(beside, {"plot": "covariate"}) == [] == kinds(beside, {"plot": "group"})


def test_repeated_rows_are_said_once_and_gone_with_the_copies(rng):
    table = pd.DataFrame(rng.poisson(5, (200, 8))).add_prefix("x")
    many = table.loc[np.repeat(np.arange(200), 3)].reset_index(drop=True)
    more = many.assign(id=range(600), total=many["x0"] + many["x1"])
    (found,) = plain_artefacts(more, dismissed=("relation", "identifier"))
    assert (found.kind, found.flag) == ("repeated", "--unique-rows")
    (again,) = plain_artefacts(many)
    pd.testing.assert_frame_equal(applied(many, again.edits), many.drop_duplicates(ignore_index=True))
    assert found.message.startswith("600 of 600 rows have an exact copy")
    assert plain_artefacts(many.drop_duplicates()) == ()
    assert plain_artefacts(many.assign(who=many.index // 3), {"who": "group"}) == ()
    dense = pd.DataFrame(np.repeat(rng.poisson(1, (600, 5)), 2, axis=0)).add_prefix("x")
    (found,) = plain_artefacts(dense)
    assert (found.kind, found.flag) == ("repeated", "") and "Equal rows are common here too" in found.remedy


def test_parts_of_a_constant_total_are_recognised_with_and_without_one_of_them(rng):
    table = pd.DataFrame(rng.multinomial(60, rng.dirichlet([3] * 8), 500)).add_prefix("x")
    assert kinds(table) == ["relation", "closure"]
    (relation, *_) = plain_artefacts(table)
    (found,) = plain_artefacts(table.drop(columns=[*relation.without]))
    assert found.kind == "closure" and found.flag == "" and found.message.startswith("The row total varies ")


def test_rows_kept_by_their_total_are_said_with_the_edge(rng):
    table = pd.DataFrame(rng.poisson(0.4, (3000, 8))).add_prefix("x")
    assert plain_artefacts(table) == ()
    found = {one.kind: one for one in plain_artefacts(table[table.sum(axis=1) >= 3])}
    assert "No row has a total below 3, and " in found["filter"].message


def test_an_exposure_is_offered_only_if_it_creates_no_edges_itself(rng):
    rates = np.exp(0.5 * rng.normal(size=(400, 1)))
    wide = pd.DataFrame(rng.poisson(3 * rates * np.ones(60))).add_prefix("g")
    (found,) = plain_artefacts(wide)
    assert found.flag == "--exposure total" and plain_artefacts(wide, found.roles) == ()
    with_total = wide.assign(total=wide.sum(axis=1))
    of_sum, of_depth = plain_artefacts(with_total)
    assert of_sum.message == '"total" is the sum of 60 columns.' and of_depth.flag == "--exposure total"
    assert of_sum.roles == of_depth.roles == Roles({"total": "exposure"}) and of_sum.without == ("total",)
    assert plain_artefacts(with_total, of_sum.roles) == ()
    narrow = pd.DataFrame(rng.poisson(8 * np.exp(0.5 * rng.normal(size=(3000, 1))) * np.ones(10))).add_prefix("g")
    (found,) = plain_artefacts(narrow)
    assert found.kind == "depth" and found.roles is None and "would itself create edges" in found.remedy
    assert plain_artefacts(narrow.assign(total=narrow.sum(axis=1)))[0].roles is None
    for exposure in ("total", "median of ratios"):
        (found,) = plain_artefacts(narrow, Roles(exposure=exposure))
        assert found.kind == "closure" and "The exposure is computed from these columns" in found.message


def test_an_experiment_s_arms_are_no_dependence_of_rows():
    drawn = simulate(Design(nodes=8, rows=600, k=1, interventions=2, seed=1))
    assert kinds(drawn.whole, drawn.design.roles()) == []
