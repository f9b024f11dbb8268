"""The quality of a table: each thing that can stand out does so where it was put in, and nowhere else."""

import numpy as np
import pandas as pd
import pytest

from disco.errors import FitStopped
from disco.table.depth import depth
from disco.table.dispersion import few_rows
from disco.table.edits import LeaveOut, applied
from disco.table.finding import Finding
from disco.table.quality import DOUBTS, Quality, doubts, quality
from disco.table.relations import near_copies
from disco.table.row_findings import exposure_of_all
from disco.table.unusual_rows import outlying


def poisson(rows: int = 300, columns: int = 6, seed: int = 0) -> pd.DataFrame:
    counts = np.random.default_rng(seed).poisson(4, (rows, columns))
    return pd.DataFrame(counts, columns=[f"x{column}" for column in range(columns)])


def found(looked_at: Quality) -> dict[str, Finding]:
    return {finding.kind: finding for finding in looked_at.findings}


def test_independent_poisson_columns_have_nothing_that_stands_out():
    """In at most a few of many tables: the tests of dispersion hold 5 %, and rows about as much."""
    told = [quality(poisson(seed=seed)).findings for seed in range(20)]
    assert sum(map(bool, told)) <= 3


def test_everything_that_was_put_in_is_found():
    rng, table = np.random.default_rng(0), poisson()
    table = table.assign(
        zero=0, rare=np.arange(300) % 60 == 1, same=np.where(np.arange(300) % 60 == 2, 4 + np.arange(300) // 60, 3),
        total=table["x0"] + table["x1"], near=10 * table["x2"] + (rng.random(300) < 0.05),
        gaps=rng.poisson(8, 300) * (rng.random(300) < 0.6), wide=rng.integers(0, 10**6, 300),
        capped=rng.binomial(20, 0.9, 300),
    )  # fmt: skip # a table
    told = found(quality(table))
    kinds = ["relation", "near", "constant", "rare", "zeros", "over", "under", "few levels", "many levels"]
    assert list(told) == kinds and told["constant"].columns == ("zero",)
    assert told["constant"].message == 'Column "zero" is constant.'
    assert told["relation"].columns == ("total",) and '"total" is the sum of' in told["relation"].message
    assert told["near"].columns == ("near",) and told["zeros"].columns == ("gaps",)
    assert '"capped"' in told["under"].message and '"wide"' in told["many levels"].message
    assert '"rare"' in told["few levels"].message and '"zero"' not in told["few levels"].message
    rare = [finding.columns for finding in quality(table).findings if finding.kind == "rare"]
    assert rare == [("rare",), ("same",)]
    for finding in told.values():
        assert finding.message.endswith(".") and finding.remedy.endswith(".")


def test_counts_cut_off_at_a_ceiling_are_named_and_counts_that_thin_out_are_not():
    table = poisson().assign(cut=lambda table: table["x0"].clip(upper=4))
    told = found(quality(table))["ceiling"]
    share = (table["cut"] == 4).mean()
    assert told.message == f'Column "cut" ends at 4, where {share:.0%} of its cells lie.' and not told.columns
    both = found(quality(table.assign(other=2 * table["cut"])))["ceiling"]
    assert both.message.startswith('2 columns ("cut", "other") end at their largest count, where')
    calm = pd.DataFrame({"b": np.random.default_rng(0).binomial(20, 0.9, 300), "few": [0, 1, 2] * 100})
    assert "ceiling" not in found(quality(calm))


def test_a_row_far_away_is_found_and_others_are_not():
    table = poisson(200, 8)
    table.iloc[17] = 25
    table.iloc[40, :4], table.iloc[40, 4:] = 14, 0  # an ordinary total
    told = found(quality(table))["rows"]
    assert told.rows == (18, 41) and told.edits == (LeaveOut(((18, 18), (41, 41))),)
    assert "2 rows lie far from the others (18, 41), farthest row 18" in told.message
    assert "its total is 200; the median is 3" in told.message
    table.iloc[17] = table.iloc[16]
    said = found(quality(table))["rows"].message
    assert said.startswith("Row 41 lies far from the others: its total, 56, is made up")


def test_so_few_rows_that_no_edge_can_show_are_said():
    said = found(quality(poisson(12, 40)))["few rows"].message
    assert said.startswith("12 rows are too few for 40 columns") and "0.90 (" in said and "780 pairs" in said
    assert few_rows(12, 1000) and few_rows(30, 1000) and few_rows(12, 12) and few_rows(3, 2)
    assert not any(few_rows(*shape) for shape in ((12, 3), (30, 100), (60, 1000), (400, 2), (2, 5), (20, 1), (0, 0)))
    wide = found(quality(poisson(30, 20)))["few rows"]  # enough for a strong edge
    assert "1.5 rows per column" in wide.message and wide in doubts(poisson(30, 20))
    assert "few rows" not in found(quality(poisson(40, 20)))
    rng = np.random.default_rng(3)
    pairs = [abs(np.corrcoef(rng.random((40, 12)).argsort(1))[np.triu_indices(40, 1)]).max() for _ in range(100)]
    assert np.mean(np.array(pairs) > 0.90) < 0.2  # ranks of unrelated columns


def test_single_counts_far_away_are_named_with_row_and_column():
    table = poisson(200, 5).set_axis(list("abcde"), axis=1)
    table.loc[[30, 130], "c"], table.loc[7, "e"] = 912_345_678_901, 10_000
    (said,) = [found(quality(table))["rows"].message]
    assert "(8, 31, 131)" in said and '"e" in row 8, "c" in rows 31, 131.' in said
    table.iloc[50] = 60  # a row that is far as a whole
    assert "51" in found(quality(table))["rows"].message.split("Only these counts")[0]
    assert "51" not in found(quality(table))["rows"].message.split("Only these counts")[1]


def test_rows_keep_the_numbers_of_the_table_as_loaded():
    table = poisson(200, 8)
    table.iloc[17] = 25
    looked_at = quality(table, left_out=((1, 2), (19, 19)))
    assert found(looked_at)["rows"].rows == (21,) and looked_at.rows["row"].iloc[[0, 15, 16]].tolist() == [3, 18, 20]
    assert looked_at.depth.rows["row"].tolist() == looked_at.rows["row"].tolist()


@pytest.mark.parametrize("columns", [3, 20])
@pytest.mark.parametrize("size", [1, 1000])
def test_few_tables_without_outliers_have_an_outlying_row(columns, size):
    rng = np.random.default_rng(5)
    tables = [rng.negative_binomial(size, size / (size + 5), (400, columns)) for _ in range(60)]
    assert sum(outlying(table)["is_out"].any() for table in tables) <= 6


def test_a_depth_stands_out_and_causes_of_both_signs_do_not():
    rng = np.random.default_rng(0)
    rates = np.exp(0.5 * rng.normal(size=(500, 1)))
    deep = depth(rng.poisson(5 * rates * np.ones(20)))
    assert deep.stands_out and deep.explained > 0.95 and deep.uneven < 0.1 and deep.by_chance < 0.6
    assert found(quality(pd.DataFrame(rng.poisson(5 * rates * np.ones(20)))))["depth"]
    mixed = depth(np.hstack([rng.poisson(5 * rates * np.ones(12)), rng.poisson(5, (500, 8))]))
    assert mixed.stands_out and 0.6 <= mixed.rising < 0.7 and mixed.uneven < 0.3
    alone = depth(rng.poisson(5, (500, 20)))
    assert not alone.stands_out and alone.explained < 0.5
    first = rng.poisson(5, (500, 1))
    signs = np.where(np.arange(20) % 2, 0.2, -0.2)
    assert not depth(np.hstack([first, rng.poisson(np.exp(1.5 + signs * first))])).stands_out
    few = depth(rng.poisson(5 * rates * np.ones(4)))
    assert np.isnan(few.by_chance) and not few.stands_out


def test_a_depth_stands_out_whatever_the_zeros_and_zeros_alone_do_not():
    rng = np.random.default_rng(0)
    rates, is_there = rng.lognormal(0, 0.5, (1000, 1)), rng.random((1000, 12)) < 0.5
    deep = depth(np.maximum(rng.poisson(15 * rates * np.ones(12)), 1) * is_there)
    assert deep.stands_out and deep.uneven < 0.2
    assert not depth(np.maximum(rng.poisson(15, (1000, 12)), 1) * is_there).stands_out


def test_a_depth_of_shallow_cells_stands_out_and_a_dense_graph_of_positive_effects_does_not():
    rng = np.random.default_rng(0)
    shallow = rng.poisson(np.exp(0.4 * rng.normal(size=(300, 1))) * rng.gamma(1, 0.5, 30))
    assert depth(shallow).stands_out
    columns = [rng.poisson(4, 2000)]
    for _ in range(5):  # every column acts on all later ones; the first varies as Poisson counts do
        columns.append(rng.poisson(1 + 0.5 * np.mean(columns, axis=0)))
    dense = depth(np.column_stack(columns))
    assert not dense.stands_out and dense.explained > 0.8 and dense.bare > 0.1


def test_the_share_explained_is_the_squared_correlation_with_the_component():
    counts = np.random.default_rng(0).poisson(3, (60, 7))
    for table in (counts, counts.T[:, :9]):
        looked_at = depth(table)
        logs = np.log1p(table) - np.log1p(table).mean(axis=0)
        left, sizes, _ = np.linalg.svd(logs, full_matrices=False)
        assert looked_at.component == pytest.approx(sizes[0] ** 2 / (sizes**2).sum())
        expected = np.corrcoef(left[:, 0], np.log1p(table.sum(axis=1)))[0, 1] ** 2
        assert looked_at.explained == pytest.approx(expected)
        np.testing.assert_allclose(np.abs(looked_at.rows["component"]), np.abs(left[:, 0] * sizes[0]), atol=1e-9)
        assert looked_at.rows["row"].tolist() == list(range(1, len(table) + 1))


def test_near_copies_across_blocks_and_with_the_sign_reversed(monkeypatch):
    monkeypatch.setattr("disco.table.relations._BLOCK", 2)
    counts = np.random.default_rng(0).integers(0, 1000, (200, 5))
    counts[:, 4] = 2000 - counts[:, 1]
    counts[:3, 4] += 5
    pairs = near_copies(counts)
    assert pairs[["one", "other"]].to_numpy().tolist() == [[1, 4]] and -1 < pairs["correlation"][0] < -0.98


def test_columns_that_share_only_their_commonest_value_are_not_near_copies():
    rng, rows = np.random.default_rng(0), 2000
    some = rng.random(rows) < 0.13
    x, y = (np.where(some, 1 + rng.negative_binomial(2, 0.02, rows), 0) for _ in range(2))
    noisy, few = np.where(some, x + rng.integers(0, 3, rows), 0), np.arange(rows) < 3
    for other in (y, 9000 - y, some, y + 7 * (y > 0)):
        assert near_copies(np.column_stack([x, other])).empty
    for pair in ((x, noisy), (x, 9000 - noisy), (x, x + few), (some * 1, (some ^ few) * 1)):
        assert len(near_copies(np.column_stack(pair))) == 1


def test_the_columns_and_rows_do_not_matter_to_what_is_found_and_the_table_stays():
    table = poisson().assign(gaps=np.random.default_rng(0).poisson(8, 300) * (np.arange(300) % 3 > 0))
    before = table.copy()
    forth, back = quality(table), quality(table.iloc[::-1, ::-1])
    pd.testing.assert_frame_equal(table, before)
    numbers = forth.columns.set_index("column")
    pd.testing.assert_frame_equal(back.columns.set_index("column").loc[numbers.index], numbers)
    assert found(forth).keys() == found(back).keys()
    assert forth.rows["distance"].tolist() == pytest.approx(back.rows["distance"].tolist()[::-1])


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame({"a": [3]}), pd.DataFrame({"a": [0, 0], "b": [1, 0]}), pd.DataFrame(np.zeros((40, 3), int)),
        pd.DataFrame(np.full((40, 7), 5)), pd.DataFrame(np.eye(30, dtype=int)),
        pd.DataFrame(np.full((25, 2), 2**52) + np.arange(25)[:, None]),
    ],
)  # fmt: skip # a table
def test_tables_with_nothing_in_them_are_looked_at_all_the_same(table):
    looked_at = quality(table)
    assert len(looked_at.columns) == table.shape[1] and len(looked_at.rows) == len(table)


def test_it_can_be_stopped_and_tells_how_far_it_is():
    heard, table = [], poisson(columns=8)
    quality(table, callback=lambda event: heard.append(event.progress))
    assert heard == sorted(heard) and heard[-1] > 0.5
    with pytest.raises(FitStopped):
        quality(table, callback=lambda event: event.stage != "depth")


def test_doubts_are_the_findings_that_weaken_results_and_name_rows():
    table = poisson(200, 8).assign(few=[0, 1, 2, 1] * 50, wide=np.random.default_rng(1).integers(0, 9999, 200))
    table.iloc[17, :8] = 25
    table = table.assign(sum=table["x0"] + table["x1"]).set_axis([f"Bay {row}" for row in range(200)])
    told, every = doubts(table, ((1, 2),), ("sum",)), quality(table, ((1, 2),)).findings
    assert [one.kind for one in told] == ["rows", "few levels"] and {"relation", "over"} <= {one.kind for one in every}
    assert told == tuple(one for one in every if one.kind in DOUBTS)
    assert told[0].rows == (20,) and told[0].message.startswith("Row 20 (Bay 17) lies far")
    table.iloc[17], table.iloc[30, 3] = table.iloc[16], 900
    assert doubts(table, (), ("sum",))[0].message.endswith(' Only these counts are unusual: "x3" in row 31 (Bay 30).')


def test_a_part_of_a_total_is_named_and_the_total_is_replaced_by_the_rest(rng):
    table = poisson(300, 4).assign(every=lambda table: 9 * table["x0"] + rng.poisson(90, 300))
    table = table.assign(some=rng.binomial(table["every"], 0.3), rate=rng.poisson(table["every"] * 0.3))
    (told,) = (finding for finding in quality(table).findings if finding.kind == "part")
    assert told.columns == ("some", "every") and "part" not in found(quality(applied(table, told.edits)))


def test_a_depth_is_that_of_all_columns_also_of_those_that_are_not_nodes(rng):
    depths, shares = rng.lognormal(7, 0.7, 200), rng.dirichlet([1] * 60)
    every = pd.DataFrame(rng.poisson(depths[:, None] * shares)).add_prefix("x")
    change = exposure_of_all(every.iloc[:, :20], every)
    assert change.columns == {"total of 60 columns": tuple(every.sum(axis=1))}
    assert exposure_of_all(poisson(columns=8), every) is None
