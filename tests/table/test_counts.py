"""What a table of counts or of other numbers must be, with sentences that name column, row and remedy."""

import decimal
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from refusals import read

from disco.errors import InputError
from disco.table import counts
from disco.table.finding import Finding
from disco.table.prepared import as_numbers, is_continuous, no_counts

GOOD = [3, 0, 2, 1, 2, 5, 0, 0, 1, 4, 2, 2]
COVER = "It is a class of cover (Braun-Blanquet), not a count: such a table has no counts."
CORRECT = "Correct the table, or leave the column out."


def with_cells(**cells: object) -> pd.DataFrame:
    """A good table of 12 rows whose column `bad` has the given cells at the given rows (r3=...)."""
    bad = pd.Series(GOOD[::-1], dtype=object)
    for row, cell in cells.items():
        bad[int(row[1:]) - 1] = cell
    return pd.DataFrame({"good": GOOD, "bad": bad.infer_objects()})


def only_problem(table: pd.DataFrame | np.ndarray, folds: int = 3) -> Finding:
    found = counts.problems(table, folds)
    assert len(found) == 1, found
    return found[0]


@pytest.mark.parametrize(
    ("cells", "words", "remedy"),
    [
        ({"r3": -2}, "-2 is negative; a count is 0 or more.", CORRECT),
        ({"r3": -2, "r4": -1}, "-2 is negative; a count is 0 or more. The same holds for 1 more row.", CORRECT),
        ({"r5": 2.5}, "2.5 is not a whole number.", "Whole numbers only."),
        ({"r12": None}, "the value is missing.", "Fill in the blank cells, or leave out the row or the column."),
        ({"r1": np.inf}, "the value is infinite.", CORRECT),
        ({"r1": -np.inf}, "the value is infinite.", CORRECT),
        ({"r2": "many"}, '"many" is text, not a number.', CORRECT),
        ({"r2": "1,234"}, '"1,234" is text, not a number.', "Write numbers without thousands separators."),
        ({"r2": "3,5"}, '"3,5" is text, not a number.', "Write decimals with a point; a count has none."),
        ({"r2": "a\nb"}, '"a\N{REPLACEMENT CHARACTER}b" is text, not a number.', CORRECT),
        ({"r2": "2m"}, '"2m" is text, not a number.', COVER),
        ({"r2": "7"}, '"7" is text, not a number.', "Its numbers are kept as text: store them as numbers."),
        ({"r2": [1, 2]}, "[1, 2] is not a number.", CORRECT),
        ({"r2": True}, "True is not a number.", CORRECT),
        ({"r2": 2**53}, "9.0072e+15 is too large for a count.", CORRECT),
        ({"r2": 10**30}, "1e+30 is too large for a count.", CORRECT),
    ],
)
def test_a_bad_cell_is_named_with_column_and_row(cells, words, remedy):
    table, row = with_cells(**cells), int(next(iter(cells))[1:])
    message = f'Column "bad", row {row}: {words}'
    expected = Finding("cells", message, remedy, True, ("bad",), (row,))
    assert replace(only_problem(table), fault="", example="") == expected
    with pytest.raises(InputError) as error:
        counts.as_counts(table)
    assert str(error.value) == f"{message} {remedy}"


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([7] * 12, 'Column "bad" is constant: every row is 7.'),
        ([True] * 12, 'Column "bad" is constant: every row is 1.'),
        (pd.date_range("2020-01-02", periods=12), 'Column "bad", row 1: 2020-01-02 00:00:00 is not a number.'),
        ([1j] * 12, 'Column "bad", row 1: 1j is not a number.'),
        (pd.Categorical(list("abcabcabcabc")), 'Column "bad", row 1: "a" is text, not a number.'),
        (pd.array([1, None] * 6, "Int64"), 'Column "bad", row 2: the value is missing.'),
        (pd.array(["1", None, "x"] * 4, "string"), 'Column "bad", row 3: "x" is text, not a number.'),
        (np.array([1, 2**63] * 6, dtype="uint64"), 'Column "bad", row 2: 9.22337e+18 is too large for a count.'),
    ],
)
def test_a_bad_column_is_named(values, message):
    problems = counts.problems(pd.DataFrame({"good": GOOD, "bad": values}))
    assert any(p.message.startswith(message) and p.blocking and p.columns == ("bad",) for p in problems), problems


def called(*names: object, rows: int = 12) -> pd.DataFrame:
    """The good column once under each of these names; numbered rows where there is none."""
    cells = [range(rows) if name == "" else GOOD[:rows] for name in names]
    return pd.DataFrame(zip(*cells, strict=True), columns=names)


OWN, FIRST_ROW = "Give every column a name of its own.", "Give it a name in the first row."
MORE_ROWS = "Give more rows, or fit with 2 folds."
SEPARATE = "Separate the columns of a text file by commas, semicolons or tabs."
NUMBERS = "It only numbers the rows: leave it out (--row-names)."


@pytest.mark.parametrize(
    ("table", "message", "remedy"),
    [
        (called("a"), "The table has 1 column; at least 2 are needed.", SEPARATE),
        (called("a", "b", rows=9), "The table has 9 rows; with 3 folds, at least 12 are needed.", MORE_ROWS),
        (called("a", "b", rows=7), "The table has 7 rows; with 3 folds, at least 12 are needed.", "Give more rows."),
        (called("a", "b", "a"), '2 columns are called "a": 1 and 3.', OWN),
        (called(1, "1"), '2 columns are called "1": 1 and 2.', OWN),
        (called("a", " "), "Column 2 has no name.", FIRST_ROW),
        (called("a", None), "Column 2 has no name.", FIRST_ROW),
        (called("a", ""), "Column 2 has no name.", "It only numbers the rows: leave it out."),
        (called("", "a"), "Column 1 has no name.", NUMBERS),
        (called(*"a   "), "3 columns have no name, such as columns 2 and 4.", "Give them names in the first row."),
        (called("a", "b", rows=0), "The table has no rows.", "Give one row per observation."),
    ],
)
def test_a_bad_table_is_named(table, message, remedy):
    problem = only_problem(table)
    assert (problem.message, problem.remedy, problem.rows, problem.blocking) == (message, remedy, (), True)


def test_enough_rows_depends_on_the_folds():
    table = pd.DataFrame({"a": GOOD, "b": GOOD[::-1]})
    assert counts.problems(table, folds=3) == []
    assert only_problem(table, folds=4).message == "The table has 12 rows; with 4 folds, at least 16 are needed."


def test_all_problems_are_listed_at_once():
    text = "id,a,b,a\n1,-1,2.5,x\n2,3,,4\n3,3,1,4\n4,3,1,4\n"
    found = counts.problems(read(text), folds=1)
    assert [(*p.columns, *p.rows, p.blocking) for p in found] == [
        ("a", True), ("id", False), ("a", 1, True), ("b", 2, True), ("b", 1, True), ("a", 1, True),
    ]  # fmt: skip # a table


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([True, False] * 6, 'Column "a" holds true and false: they are read as 1 and 0.'),
        (pd.Categorical([2, 1, 0] * 4, categories=[2, 0, 1]), 'Column "a" is stored as categories: its numbers are'),
        ([0, 3] * 6, 'Column "a" takes only 2 values: the theory of the method assumes 3 or more.'),
        (range(12), 'Column "a" numbers the rows: it looks like an index, not a count.'),
    ],
)
def test_notes_do_not_block(values, message):
    table = pd.DataFrame({"a": values, "b": GOOD})
    problem = only_problem(table)
    assert problem.message.startswith(message) and not problem.blocking
    assert counts.as_counts(table)["a"].tolist() == [int(value) for value in values]


def test_a_first_row_of_data_taken_for_names_is_noted():
    text = "5,7\n" + "".join(f"{count},{count}\n" for count in GOOD)
    table = read(text)
    assert only_problem(table).message.startswith("The names of all columns are numbers: the first row of the data")
    assert counts.problems(pd.DataFrame(np.stack([GOOD, GOOD[::-1]], axis=1))) == []
    codes = {code: GOOD for code in ("200", "301", "404", "500")}
    assert not any(problem.kind == "names" for problem in counts.problems(pd.DataFrame(codes)))


@pytest.mark.parametrize(
    "values",
    [
        np.array(GOOD, dtype="float32"), np.array(GOOD, dtype="uint8"), pd.array(GOOD, "Int64"),
        pd.array(GOOD, "int64[pyarrow]"), pd.arrays.SparseArray(GOOD), [decimal.Decimal(value) for value in GOOD],
        pd.Series(GOOD, dtype=object), [*GOOD[1:], 2**53 - 1],
    ],
)  # fmt: skip # a table
def test_whole_numbers_of_any_type_are_counts(values):
    table = pd.DataFrame({"a": values, "b": GOOD[::-1]})
    assert counts.problems(table) == []
    found = counts.as_counts(table)
    assert found["a"].tolist() == list(values) and found.dtypes.eq("int64").all()


def test_as_counts_copies_and_does_not_touch_its_argument():
    table = pd.DataFrame({1: GOOD, "b": GOOD}, index=range(50, 62))
    before = table.copy(deep=True)
    found = counts.as_counts(table)
    found.iloc[0, 0] = 99
    pd.testing.assert_frame_equal(table, before)
    assert found.columns.tolist() == ["1", "b"] and found.index.tolist() == list(range(12))


def test_an_array_gets_names():
    found = counts.as_counts(np.array([GOOD, GOOD[::-1], GOOD]).T.astype(float))
    assert found.columns.tolist() == ["x1", "x2", "x3"] and found["x2"].tolist() == GOOD[::-1]
    message = counts.problems(np.array([[0, np.nan]] * 12))[-1].message
    assert message == 'Column "x2", row 1: the value is missing. The same holds for 11 more rows.'


def test_describe_by_hand():
    table = pd.DataFrame(
        {"a": [0, 0, 1, 3], "b": [1, 0, 1, 1], "c": [2, 2, 2, 2], "d": [1.5, 2, 3, 4], "e": list("wxyz")}
    )
    found = counts.describe(table).set_index("column")
    assert found["type"].tolist() == ["counts", "0/1", "constant", "not counts", "not counts"]
    a = found.loc["a"]
    assert (a["levels"], a["zeros"], a["mean"], a["minimum"], a["maximum"]) == (3, 0.5, 1.0, 0, 3)
    assert a["variance"] == pytest.approx(2.0) and a["dispersion"] == pytest.approx(2.0)
    assert a["ties"] == pytest.approx(1 / 6)  # one of the six pairs of rows has equal values
    assert found.loc["c", "ties"] == 1.0 and found.loc["d":"e", "levels":].isna().all(axis=None)
    assert counts.describe(pd.DataFrame({"z": [0, 0]})).loc[0, "dispersion"] is not None


def test_the_type_of_counts_with_faults_numbers_them():
    table = pd.DataFrame({"blank": [None, None, None, 3, 1], "text": [*"12?34"], "many": ["1", "2", "?", "!", None]})
    table = table.assign(stored=list("12345"), several=[None, -1, 2, 3, 4.0])
    types = ["counts, 6 blank", "counts, 2 not numbers", "not counts", "counts, stored as text", "not counts"]
    assert counts.describe(pd.concat([table] * 2))["type"].tolist() == types
    assert counts.describe(pd.concat([table, *[table.iloc[[3]]] * 9]))["type"].iloc[-1] == "counts, 1 blank, 1 negative"


def test_describe_keeps_columns_of_the_same_name():
    table = pd.DataFrame([[0, 1], [1, 5], [2, 7]], columns=["a", "a"])
    assert counts.describe(table)["maximum"].tolist() == [2, 7]


def test_a_row_with_a_name_is_named_beside_its_number():
    table = pd.DataFrame({"a": [1, 2, -3] * 5, "b": ["1", "x", "2"] * 5}, index=[f"Bay {row}" for row in range(15)])
    found = counts.problems(table, left_out=((1, 1),))
    assert [one.rows for one in found] == [(4,), (3,)]
    assert found[0].message.startswith('Column "a", row 4 (Bay 2): -3 is negative')
    assert found[1].message.startswith('Column "b", row 3 (Bay 1): "x" is text')


RANDOM = np.random.default_rng(0)
THREE_COUNTS = pd.DataFrame(RANDOM.poisson(3.0, (40, 3)), columns=list("abc"))
MEASURES = pd.DataFrame(RANDOM.normal(size=(40, 3)), columns=list("xyz"))


def test_numbers_are_kept_as_they_are():
    found = as_numbers(MEASURES.set_axis(range(5, 45)).astype({"x": "Float64"}))
    assert np.array_equal(found, MEASURES) and list(found.index) == list(range(40)) and list(found) == ["x", "y", "z"]
    assert as_numbers(THREE_COUNTS).dtypes.eq(float).all()


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        (MEASURES.assign(z=2.5), 'Column "z" is constant: every row is 2.5. Leave it out'),
        (MEASURES * [1, 1, 1e200], 'Column "z" has numbers whose squares are too large or too small'),
        (MEASURES * [1, 1e-200, 1], 'Column "y" has numbers whose squares are too large or too small'),
        (MEASURES.head(19), "The table has 19 rows; at least 20 are needed."),
    ],
)
def test_what_cannot_be_used_is_named(table, sentence):
    with pytest.raises(InputError, match=sentence):
        as_numbers(table)


def test_a_table_is_continuous_if_half_of_its_columns_are_no_counts_and_all_are_numbers():
    assert is_continuous(MEASURES) and not is_continuous(THREE_COUNTS)
    assert is_continuous(MEASURES.assign(a=THREE_COUNTS["a"], b=THREE_COUNTS["b"], c=THREE_COUNTS["c"]))
    assert not is_continuous(THREE_COUNTS.assign(x=MEASURES["x"])) and is_continuous(-1 - THREE_COUNTS)
    assert not is_continuous(MEASURES.assign(word="a")) and not is_continuous(MEASURES.assign(z=np.nan))
    assert not is_continuous(MEASURES[["x"]]) and not is_continuous(MEASURES[[]])


def test_the_first_column_that_holds_no_counts_is_named():
    assert no_counts(THREE_COUNTS) is None and no_counts(THREE_COUNTS.assign(y=0.5, z=-1)) == "y"
    assert no_counts(THREE_COUNTS.assign(y="word", z=-1)) == "z"  # what is no number has a sentence of its own
