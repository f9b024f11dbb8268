"""Numbers that stand for counts, and the edits that make them counts."""

import numpy as np
import pandas as pd
import pytest

from disco.errors import InputError
from disco.table.counts import as_counts, problems
from disco.table.edits import BlankAsZero, LeaveOut, Pivot, Restore, Round, applied
from disco.table.kinds import ESTIMATES, NORMALISED, ZEROS
from disco.table.layout import suggestion, tidied
from disco.table.values import fractional


def counted(rows: int = 60, columns: int = 20, mean: float = 12.0) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    means = mean * rng.lognormal(0, 1, columns) * rng.lognormal(0, 0.4, (rows, 1))
    return pd.DataFrame(rng.poisson(means), columns=[f"g{at}" for at in range(columns)])


def sparse() -> pd.DataFrame:
    table = counted(mean=0.8).astype(float)
    return table.where(table > 0)


def shared() -> pd.DataFrame:
    table = counted()
    return table.div(table.sum(axis=1), axis=0)


def estimated() -> pd.DataFrame:
    rng, table = np.random.default_rng(1), counted().astype(float)
    return table + np.where((rng.random(table.shape) < 0.2) & (table > 0), rng.uniform(-0.4, 0.4, table.shape), 0)


def test_blank_means_0_where_nothing_is_0():
    table = sparse().assign(age=np.arange(60) * 1.5)
    found = suggestion(table, spared={"site"})
    assert found.kind == ZEROS and found.edits == (BlankAsZero(),)
    after = applied(table, found.edits)
    assert after.drop(columns="age").equals(table.drop(columns="age").fillna(0).astype(np.int64))
    table.iloc[0, :20] = 0
    assert suggestion(table) is None
    assert suggestion(sparse() + 50) is None  # values, not counts of something rare


def test_few_blank_cells_mean_0_if_rare_kinds_are_blank(rng):
    table = pd.DataFrame(rng.poisson([0.7, 1.2, 2.0, 3.0, 5.0, 40.0], (80, 6)), columns=list("abcdef")).astype(float)
    blank = table.mask(table == 0)
    found = suggestion(blank)
    assert blank.isna().to_numpy().mean() < 0.2 and found.kind == ZEROS
    np.testing.assert_array_equal(applied(blank, found.edits).to_numpy(), table.to_numpy())
    anywhere = (table + 1).mask(rng.random(table.shape) < 0.15)
    assert suggestion(anywhere) is None


def test_blank_cells_beside_marks_mean_0_too(rng):
    true = pd.DataFrame(rng.poisson([0.7, 1.2, 2.0, 3.0, 5.0, 40.0], (80, 6)), columns=list("abcdef"))
    marked = true.mask(true == 0).astype({"b": object})
    marked["b"] = [cell if pd.isna(cell) else str(int(cell)) for cell in marked["b"]]
    marked.iloc[[4, 9], 1] = "n/c"
    after = applied(marked, suggestion(marked).edits)
    assert after["b"].tolist()[4] == "n/c" and not after.isna().any(axis=None)
    complete = applied(after, (LeaveOut(((5, 5), (10, 10))),))
    np.testing.assert_array_equal(complete.to_numpy(int), true.drop(index=[4, 9]).to_numpy())
    mostly = marked.assign(b=marked["b"].mask(np.arange(80) % 3 > 0, "n/c"))
    assert applied(mostly, (BlankAsZero(),))["b"].isna().sum() == mostly["b"].isna().sum() > 0


def test_numbers_that_are_all_fractions_are_estimates_if_they_are_called_counts(rng):
    table = counted() + rng.uniform(0.1, 0.4, (60, 20))
    assert suggestion(table) is None
    found = suggestion(table.add_prefix("counts."))
    assert found.kind == ESTIMATES and applied(table, found.edits).to_numpy().tolist() == counted().to_numpy().tolist()
    genes = table.T.set_axis([f"counts.S{at}" for at in range(60)], axis=1)
    assert ESTIMATES in [one.kind for one, _ in tidied(genes.rename_axis("gene").reset_index())]


def test_estimates_of_genes_are_known_by_samples(rng):
    genes = counted(rows=20, columns=60).T.astype(float)
    genes.iloc[:18] += rng.uniform(-0.4, 0.4, (18, 20)) * (genes.iloc[:18] > 0)  # the others have one transcript each
    table = genes.set_axis([f"S{at}" for at in range(20)], axis=1).set_axis([f"ENSG{at:011d}" for at in range(60)])
    kinds = [one.kind for one, _ in tidied(table.rename_axis("gene_id").reset_index())]
    assert kinds[-1] == ESTIMATES
    assert suggestion(table.T) is None  # some columns are measures


def test_a_column_with_a_role_stays_as_it_is():
    table = sparse()
    found = suggestion(table, spared={"g3"})
    assert found.edits == (BlankAsZero(("g3",)),)
    after = applied(table, found.edits)
    assert after.isna().sum().sum() == table["g3"].isna().sum() > 0


def test_shares_are_restored_beside_a_measure():
    table = shared().assign(temp=np.linspace(1.5, 9, 60), batch=["a", "b"] * 30)
    found = suggestion(table)
    assert found.kind == NORMALISED and found.edits == (Restore(),)
    assert applied(table, found.edits).iloc[:, :20].equals(counted())


def test_rows_that_cannot_be_restored_are_left_out_and_said():
    counts = counted()
    counts.iloc[7] = 0
    counts.iloc[7, [2, 5]] = [2, 4]
    table = counts.div(counts.sum(axis=1), axis=0)
    found = suggestion(table)
    assert found.edits == (LeaveOut(((8, 8),)), Restore()) and "Row 8" in found.remedy
    assert applied(table, found.edits).equals(counts.drop(index=7).reset_index(drop=True))
    with pytest.raises(InputError, match="row 8"):
        applied(table, [Restore()])


def test_an_infinite_cell_is_no_fraction():
    with np.errstate(all="raise"):
        assert fractional(pd.DataFrame({"a": [1, np.inf, 2], "b": [0.5, np.inf, np.nan]})).positions == [1]


@pytest.mark.parametrize("huge", [1e300, 2.0**63, np.inf])
def test_a_number_beyond_int64_stays_what_it_is(huge):
    """A cast would make it negative."""
    table = pd.DataFrame({"a": [huge, np.nan, 2.0], "b": [1, 2, 3]})
    with np.errstate(all="raise"):
        assert applied(table, (BlankAsZero(),))["a"].tolist() == [huge, 0, 2]
        lines = pd.DataFrame({"event": [1, 1, 2], "kind": ["x", "y", "x"], "count": [huge, 1, 2]})
        if np.isfinite(huge):
            assert applied(lines, (Pivot(("event",), "kind", "count"),))["x"].tolist() == [huge, 2]


def test_estimates_are_rounded():
    found = suggestion(estimated())
    assert found.kind == ESTIMATES and found.edits == (Round(),)
    assert applied(estimated(), found.edits).equals(counted())


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame(np.random.default_rng(2).normal(50, 3, (60, 6)).round(1)),
        pd.DataFrame(np.random.default_rng(2).lognormal(3, 1, (60, 6))),
        counted().assign(ph=np.linspace(6, 8, 60), lat=np.linspace(40, 41, 60), x=np.linspace(0, 1, 60)),
        counted() / 7,  # as means of seven readings
        counted() / 3 + 0.1,
        sparse().assign(**{f"h{at}": sparse()[f"g{at}"] + 1 for at in range(20)}),  # two readings of one event
        counted().mask(np.random.default_rng(2).random((60, 20)) < 0.3),
    ],
)
def test_ordinary_tables_raise_no_question(table):
    table.columns = [str(name) for name in table.columns]
    assert [one.kind for one, _ in tidied(table)] == []


def test_the_reason_is_said_before_the_decimals_of_every_column():
    table = np.round(1e6 * shared(), 2)
    first, *others = problems(table)
    assert (first.columns, first.blocking) == ((), True) and "counts per 1,000,000" in first.message
    assert len(others) == 20
    with pytest.raises(InputError, match="counts per 1,000,000"):
        as_counts(table)
    with pytest.raises(InputError, match="shares"):
        as_counts(shared().round(4))
    with pytest.raises(InputError, match="Restore"):
        as_counts(shared())
