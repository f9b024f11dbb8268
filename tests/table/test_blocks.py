"""Notes and other tables below and beside a sheet's table: recognised, and left out with the rest unchanged."""

import io

import numpy as np
import pandas as pd
import pytest
from app_world import workbook

from disco.table.counts import as_counts
from disco.table.kinds import BELOW, BESIDE, BLANK, FOOTNOTES
from disco.table.layout import suggestion, tidied
from disco.table.read import NOTES, READING, read_table

pytestmark = pytest.mark.usefixtures("in_process")

COUNTS = np.random.default_rng(1).poisson(3.0, (60, 4)).tolist()
NAMES = ["frogs", "newts", "leeches", "snails"]
OTHER = [["gnats", "midges", "moths"], *np.random.default_rng(2).poisson(2.0, (30, 3)).tolist()]
LONG = [[row % 4] for row in range(75)]
BLANKS = [None] * 4


def read(rows: list[list], kind: str, **choices: object) -> pd.DataFrame:
    """The rows as a sheet, or as text with the same number of cells in every line."""
    if kind == "xlsx":
        return read_table(io.BytesIO(workbook(("s", rows))), "t.xlsx", **choices)
    wide = max(map(len, rows))
    lines = [["" if cell is None else str(cell) for cell in [*row, *[None] * (wide - len(row))]] for row in rows]
    return read_table(io.BytesIO("\n".join(",".join(line) for line in lines).encode()), "t.csv", **choices)


def beside(left: list[list], right: list[list], gap: int = 1) -> list[list]:
    wide, high = len(left[0]), max(len(left), len(right))
    left = [*left, *[[None] * wide] * (high - len(left))]
    right = [*right, *[[None] * len(right[0])] * (high - len(right))]
    return [[*first, *[None] * gap, *second] for first, second in zip(left, right, strict=True)]


SHEETS = {
    "a note": ([NAMES, *COUNTS, ["Counted by two people; see the log."]], {FOOTNOTES}),
    "a word below numbers": ([NAMES, *COUNTS, [None, "provisional"]], {FOOTNOTES}),
    "words below a gap": ([NAMES, *COUNTS, BLANKS, BLANKS, ["Updated"], ["06/28/2024"]], {FOOTNOTES}),
    "notes below a gap": ([NAMES, *COUNTS, BLANKS, ["* rain"], ["Source: our survey"]], {FOOTNOTES}),
    "names once more": ([NAMES, *COUNTS[:20], NAMES, *COUNTS[20:], NAMES], {BELOW}),
    "a table below": ([NAMES, *COUNTS, BLANKS, ["Insects"], *OTHER], {BELOW}),
    "a table right below": ([NAMES, *COUNTS, *OTHER], {BELOW}),
    "a short table below": ([NAMES, *COUNTS, BLANKS, ["gnats", "moths"], [1, 2], [3, 4]], {BELOW}),
    "a table beside": (beside([NAMES, *COUNTS], OTHER), {BESIDE, BLANK}),
    "a table beside, two columns on": (beside([NAMES, *COUNTS], OTHER, 2), {BESIDE, BLANK}),
    "a longer, smaller table beside": (beside([NAMES, *COUNTS], [["moths"], *LONG]), {BESIDE, BLANK}),
    "all of it": (
        beside([NAMES, *COUNTS, BLANKS, ["Counted twice by two people", *BLANKS[1:]]], OTHER),
        {FOOTNOTES, BESIDE, BLANK},
    ),
}


@pytest.mark.parametrize("kind", ["xlsx", "csv"])
@pytest.mark.parametrize("name", SHEETS)
def test_what_stands_around_a_table_is_left_out_and_the_rest_stays(name, kind):
    rows, kinds = SHEETS[name]
    table = read(rows, kind)
    steps = [*tidied(table)]
    rest = steps[-1][1]
    assert {one.kind for one, _ in steps} == kinds
    assert as_counts(rest).to_numpy().tolist() == COUNTS and list(rest) == NAMES


FILTERS = [["Year", 2019], ["Observer", "(All)"], [], ["Sum of n", "Column Labels"]]
PIVOT = [["Row Labels", *NAMES], *([f"p{row}", *counts] for row, counts in enumerate(COUNTS))]
PIVOTS = {
    "a year": ([FILTERS[0], [], *PIVOT], 2, NAMES),
    "filters": ([*FILTERS, *PIVOT], 4, NAMES),
    "a small number": ([["Plot", 3], *FILTERS[1:], *PIVOT], 4, NAMES),
    "years": ([*FILTERS, ["Row Labels", 2016, 2017, 2018, 2019], *PIVOT[1:]], 4, ["2016", "2017", "2018", "2019"]),
    "a smaller table": ([["sex", "n"], ["f", 3], ["m", 4], [], *PIVOT], 4, NAMES),
}


@pytest.mark.parametrize("kind", ["xlsx", "csv", "ragged"])
@pytest.mark.parametrize("name", PIVOTS)
def test_filters_of_a_pivot_are_lines_above_the_names(name, kind):
    rows, above, names = PIVOTS[name]
    if kind == "ragged":  # as some write it: blank lines without a separator, which are not counted
        text = "\n".join(",".join(map(str, row)) for row in rows)
        table, above = read_table(io.BytesIO(text.encode()), "t.csv"), above - 1
    else:
        table = read(rows, kind)
    assert table.columns.tolist() == [rows[-61][0], *names] and table.attrs[READING]["above"] == above
    assert table.iloc[:, 1:].to_numpy().tolist() == COUNTS and len(table.attrs[NOTES]) == 1


NOT_FILTERS = {
    "two columns": [["year", "n"], *([1990 + row, row % 7] for row in range(60))],
    "a gap": [["day", "n"], [1, 4], [2, 5], [], *([3 + row, row % 7] for row in range(60))],
    "a gap before comments": [["day", "n"], [1, 4], [], *([f"d{row}", row % 7, "wet", "late"] for row in range(60))],
    "a table of words": [["day", "n"], [1, 4], [2, 3], [], ["a", "b", "c"], ["d", "e", "f"]],
    "a wide table": [[*"abcd"], [1, 2, 3, 4], [], [*"efghi"], *([row] * 5 for row in range(60))],
}


@pytest.mark.parametrize("name", NOT_FILTERS)
def test_first_lines_that_are_not_filters_have_the_names(name):
    rows = NOT_FILTERS[name]
    for kind in ("xlsx", "csv"):
        table = read(rows, kind)
        assert table.attrs[READING]["above"] == 0 and list(table)[: len(rows[0])] == rows[0]


@pytest.mark.parametrize("kind", ["xlsx", "csv"])
def test_the_larger_of_two_tables_is_never_left_out(kind):
    small = [[*"uvwx"], *([row, 1, 2, row % 3] for row in range(10)), BLANKS]
    table = read([*small, NAMES, *COUNTS], kind)
    assert BELOW not in {one.kind for one, _ in tidied(table)}
    (note,) = table.attrs[NOTES]
    assert "by --read above=12)" in note
    again = read([*small, NAMES, *COUNTS], kind, above=12)
    assert list(again) == NAMES and again.to_numpy().tolist() == COUNTS
    far = read([small[0], *([row, 1, 2, 3] for row in range(55)), BLANKS, NAMES, *COUNTS], kind)
    assert "a file of its own" in far.attrs[NOTES][0] and "above=" not in far.attrs[NOTES][0]


def test_a_table_of_words_has_no_other_below():
    sheet = [
        ["sample", "site", "soil", "who"],
        ["s0", "fen", None, None],
        *([f"s{k}", "bog", "wet", f"w{k}"] for k in range(9)),
    ]
    table = read(sheet, "xlsx")
    assert not table.attrs.get(NOTES) and BELOW not in {one.kind for one, _ in tidied(table)}
    repeated = read([NAMES, *COUNTS[:20], NAMES, *COUNTS[20:]], "csv")
    assert not repeated.attrs.get(NOTES)  # its own names are not those of a larger table


def test_titles_and_units_above_two_tables_beside_each_other_are_no_names():
    title, units = [["Mire survey", *[None] * 7]], [["(no.)"] * 4 + [None] + ["(no.)"] * 3]
    rows = beside([NAMES, *COUNTS], OTHER)
    table = read([*title, rows[0], *units, *rows[1:]], "xlsx")
    assert list(table)[:4] == NAMES and len(table) == 60 and len(table.attrs[NOTES]) == 2


def test_ordinary_tables_have_nothing_around_them():
    table = pd.DataFrame(COUNTS, columns=NAMES).astype(object)
    for change in (
        {(59, 0): None, (59, 1): None, (59, 2): None},  # a row with one count
        {(30, 0): "lost", (30, 1): "lost", (30, 2): "lost", (30, 3): "lost"},  # a row that was lost
        {(59, 1): "many"},  # text among numbers
        {(58, 2): "lost", (59, 3): "?"},
        {(20, 0): "a", (20, 1): "b"},
        {(row, 3): None for row in range(40, 60)},  # a column that ends early
    ):
        changed = table.copy()
        for (row, column), cell in change.items():
            changed.iat[row, column] = cell
        assert suggestion(changed) is None
        named = changed.assign(site=[f"the mire at place {row}" for row in range(60)])[["site", *NAMES]]
        found = suggestion(named)
        assert found is None or found.kind == "names"
    ends = table.assign(blank=None, moths=3)
    ends.loc[59, "moths"] = None  # one missing cell beyond a blank column is no other table
    assert [one.kind for one, _ in tidied(ends)] == [BLANK]
