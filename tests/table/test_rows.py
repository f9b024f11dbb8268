"""Rows and columns that keep a table from being counts, the table without them, and the numbers rows keep."""

import numpy as np
import pandas as pd
import pytest

from disco.errors import InputError
from disco.table.counts import as_counts
from disco.table.rows import (
    bad_cells,
    in_words,
    kind_of_text,
    losses,
    numbered,
    proposal,
    read_as_numbers,
    row_in_words,
    row_names,
    row_numbers,
    stretches,
    whys,
    with_more,
    without_rows,
)


@pytest.fixture
def table() -> pd.DataFrame:
    """60 rows: seven blanks and a −1 in two columns, a column of text, a constant one, and numbers kept as text."""
    rng = np.random.default_rng(0)
    found = pd.DataFrame(rng.poisson(4.0, (60, 3)), columns=["a", "b", "c"]).astype(float)
    found.iloc[[3, 4, 5, 20, 30, 40, 59], 0] = np.nan
    found.iloc[10, 1] = -1
    found["site"] = [f"s{row}" for row in range(60)]
    found["one"] = 1
    found["text"] = [str(row % 7) for row in range(60)]
    return found


def test_few_faults_cost_rows_and_many_cost_the_column(table):
    found = proposal(table)
    assert found.rows.tolist() == [3, 4, 5, 10, 20, 30, 40, 59]
    assert found.columns == {3: "has 60 of 60 cells that are not counts", 4: "is constant: 1 in every row"}
    assert found.texts == (5,)


def test_what_is_left_holds_counts(table):
    left = without_rows(table, proposal(table).rows).drop(columns=["site", "one"])
    assert len(as_counts(left)) == 52 and left.index.tolist() == list(range(52))
    assert as_counts(left)["a"].tolist() == table["a"].drop([3, 4, 5, 10, 20, 30, 40, 59]).tolist()
    assert len(table) == 60 and table["text"].dtype == "str"  # the argument stays


def test_a_strange_cell_costs_its_row_and_the_others_become_numbers():
    table = pd.DataFrame({"a": ["1", "2", "?", "4", "", "6", "7", "8", "9", "10", "11"], "b": range(11)})
    assert proposal(table).rows.tolist() == [2, 4]
    assert without_rows(table, np.array([2, 4]))["a"].tolist() == [1, 2, 4, 6, 7, 8, 9, 10, 11]


def test_every_cell_is_listed_with_its_reason_and_first_number(table):
    cells = bad_cells(table, proposal(table).rows, but=[3, 4])
    assert cells["row"].tolist() == [4, 5, 6, 11, 21, 31, 41, 60]
    assert cells["why"].tolist() == ["blank"] * 3 + ["negative"] + ["blank"] * 4
    again = without_rows(table, np.array([0, 1, 2]))
    cells = bad_cells(again, proposal(again).rows, left_out=((1, 3),), but=[3, 4])
    assert cells["row"].tolist() == [4, 5, 6, 11, 21, 31, 41, 60]
    odd = pd.DataFrame({"a": ["x", "2.5", "9007199254740993", "1"], "b": range(4)})
    assert bad_cells(odd, np.arange(3))["why"].tolist() == ["text", "not whole", "too large"]


def test_numbers_kept_as_text_are_read(table):
    assert read_as_numbers(table, ["text"])["text"].tolist() == [row % 7 for row in range(60)]
    assert read_as_numbers(table, ["site"]).equals(table)  # with other text, a column stays


def test_row_names_stay():
    table = pd.DataFrame({"a": [1.0, np.nan, 3.0]}, index=["p", "q", "r"])
    assert without_rows(table, np.array([1])).index.tolist() == ["p", "r"]


def test_rows_keep_their_numbers_however_often_some_are_left_out():
    rng = np.random.default_rng(0)
    numbers, left_out = np.arange(1, 101), ()
    for _ in range(6):
        more = rng.choice(len(numbers), 9, replace=False)
        left_out = with_more(left_out, len(numbers), more)
        numbers = np.delete(numbers, more)
        assert row_numbers(len(numbers), left_out).tolist() == numbers.tolist()
    assert sum(last - first + 1 for first, last in left_out) == 54


def test_stretches_in_numbers_and_words():
    assert stretches(np.array([7, 1, 2, 3])) == ((1, 3), (7, 7)) and stretches(np.array([], int)) == ()
    assert in_words(((1, 3), (7, 7))) == "1–3, 7" and in_words(((1, 1), (3, 3)), limit=1) == "1, …"


def test_rows_given_by_their_numbers():
    assert numbered("3, 17-19,4,18–20") == ((3, 4), (17, 20)) and numbered(" ") == ()
    for wrong in ("0", "a", "5-3", "3-4-5", "-2", "9" * 12):
        with pytest.raises(InputError, match="as in 3,17-19"):
            numbered(wrong)


def test_rows_are_named_beside_their_numbers(table):
    named = table.set_axis([f"Bay {row + 3}" for row in range(60)])
    names = row_names(named, ((1, 2),))
    assert names[3] == "Bay 3" and len(names) == 60
    assert in_words(((3, 3), (5, 7), (62, 62)), 2, names) == "3 (Bay 3), 5 (Bay 5)–7 (Bay 7), …"
    assert bad_cells(named, np.array([3])).iloc[0].tolist()[:3] == [4, "Bay 6", "a"]
    assert "name" not in bad_cells(table, np.array([3])) and not row_names(table)
    assert in_words(((2, 2),), names=row_names(table.iloc[::2])) == "2" == row_in_words(2, np.int64(2))
    assert len(row_in_words(4, "B" * 500)) < 50


@pytest.mark.parametrize(
    "cell", [">100", "> 1,000", "≥50", ">=7", "<5", "50+", "50 +", "100 or more", "up to 10", "TNTC"]
)
def test_a_bound_is_named_and_what_its_rows_hold_is_said(cell):
    assert kind_of_text(cell) == "bound" and "largest or smallest" in losses(["blank", kind_of_text(cell)])


@pytest.mark.parametrize("cell", ["1-10", "11–50", "1 to 10", "1,000 - 5,000", "0..5"])
def test_a_class_is_named(cell):
    assert kind_of_text(cell) == "class" and "1-10" in losses(["class"])


@pytest.mark.parametrize(
    "cell", ["2020-01-02", "a+", ">", "1-", "3+2", "10-Mar", "-5", "1.5", "ten", "> many", "1-2-3"]
)
def test_other_texts_are_neither(cell):
    assert kind_of_text(cell) == "text" and not losses(["text", "blank", "negative"])


def test_bounds_classes_and_codes_have_a_reason_of_their_own():
    cells = pd.Series(["50+", "> 100", "1-10", "2 to 5", "abc", "", "7"])
    assert whys(cells) == ["bound", "bound", "class", "class", "text", "blank"]
    assert whys(pd.Series([3, -999, -3])) == ["missing code", "negative"]
