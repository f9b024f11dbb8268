"""Cells of a workbook that are merged over rows: labels hold for all of them, numbers and names do not."""

import datetime
import io

import openpyxl
import pandas as pd
import pytest

from disco.table.read import NOTES, read_table

pytestmark = pytest.mark.usefixtures("in_process")

DAY = datetime.datetime(2021, 9, 14)
MERGED = ("A1:A2", "B1:B2", "C1:E1", "A3:A5", "A6:A8", "B3:B5", "B6:B8", "E3:E5", "C7:C8", "F1:F8")


def book(hide: tuple[int, ...] = (), top: int = 0, left: int = 0) -> bytes:
    """Two sites and their days merged over three rows, a depth and a count too, below two lines of names.

    A title at the side is merged over all rows.
    """
    lines = [
        ["site", "day", "fish", None, None, "survey"],
        [None, None, "pike", "perch", "depth"],
        ["fen", DAY, 1, 2, 30],
        [None, None, 3, 4, None],
        [None, None, 5, 6, None],
        ["bog", DAY, 7, 8, 40],
        [None, None, 9, 1, 40],
        [None, None, None, 2, 50],
    ]
    written = openpyxl.Workbook()
    for row, line in enumerate(lines, start=1 + top):
        for column, cell in enumerate(line, start=1 + left):
            written.active.cell(row, column, cell)
    for text in MERGED:
        area = openpyxl.worksheet.cell_range.CellRange(text)
        area.shift(left, top)
        written.active.merge_cells(area.coord)
    for row in hide:
        written.active.row_dimensions[row + top].hidden = True
    out = io.BytesIO()
    written.save(out)
    return out.getvalue()


def read(data: bytes, **choices: object) -> pd.DataFrame:
    return read_table(io.BytesIO(data), "t.xlsx", **choices)


def test_labels_hold_for_all_rows_of_a_merged_cell_and_numbers_for_one():
    for top, left in ((0, 0), (3, 2)):
        table = read(book(top=top, left=left))
        assert list(table) == ["site", "day", "fish pike", "fish perch", "fish depth", "survey"]
        assert table["survey"].isna().all()
        site, day, pike, perch, depth = (table.iloc[:, at] for at in range(5))
        assert site.tolist() == ["fen"] * 3 + ["bog"] * 3 and pd.to_datetime(day).eq(DAY).all()
        assert pike.fillna(-1).tolist() == [1, 3, 5, 7, 9, -1] and perch.tolist() == [2, 4, 6, 8, 1, 2]
        assert depth.fillna(-1).tolist() == [30, -1, -1, 40, 40, 50]
        assert sum("merged over several rows" in note for note in table.attrs[NOTES]) == 1


def test_a_label_holds_where_the_row_that_has_it_is_hidden():
    table = read(book(hide=(3, 7)), hidden="skip")
    assert table.iloc[:, 0].tolist() == ["fen", "fen", "bog", "bog"] and table.iloc[:, 3].tolist() == [4, 6, 8, 2]
