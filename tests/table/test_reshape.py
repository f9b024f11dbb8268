"""Rows and columns exchanged, and row names."""

import numpy as np
import pandas as pd
import pytest
from refusals import read

from disco.errors import InputError
from disco.table.counts import as_counts
from disco.table.edits import RowNames
from disco.table.kinds import NAMES
from disco.table.layout import tidied
from disco.table.read import NOTES, read_table
from disco.table.reshape import has_row_names, most_varied, seems_transposed, transposed, with_row_names


def genes(rows: int = 20, cells: int = 50) -> pd.DataFrame:
    """Genes in rows, cells in columns, and a column of the genes' names."""
    counts = np.random.default_rng(0).poisson(2.0, (rows, cells))
    table = pd.DataFrame(counts, columns=[f"cell{place}" for place in range(cells)])
    table.insert(0, "gene", [f"G{row}" for row in range(rows)])
    return table


def test_genes_in_rows_become_columns():
    table = genes()
    assert has_row_names(table) and seems_transposed(table)
    turned = transposed(table)
    assert turned.shape == (50, 20) and turned.columns.tolist()[:2] == ["G0", "G1"] and turned.index[0] == "cell0"
    np.testing.assert_array_equal(as_counts(turned).to_numpy(), table.iloc[:, 1:].to_numpy().T)
    assert not seems_transposed(turned) and not has_row_names(turned)
    back = transposed(turned)
    np.testing.assert_array_equal(back.to_numpy(), table.iloc[:, 1:].to_numpy())
    assert back.index.tolist() == table["gene"].tolist()


GAPS = ["PB2", "NA", "nan", "null", "None", "NaN", "N/A", "NULL"]  # the second is a gene of influenza


@pytest.mark.parametrize("kind", ["csv", "tsv", "parquet", "xlsx"])
@pytest.mark.usefixtures("in_process")
def test_names_that_are_words_for_missing_cells_stay_names(kind, tmp_path):
    counts = pd.DataFrame(np.random.default_rng(0).poisson(5.0, (60, 8)), columns=GAPS)
    beside = counts.T.rename_axis("segment").set_axis([f"v{k}" for k in range(60)], axis=1).reset_index()
    write = {"csv": "to_csv", "tsv": "to_csv", "parquet": "to_parquet", "xlsx": "to_excel"}[kind]
    tabs = {"sep": "\t"} if kind == "tsv" else {}
    for table in (counts, beside):
        getattr(table, write)(tmp_path / f"t.{kind}", index=False, **tabs)
        read = read_table(tmp_path / f"t.{kind}")
        turned = read if table is counts else transposed(read)
        assert turned.columns.tolist() == GAPS and as_counts(turned).to_numpy().tolist() == counts.to_numpy().tolist()
    assert has_row_names(read) and with_row_names(read).index.tolist() == GAPS
    (found,) = [one for one, _ in tidied(read) if one.kind == NAMES]
    assert found.edits == (RowNames(),)
    with pytest.raises(InputError, match="8 rows.* transpose the table"):
        as_counts(with_row_names(read))


def test_texts_with_gaps_name_no_rows():
    table = genes().astype({"gene": object})
    table.loc[3:9, "gene"] = "NA"  # missing, in several rows
    assert not has_row_names(table)
    table.loc[3:9, "gene"] = None
    assert not has_row_names(table)


def test_ordinary_tables_are_not_doubted():
    table = genes().iloc[:, 1:]
    assert not has_row_names(table) and not seems_transposed(table.iloc[:, :10])
    repeated = table.assign(site="s").iloc[:, ::-1]
    assert not has_row_names(repeated)  # a text that repeats is no name


def test_a_column_of_row_names_without_a_name_is_known_by_its_numbers():
    table = read(b",a,b\n1,3,4\n2,5,6\n3,0,1\n4,1,1\n5,1,1\n")
    assert has_row_names(table)
    named = with_row_names(table)
    assert named.index.tolist() == ["1", "2", "3", "4", "5"] and named.columns.tolist() == ["a", "b"]
    assert transposed(table).columns.tolist() == ["1", "2", "3", "4", "5"]


def test_what_is_missing_or_text_stays_so():
    table = pd.DataFrame({"a": pd.array([1, None], "Int64"), "b": [0.5, 2.0]})
    assert transposed(table).columns.tolist() == ["x1", "x2"]
    np.testing.assert_array_equal(transposed(table).to_numpy(), [[1.0, np.nan], [0.5, 2.0]])
    mixed = transposed(pd.DataFrame({"a": [1, 2], "b": ["x", "3"], "c": [1, 1]}))
    assert mixed.iloc[:, 0].tolist() == [1, "x", 1]
    table.attrs[NOTES] = ["a note"]
    assert transposed(table).attrs[NOTES] == ["a note"] and not seems_transposed(transposed(mixed))


def test_equal_names_are_numbered_and_said():
    table = pd.DataFrame({"gene": ["A", "B", "A"], "s1": [1, 2, 3], "s2": [4, 5, 6]})
    turned = transposed(with_row_names(table))
    assert turned.columns.tolist() == ["A", "B", "A (2)"] and turned["A (2)"].tolist() == [3, 6]
    assert len(turned.attrs[NOTES]) == 1 and "A (2)" in turned.attrs[NOTES][0]


def test_names_of_which_a_spreadsheet_made_dates_are_said():
    table = pd.DataFrame({"gene": ["ACTB", "2021-09-02 00:00:00", "TP53"], "a": [1, 2, 3], "b": [4, 5, 6]})
    assert transposed(table).attrs[NOTES] == [
        "1 name such as 2021-09-02 00:00:00 is a date: a spreadsheet makes them of names such as MARCH1 or SEPT7. "
        "Correct them in the file."
    ]


def test_too_many_columns_are_refused():
    with pytest.raises(InputError, match="would have 10,001 columns; at most 10,000"):
        transposed(pd.DataFrame({"a": np.zeros(10_001), "b": 1}))


def test_the_rows_that_vary_most_keep_their_order_and_names():
    table = genes(rows=6, cells=30)
    table.iloc[[1, 4], 1:] = 5
    assert most_varied(table, 4).index.tolist() == ["G0", "G2", "G3", "G5"]
    assert most_varied(table.iloc[:, 1:], 4).index.tolist() == ["x1", "x3", "x4", "x6"]
    np.testing.assert_array_equal(most_varied(table, 100).to_numpy(), table.iloc[:, 1:].to_numpy())
