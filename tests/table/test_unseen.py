"""Hidden rows and columns of a workbook: said, read, and left out by choice; and cells merged over several rows."""

import datetime
import io

import numpy as np
import openpyxl
import pandas as pd
import pytest
from openpyxl.utils import get_column_letter as letter
from refusals import read
from test_other_formats import ods

from disco.errors import InputError
from disco.table.formats.workbook_xml import hidden_in_excel, hidden_in_open_document
from disco.table.read import NOTES, READING

pytestmark = pytest.mark.usefixtures("in_process")

COUNTS = pd.DataFrame(np.random.default_rng(0).poisson(4.0, (30, 5)), columns=list("abcde"))


def excel(hide, top: int = 1, left: int = 1) -> bytes:
    """A workbook with the counts from a cell on, whose sheet was changed by `hide`."""
    book = openpyxl.Workbook()
    for row, line in enumerate([list(COUNTS), *COUNTS.to_numpy().tolist()], start=top):
        for column, cell in enumerate(line, start=left):
            book.active.cell(row, column, cell)
    hide(book.active, top, left)
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def rows_3_and_9(sheet, top: int = 1, left: int = 1) -> None:
    sheet.row_dimensions[top + 3].hidden = sheet.row_dimensions[top + 9].hidden = True


def filtered(sheet, top: int, left: int) -> None:
    for row in range(top + 1, top + 31):
        sheet.row_dimensions[row].hidden = sheet.cell(row, left).value != 3
    sheet.auto_filter.ref = f"{letter(left)}{top}:{letter(left + 4)}{top + 30}"


def grouped(sheet, top: int, left: int) -> None:
    sheet.column_dimensions.group(letter(left + 1), letter(left + 3), hidden=True)


def both(sheet, top: int, left: int) -> None:
    rows_3_and_9(sheet, top)
    sheet.column_dimensions[letter(left + 4)].hidden = True


ODD = COUNTS.index[COUNTS["a"] == 3]
WAYS = {
    "rows": (rows_3_and_9, "2 rows", COUNTS.drop([2, 8])),
    "filter": (filtered, f"{30 - len(ODD)} rows", COUNTS.loc[ODD]),
    "group": (grouped, "3 columns", COUNTS[["a", "e"]]),
    "both": (both, "2 rows and 1 column", COUNTS.drop([2, 8]).drop(columns="e")),
}


def check(data: bytes, name: str, words: str, rest: pd.DataFrame) -> None:
    """All is read and said; by choice the rest is."""
    table = read(data, name)
    np.testing.assert_array_equal(table, COUNTS)
    (note,) = table.attrs[NOTES]
    assert f"hides {words}, " in note and "hidden=skip" in note and table.attrs[READING]["hidden"] == "read"
    visible = read(data, name, hidden="skip")
    np.testing.assert_array_equal(visible, rest)
    (note,) = visible.attrs[NOTES]
    assert list(visible) == list(rest) and f"hides {words}, " in note and note.endswith("They were left out.")
    assert visible.attrs[READING]["hidden"] == "skip"


@pytest.mark.parametrize("case", WAYS)
@pytest.mark.parametrize("corner", [(1, 1), (4, 3)])
def test_what_an_excel_sheet_hides_is_said_and_left_out_by_choice(case, corner):
    hide, words, rest = WAYS[case]
    check(excel(hide, *corner), "t.xlsx", words, rest)


def document(rows: dict[int, str], columns: str = "") -> bytes:
    """The counts as OpenDocument, with words of some rows by number, and with columns."""
    lines = []
    for number, line in enumerate([list(COUNTS), *COUNTS.to_numpy().tolist()]):
        cells = "".join(
            f'<table:table-cell office:value-type="string"><text:p>{cell}</text:p></table:table-cell>'
            if number == 0
            else f'<table:table-cell office:value-type="float" office:value="{cell}"/>'
            for cell in line
        )
        lines.append(f"<table:table-row{rows.get(number, '')}>{cells}</table:table-row>")
    second_sheet = '<table:table table:name="other"><table:table-row table:visibility="collapse"/></table:table>'
    return ods(f'<table:table table:name="a &amp; b\'s">{columns}{"".join(lines)}</table:table>', second_sheet)


def test_what_an_open_document_hides_is_said_and_left_out_by_choice():
    hidden = {3: ' table:visibility="collapse"', 9: " table:style-name='x' table:visibility='filter'"}
    check(document(hidden), "t.ods", *WAYS["rows"][1:])
    columns = (
        '<table:table-column/><table:table-column table:visibility="collapse" table:number-columns-repeated="3"/>'
        "<table:table-column-group><table:table-column/></table:table-column-group>"
    )
    check(document({}, columns), "t.ods", *WAYS["group"][1:])
    last = '<table:table-column table:number-columns-repeated="4"/><table:table-column table:visibility="collapse"/>'
    check(document(hidden, last), "t.ods", *WAYS["both"][1:])


def test_repeated_rows_of_an_open_document_are_hidden_as_often_as_they_are_repeated():
    cell = '<table:table-cell office:value-type="float" office:value="{}"/>'
    row = '<table:table-row table:number-rows-repeated="3"{}>' + cell + "</table:table-row>"
    name = '<table:table-cell office:value-type="string"><text:p>a</text:p></table:table-cell>'
    rows = row.format("", 1) + row.format(' table:visibility="filter"', 2) + row.format("", 5)
    data = ods(f'<table:table table:name="s"><table:table-row>{name}</table:table-row>{rows}</table:table>')
    assert read(data, "t.ods")["a"].tolist() == [1, 1, 1, 2, 2, 2, 5, 5, 5]
    assert read(data, "t.ods", hidden="skip")["a"].tolist() == [1, 1, 1, 5, 5, 5]


def test_marks_in_blocks_and_rows_without_numbers_are_counted():
    sheet = b'<x:sheetData><x:row><x:c/></x:row><x:row hidden="true"/><x:row r="7"/><x:row hidden="1"/></x:sheetData>'
    columns = b"<x:cols><x:col min='2' max='16384' hidden='1'/><x:col min='1' max='1' hidden='0'/></x:cols>"
    hidden = hidden_in_excel(io.BytesIO(columns + sheet))
    assert hidden.rows == {1, 7} and hidden.columns == {*range(1, 16384)}
    last = b'<table:table-row table:visibility="filter"/>'
    far = b'<table:table table:name="s">' + b"<table:table-row/>" * 200_000 + last
    assert hidden_in_open_document(io.BytesIO(far), "s").rows == {200_000}
    row = b'<table:table-row table:visibility="filter" table:number-rows-repeated="%d"/>' % 10**15
    far = b'<table:table table:name="s">' + row
    assert len(hidden_in_open_document(io.BytesIO(far * 3), "s").rows) == 1 << 20


def test_an_ordinary_sheet_says_nothing_and_has_no_such_choice():
    table = read(excel(lambda *_: None), "t.xlsx")
    assert NOTES not in table.attrs and table.attrs[READING]["hidden"] is None

    def beyond(sheet, top, left):  # Excel writes all columns after the last one as one range
        sheet.column_dimensions.group("H", "XFD", hidden=True)

    assert NOTES not in read(excel(beyond), "t.xlsx").attrs
    with pytest.raises(InputError, match=r"t\.csv has no hidden rows or columns"):
        read(b"a,b\n1,2\n", "t.csv", hidden="skip")

    def everything(sheet, top, left):
        sheet.column_dimensions.group("A", "E", hidden=True)

    with pytest.raises(InputError, match="no cells outside hidden rows and columns: read these too, by hidden=read"):
        read(excel(everything), "t.xlsx", hidden="skip")


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


def test_labels_hold_for_all_rows_of_a_merged_cell_and_numbers_for_one():
    for top, left in ((0, 0), (3, 2)):
        table = read(book(top=top, left=left), "t.xlsx")
        assert list(table) == ["site", "day", "fish pike", "fish perch", "fish depth", "survey"]
        assert table["survey"].isna().all()
        site, day, pike, perch, depth = (table.iloc[:, at] for at in range(5))
        assert site.tolist() == ["fen"] * 3 + ["bog"] * 3 and pd.to_datetime(day).eq(DAY).all()
        assert pike.fillna(-1).tolist() == [1, 3, 5, 7, 9, -1] and perch.tolist() == [2, 4, 6, 8, 1, 2]
        assert depth.fillna(-1).tolist() == [30, -1, -1, 40, 40, 50]
        assert sum("merged over several rows" in note for note in table.attrs[NOTES]) == 1


def test_a_label_holds_where_the_row_that_has_it_is_hidden():
    table = read(book(hide=(3, 7)), "t.xlsx", hidden="skip")
    assert table.iloc[:, 0].tolist() == ["fen", "fen", "bog", "bog"] and table.iloc[:, 3].tolist() == [4, 6, 8, 2]
