"""A sheet of samples joined by the names of the rows."""

import numpy as np
import pandas as pd
import pytest

from disco.errors import InputError
from disco.runs.origin import _of_kind
from disco.table.edits import EDITS, AddColumns, applied
from disco.table.samples import columns_of, joined, r_name, roles_of

NAMES = ["22-SQ1-0", "23-SQ2-0", "s 3", "4a", "_5"]
IN_R = ["X22.SQ1.0", "X23.SQ2.0", "s.3", "X4a", "X_5"]


def counts(names: list[str]) -> pd.DataFrame:
    return pd.DataFrame({"a": range(len(names)), "b": 3}, index=pd.Index(names, dtype=object))


def sheet(names: list[str]) -> pd.DataFrame:
    found = pd.DataFrame({"batch": ["x", "y"] * 3, "sample": [*names, "more"], "age": [30, 31, 40, 50, 61, 70]})
    return found.iloc[::-1].reset_index(drop=True)


def test_names_are_repaired_as_r_does():
    assert [r_name(name) for name in NAMES] == IN_R
    assert [r_name(name) for name in ("if", ".1", ".a", "a/b (c)", "é")] == ["if.", "X.1", ".a", "a.b..c.", "é"]


@pytest.mark.parametrize("by", [None, "sample"])
@pytest.mark.parametrize(("of_rows", "of_lines"), [(NAMES, NAMES), (IN_R, NAMES), (NAMES, IN_R)])
def test_lines_are_found_by_name_whatever_their_order(of_rows, of_lines, by):
    table, lines = counts(of_rows), sheet(of_lines)
    match = joined(table, lines, by)
    assert match.by == "sample" and match.lines.tolist() == [5, 4, 3, 2, 1]
    assert len(match.repaired) == (0 if of_rows == of_lines else 5) and match.unused == ["more"] and not match.without
    after = applied(table, [columns_of(table, lines, match)])
    assert after["age"].tolist() == [30, 31, 40, 50, 61] and after["batch"].tolist() == ["x", "y", "x", "y", "x"]
    assert roles_of(columns_of(table, lines, match))["age"] == ("covariate", "continuous")


def test_names_of_files_are_those_of_their_samples():
    paths = ["/data/run/s1.sorted.bam", "/data/run/s2.sorted.bam"]
    match = joined(counts(paths), pd.DataFrame({"id": ["s2", "s1"], "x": 1}))
    assert match.lines.tolist() == [1, 0]


def test_rows_without_a_line_have_blank_cells_and_are_named():
    lines = sheet(NAMES).query("sample != '4a'").reset_index(drop=True)
    match = joined(counts(NAMES), lines)
    assert match.without == ["4a"] and "4 of 5 rows have a line; without one: 4a" in str(match)
    added = columns_of(counts(NAMES), lines, match)
    assert added.columns["batch"] == ("x", "y", "x", None, "x") and added.columns["age"][3] is None


def test_what_two_names_may_be_is_not_joined():
    match = joined(counts(["a.b", "c"]), pd.DataFrame({"id": ["a-b", "a b", "c"], "x": [1, 2, 3]}))
    assert match.lines.tolist() == [-1, 2]
    exact = joined(counts(["a.b", "c"]), pd.DataFrame({"id": ["a-b", "a.b", "c"], "x": [1, 2, 3]}))
    assert exact.lines.tolist() == [1, 2]


def test_a_join_can_be_made_again_from_a_file_of_a_run():
    table, lines = counts(NAMES), sheet(IN_R).assign(a=np.arange(6) / 2)
    added = columns_of(table, lines, joined(table, lines))
    assert list(added.columns) == ["batch", "age", "a 2"]  # "a" is taken
    stored = {"edit": "AddColumns", "columns": {name: [*row] for name, row in added.columns.items()}}
    again = _of_kind(EDITS, "edit", stored)
    pd.testing.assert_frame_equal(applied(table, [again]), applied(table, [added]))


@pytest.mark.parametrize(
    ("table", "lines", "by", "sentence"),
    [
        (counts(NAMES).reset_index(drop=True), sheet(NAMES), None, "have no names"),
        (counts(NAMES), sheet(NAMES), "name", '0 columns called "name"'),
        (counts(NAMES), sheet(NAMES), "batch", "No row has its name"),
        (counts(NAMES), pd.DataFrame({"id": ["4a", "4a"], "x": 1}), "id", '"4a" 2 times'),
    ],
)
def test_what_cannot_be_joined_is_one_sentence(table, lines, by, sentence):
    with pytest.raises(InputError, match=sentence):
        joined(table, lines, by)


def test_no_column_is_added_twice_or_with_another_length():
    table = counts(NAMES)
    with pytest.raises(InputError, match='already has a column "a"'):
        applied(table, [AddColumns({"a": (1, 2, 3, 4, 5)})])
    with pytest.raises(InputError, match='has 5 rows, but "c" has 2'):
        applied(table, [AddColumns({"c": (1, 2)})])
    with pytest.raises(InputError, match="no column besides"):
        columns_of(table, pd.DataFrame({"id": NAMES}), joined(table, pd.DataFrame({"id": NAMES})))
