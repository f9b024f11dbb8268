"""The benchmark of columns beside the counts: what it measures, counts, saves and prints."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from benchmarks import roles
from benchmarks.roles import DESIGNS, VARIANTS, coverage, jobs, judged, table, true_curve, within
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
    told, untold = rows_of(table(found))[1:3]
    assert (told["seeds"], told["F1"], told["of undisturbed"]) == ("2", "0.855", "0.950")
    assert (told["decided"], told["true of decided"], told["sorting"]) == ("33%", "80%", "0.700")
    assert untold["of undisturbed"] == "", "no seed in common"
    boss = [line("BOSS, undisturbed", f1=0.6), line("BOSS, without its role", f1=0.3)]
    assert rows_of(table([*found[:1], *boss]))[-1]["of undisturbed"] == "0.500", "of BOSS, not of the refinement"


def test_curves_and_steady_edges_have_their_columns():
    curves = {"age": [90, 100], "sex": [95, 100]}
    found = [line("with its role", curves=curves, steady=4, steady_true=3), line("with its role", 1, curves=curves)]
    (told,) = rows_of(table(found))
    assert (told["curves held"], told["true of steady"], told["seconds"]) == ("92%", "75%", "4")


def test_every_design_is_disturbed_in_its_way_and_measured_in_every_variant_that_fits():
    listed = list(jobs())
    assert {name for name, variant, _ in listed if variant == "as an exposure"} == {"depth, counts"}
    assert all(design.beside() and design.roles() for design in DESIGNS.values())
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


def test_the_roles_are_told_and_their_curves_counted():
    """What batch, age and sex do to several nodes at once looks like edges unless their roles are known."""
    design = Design(nodes=4, rows=1000, k=2, batches=3, batch_effect=1.5, age_and_sex=True, seed=2)
    told, untold = (VARIANTS[variant](design) for variant in ("with its role", "without its role"))
    assert told["f1"] > untold["f1"] + 0.3
    ages = simulate(design).beside["age"].nunique()
    assert {name: points for name, (_, points) in told["curves"].items()} == {"batch": 12, "age": 4 * ages, "sex": 8}
    assert "curves" not in untold


def test_the_bands_of_the_right_parents_hold_the_true_curves():
    drawn = simulate(Design(nodes=6, rows=1000, k=2, batches=3, age_and_sex=True, seed=2))
    held = coverage(drawn, SimpleNamespace(edges=drawn.truth))
    assert all(inside > 0.8 * points for inside, points in held.values())
    # Without its parents a node seems to follow what acts on them.
    alone = coverage(drawn, SimpleNamespace(edges=drawn.truth[:0]))
    assert all(inside < 0.5 * points for inside, points in alone.values())


def test_a_line_counts_the_decided_and_the_steady_edges():
    drawn = simulate(Design(nodes=4, rows=50, k=2, seed=2))
    true = drawn.truth[["parent", "child"]]
    wrong = true[3:4].rename(columns={"parent": "child", "child": "parent"})
    edges = pd.concat([true[:3], wrong], ignore_index=True)
    edges = edges.assign(decided=[True, True, False, True], bootstrap=[0.95, 0.89, 0.9, 0.5])
    read = judged(drawn, SimpleNamespace(order=drawn.order, edges=edges))
    assert (read["decided"], read["decided_true"]) == (3, 2) and (read["steady"], read["steady_true"]) == (2, 2)
    assert (read["edges"], read["true_edges"], read["a_top"]) == (4, 6, 1) and read["f1"] == pytest.approx(0.6)


def test_the_undisturbed_table_is_that_of_the_plain_design():
    design = Design(nodes=4, rows=400, k=1.5, batches=3, batch_effect=1.5)
    plain = simulate(Design(nodes=4, rows=400, k=1.5))
    pd.testing.assert_frame_equal(roles.plain(design).table, plain.table)
    pd.testing.assert_frame_equal(roles.plain(design).truth, simulate(design).truth)
    line = VARIANTS["undisturbed"](design)
    assert line["true_edges"] == len(plain.truth) and 0 <= line["decided_true"] <= line["decided"] <= line["edges"]
    assert line["steady"] == 0, "no bootstrap was asked for"
