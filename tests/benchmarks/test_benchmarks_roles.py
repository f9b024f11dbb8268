"""The benchmark of columns beside the counts: what it measures, counts, saves and prints."""

import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from benchmarks import roles
from benchmarks.roles import DESIGNS, VARIANTS, jobs, kept, main, measure, summary, true_curve, wanted, within
from disco.simulate import Design, simulate


def line(variant: str, seed: int = 0, **more: Any) -> dict[str, Any]:
    base = {"design": "batches", "variant": variant, "seed": seed, "seconds": 4.0, "f1": 0.9, "shd": 3, "a_top": 0.8}
    return base | {"sorting": 0.7, "edges": 10, "true_edges": 10, "decided": 8, "decided_true": 6} | more


def rows_of(text: str) -> list[dict[str, str]]:
    head, _, *rows = ([cell.strip() for cell in row.strip("|").split("|")] for row in text.splitlines())
    return [dict(zip(head, row, strict=True)) for row in rows]


def test_a_row_compares_the_seeds_that_both_have():
    found = [line("undisturbed", seed, f1=f1) for seed, f1 in ((0, 1.0), (1, 0.8), (2, 0.1))]
    found += [line("with its role", 0, f1=0.9, edges=20, decided=2, decided_true=2), line("with its role", 1, f1=0.81)]
    found += [line("without its role", 7, f1=0.5), line("BOSS, without its role", f1=0.3)]
    told, untold = rows_of(summary(found))[1:3]
    assert (told["seeds"], told["F1"], told["of undisturbed"]) == ("2", "0.855", "0.950")
    assert (told["decided"], told["true of decided"], told["sorting"]) == ("33%", "80%", "0.700")
    assert untold["of undisturbed"] == "", "no seed in common"
    boss = [line("BOSS, undisturbed", f1=0.6), line("BOSS, without its role", f1=0.3)]
    assert rows_of(summary([*found[:1], *boss]))[-1]["of undisturbed"] == "0.500", "of BOSS, not of the refinement"


def test_curves_steady_edges_and_time_have_their_columns():
    curves = {"age": [90, 100], "sex": [95, 100]}
    found = [line("with its role", curves=curves, steady=4, steady_true=3), line("with its role", 1, curves=curves)]
    timed = {"design": "three covariates", "variant": "time", "seed": 0, "seconds": 9.0, "ratio": 1.234, "without": 4.0}
    told, time = rows_of(summary([*found, timed]))
    assert (told["curves held"], told["true of steady"], told["seconds"]) == ("92%", "75%", "4")
    assert (time["F1"], time["of undisturbed"], time["seconds"]) == ("", "", "1.23 ×")


def test_every_design_is_disturbed_in_its_way_and_measured_in_every_variant_that_fits():
    assert [name for name in DESIGNS if wanted(name, "time")] == ["three covariates"]
    assert [name for name in DESIGNS if wanted(name, "as an exposure")] == ["depth, counts"]
    assert all(design.beside() and design.roles() for design in DESIGNS.values())
    assert len(DESIGNS["three covariates"].roles().named("covariate")) == 3
    listed = list(jobs(["batches", "three covariates"], VARIANTS, [0, 1]))
    assert [seed for *_, seed in listed] == sorted(seed for *_, seed in listed) and len(set(listed)) == len(listed)


def test_the_true_curve_is_the_effect_less_its_mean_over_the_rows():
    drawn = simulate(Design(nodes=12, k=0, rows=40_000, age_and_sex=True, batches=3, seed=3))
    for name in ("age", "sex", "batch"):
        column = next(column for column in drawn.surroundings.columns if column.name == name)
        node = int(np.abs(column.effects).sum(axis=0).argmax())
        curve = true_curve(drawn, name, f"x{node + 1}", drawn.beside[name])
        assert curve.mean() == pytest.approx(0, abs=1e-12)
        assert np.ptp(curve) == pytest.approx(np.ptp(column.effects[:, node])) and np.ptp(curve) > 0.3
        other = pd.Series(drawn.table[f"x{node + 1}"]).groupby(drawn.beside[name].to_numpy()).mean()
        levels = true_curve(drawn, name, f"x{node + 1}", other.index)
        assert np.corrcoef(np.log(other), levels)[0, 1] > (0.7 if name == "age" else 0.99)
    between = true_curve(drawn, "age", "x1", [30.0, 30.05, 30.1])
    assert between[1] == pytest.approx((between[0] + between[2]) / 2)


def test_a_band_holds_what_lies_in_it():
    curve = pd.DataFrame({"value": [1, 2, 3], "low": [0.0, 0.0, -1.0], "high": [1.0, 1.0, 1.0]})
    assert within(curve, np.array([0.5, 1.5, -2.0])).tolist() == [True, False, False]


def test_the_right_roles_are_told_and_the_curves_counted(monkeypatch):
    """The search and the model stand in: the search finds the truth, and every band is ±0.2 around a flat curve."""
    design = Design(nodes=6, rows=500, batches=3, age_and_sex=True)
    drawn, told = simulate(design), []

    def refine(table, choice, roles=None):
        told.append((list(table), roles))
        return SimpleNamespace(order=drawn.order, edges=drawn.truth.assign(decided=True, bootstrap=1.0))

    def curve(name, child):
        return pd.DataFrame({"value": drawn.beside[name].unique(), "mean": 0.0, "low": -0.2, "high": 0.2})

    model = SimpleNamespace(of=lambda table, parents, adjustment: SimpleNamespace(covariate_curve=curve))
    monkeypatch.setattr(roles, "refine", refine)
    monkeypatch.setattr(roles, "Model", model)
    monkeypatch.setattr(roles, "DESIGNS", {"three covariates": design})
    read = measure("three covariates", "with its role", 0)
    assert told == [(list(drawn.whole), design.roles())]
    assert (read["f1"], read["decided_true"], read["steady_true"]) == (1.0, len(drawn.truth), len(drawn.truth))
    effects = {column.name: column.effects for column in drawn.surroundings.columns}
    untouched = (effects["sex"] == 0).all(axis=0).sum()
    assert read["curves"]["sex"] == [2 * untouched, 12] and 0 < untouched < 6
    assert list(read["curves"]) == ["batch", "age", "sex"] and read["curves"]["batch"][1] == 18
    assert measure("three covariates", "time", 0)["ratio"] > 0
    assert [(len(columns), given) for columns, given in told[2:]] == [(6, None), (9, design.roles())]


@pytest.fixture
def small(monkeypatch, tmp_path):
    """A small table with batches, and a file for its lines."""
    monkeypatch.setattr(roles, "DESIGNS", {"batches": Design(nodes=4, rows=400, k=1.5, batches=3, batch_effect=1.5)})
    options = ["--designs", "batches", "--seeds", "0-1", "--results", str(tmp_path / "roles.jsonl")]
    monkeypatch.setattr(sys, "argv", ["roles", *options, "--variants", "undisturbed", "without its role"])
    return tmp_path / "roles.jsonl"


def test_it_goes_on_where_it_was_interrupted(small, capsys, monkeypatch):
    main()
    found = kept(small)
    assert set(found) == {("batches", name, seed) for name in ("undisturbed", "without its role") for seed in (0, 1)}
    for (_, _, seed), read in found.items():
        drawn = simulate(roles.DESIGNS["batches"].replace(seed=seed))
        assert read["true_edges"] == len(drawn.truth) and 0 <= read["decided_true"] <= read["decided"] <= read["edges"]
        assert read["steady"] == 0, "no bootstrap was asked for"
    assert summary(found.values()) in capsys.readouterr().out
    before = small.read_bytes()
    small.write_bytes(before[:-20])  # torn
    monkeypatch.setattr(roles, "measure", lambda *job: found[job] | {"again": True})
    main()
    assert [read.get("again", False) for read in kept(small).values()] == [False, False, False, True]


def test_the_undisturbed_table_is_that_of_the_plain_design(small):
    design = roles.DESIGNS["batches"]
    plain = simulate(Design(nodes=4, rows=400, k=1.5))
    pd.testing.assert_frame_equal(roles.plain(design).table, plain.table)
    pd.testing.assert_frame_equal(roles.plain(design).truth, simulate(design).truth)
