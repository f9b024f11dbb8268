"""Stata and OpenDocument files, and the way out of formats that are not read."""

import gzip
import io
import zipfile

import numpy as np
import pandas as pd
import pytest
from cells_by_genes import counts, h5ad, parts, zipped
from refusals import fuzzed, read

from disco.errors import InputError
from disco.table.formats import limits, stata, workbook_xml
from disco.table.formats.parsing import parse
from disco.table.read import NOTES, READING, SHEETS, read_table

pytestmark = pytest.mark.usefixtures("in_process")

ROWS = [["a", "b"], *([position % 5, position % 3] for position in range(30))]
NAMES = {
    "office": "urn:oasis:names:tc:opendocument:xmlns:office:1.0",
    "table": "urn:oasis:names:tc:opendocument:xmlns:table:1.0",
    "text": "urn:oasis:names:tc:opendocument:xmlns:text:1.0",
}


def sheet(name: str, rows: list[list[object]], extra: str = "") -> str:
    """A sheet of an OpenDocument spreadsheet, with more XML at its end."""
    lines = ["".join(map(_cell, row)) for row in rows]
    body = "".join(f"<table:table-row>{line}</table:table-row>" for line in lines)
    return f'<table:table table:name="{name}">{body}{extra}</table:table>'


def _cell(value: object) -> str:
    if isinstance(value, str):
        return f'<table:table-cell office:value-type="string"><text:p>{value}</text:p></table:table-cell>'
    return f'<table:table-cell office:value-type="float" office:value="{value}"/>'


def ods(*sheets: str) -> bytes:
    """An OpenDocument spreadsheet."""
    names = " ".join(f'xmlns:{name}="{address}"' for name, address in NAMES.items())
    inside = f"<office:body><office:spreadsheet>{''.join(sheets)}</office:spreadsheet></office:body>"
    manifest = '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"/>'
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("content.xml", f"<office:document-content {names}>{inside}</office:document-content>")
        archive.writestr("META-INF/manifest.xml", manifest)
    return out.getvalue()


def dta(table: pd.DataFrame, version: int = 118) -> bytes:
    out = io.BytesIO()
    table.to_stata(out, write_index=False, version=version)
    return bytes(out.getbuffer())


def test_a_sheet_of_open_document_is_read_and_another_can_be():
    empty = '<table:table-row table:number-rows-repeated="1048000"><table:table-cell/></table:table-row>'
    book = ods(sheet("one", ROWS, empty), sheet("two", [["c", "d"], [5, 6]]))
    table = read(book, "t.ods")
    assert table.columns.tolist() == ["a", "b"] and table.to_numpy().tolist() == ROWS[1:]
    assert table.attrs[SHEETS] == ["one", "two"] and table.attrs[READING]["sheet"] == "one"
    assert table.attrs[NOTES][0].startswith('Only the sheet "one" was read; the other is two. To')
    assert read(book, "t.ods", sheet="two").to_numpy().tolist() == [[5, 6]]


def test_two_sheets_of_one_name_are_refused():
    """The reader of workbooks would give the second instead of the first."""
    book = ods(sheet("one", ROWS), sheet("two", ROWS), sheet("one", [["c", "d"], [5, 6]]))
    for choices in ({}, {"sheet": "one"}):
        with pytest.raises(InputError, match='^t.ods has several sheets called "one": give each a name of its own.$'):
            read(book, "t.ods", **choices)
    assert len(read(book, "t.ods", sheet="two")) == len(ROWS) - 1


@pytest.mark.parametrize(
    ("extra", "sentence"),
    [
        (("1048576", "16384"), "t.ods"),
        (("1", "4000000000"), "t.ods"),
        (("1048576", "6"), "cells; at most 5,000,000 are read"),
    ],
)
def test_repeated_cells_cost_a_sentence(extra, sentence, monkeypatch):
    monkeypatch.undo()  # they need more memory than a process of its own gets
    rows, columns = extra
    cell = f'<table:table-cell table:number-columns-repeated="{columns}" office:value-type="float" office:value="1"/>'
    row = f'<table:table-row table:number-rows-repeated="{rows}">{cell}</table:table-row>'
    with pytest.raises(InputError, match=sentence) as error:
        read(ods(sheet("s", ROWS, row)), "t.ods")
    assert str(error.value).endswith(".") and "\n" not in str(error.value)


@pytest.mark.parametrize("repeated", [1_048_576, 10**9])
def test_a_row_that_is_repeated_beyond_the_end_of_a_sheet_is_said(repeated):
    row = f'<table:table-row table:number-rows-repeated="{repeated}">{_cell(7)}{{}}</table:table-row>'
    full, last = row.format(_cell(7)), f"<table:table-row>{_cell(8)}{_cell(8)}</table:table-row>"
    with pytest.raises(InputError, match=f't.ods, sheet "a & b": its cells reach row {repeated + 31:,}, and a spread'):
        read(ods(sheet("a &amp; b", ROWS, full)), "t.ods")
    with pytest.raises(InputError, match=f"its cells reach row {repeated + 32:,}, and a spreadsheet ends at row 1,04"):
        read(ods(sheet("a &amp; b", ROWS, full + last)), "t.ods")
    blank = f'<table:table-row table:number-rows-repeated="{repeated}"><table:table-cell/></table:table-row>'
    assert len(read(ods(sheet("s", ROWS, blank), sheet("t", ROWS, full)), "t.ods", sheet="s")) == 30
    with pytest.raises(InputError, match="its cells reach row"):  # the last row would be left out
        read(ods(sheet("s", ROWS, blank + last)), "t.ods")


def test_as_many_repeated_rows_as_a_sheet_has_are_read(monkeypatch):
    monkeypatch.setattr(workbook_xml, "_BLOCK", 200)  # a row goes on in the next block
    row = f'<table:table-row table:number-rows-repeated="200000">{_cell(7)}{_cell(7)}</table:table-row>'
    table = parse(ods(sheet("s", ROWS, row), sheet("t", ROWS[:3])), ".ods")
    assert table.num_rows == 200_030 and table["a"][-1].as_py() == 7
    archive = zipfile.ZipFile(io.BytesIO(ods(sheet("s", ROWS, row), sheet("t", ROWS[:3]))))
    assert workbook_xml.last_rows(archive) == {"s": 200_031, "t": 3}


@pytest.mark.parametrize("version", [114, 117, 118])
def test_stata_keeps_whole_numbers_gaps_and_text(version):
    wide = pd.DataFrame({"a": np.arange(20, dtype="int16"), "b": [np.nan, *range(19)], "s": ["x"] * 20})
    table = read(dta(wide.assign(c=pd.Categorical(["u", "v"] * 10)), version), "t.dta")
    assert table["a"].tolist() == list(range(20)) and table["b"].isna().tolist() == [True] + [False] * 19
    assert table["s"].tolist() == ["x"] * 20 and table["c"].tolist() == [0, 1] * 10
    assert table.attrs[NOTES] == ["Labels of values were not taken: the numbers are as stored."]
    assert NOTES not in read(dta(wide, version), "t.dta").attrs


def test_damaged_and_large_stata_files_are_refused(monkeypatch):
    with pytest.raises(InputError, match="^t.dta cannot be read as Stata: "):
        read(b"no Stata file", "t.dta")
    monkeypatch.setattr(stata, "MOST_CELLS", 30)
    data = dta(pd.DataFrame({"a": range(40), "b": 1}))
    with pytest.raises(limits.NotATable, match="cells; at most"):
        parse(data, ".dta")


def test_any_bytes_of_a_stata_file_end_with_a_table_or_a_sentence(tmp_path):
    fuzzed(dta(pd.DataFrame({"a": range(20), "s": "x"})), ".dta", tmp_path)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("t.SAV", "is an SPSS file, which is not read: in SPSS, save it as CSV or as Stata (.dta)."),
        ("matrix.mtx.gz", "is a matrix without its names, which is not read: give its folder, with features.tsv"),
        ("t.pkl", "is a pickle, which is not read: it could run any program"),
    ],
)
def test_a_format_that_is_not_read_says_how_to_export(name, sentence):
    with pytest.raises(InputError) as error:
        read(b"x", name)
    assert str(error.value).startswith(f"{name} {sentence}")


def test_what_the_lines_of_r_write_is_read(tmp_path):
    """R's writeMM writes whole numbers as real, in order of cells."""
    with pytest.raises(InputError) as error:
        read(b"x", "seurat.RDS")
    message = str(error.value)
    assert "GetAssayData(x, layer = 'counts')" in message and "m <- SingleCellExperiment::counts(x)" in message
    lines = [f"{gene} {cell} {gene + cell}" for cell in (1, 2, 3) for gene in (1, 2)]
    head = "%%MatrixMarket matrix coordinate real general\n2 3 6\n"
    (tmp_path / "matrix.mtx").write_text(head + "\n".join(lines) + "\n")
    for file_name, names in (("features.tsv", ["ACTB", "CD3E"]), ("barcodes.tsv", ["AAC-1", "AAG-1", "AAT-1"])):
        assert f"'counts/{file_name}'" in message
        (tmp_path / file_name).write_text("\n".join(names) + "\n")
    table = read_table(tmp_path)
    assert table.to_dict("list") == {"ACTB": [2, 3, 4], "CD3E": [3, 4, 5]} and table.index[2] == "AAT-1"


FILES = {
    "t.ods": (lambda: ods(sheet("one", [["a", "b"], [1, "x"], ["y", 2]]), sheet("two", ROWS)), {"sheet": "one"}),
    "t.dta": (lambda: dta(pd.DataFrame({"a": [1.0, np.nan], "s": ["x", "y"]})), {}),
    "t.h5ad": (lambda: h5ad(counts(), obs=OBS), {"genes": "g2?,g0", "obs": ["batch", "seen"]}),
    "t.zip": (lambda: zipped(parts(counts())), {"genes": "3"}),
    "t.csv.gz": (lambda: gzip.compress(b"=a;b\n1,5;2\n;3\n"), {"decimal": ","}),
}
OBS = {
    "batch": {"codes": np.arange(80) % 3 - 1, "categories": ["b1", "b2"]},
    "seen": {"values": np.arange(80), "mask": np.arange(80) < 2},
}


@pytest.mark.parametrize("name", FILES)
def test_a_process_of_its_own_gives_the_same_table(name, monkeypatch):
    content, choices = FILES[name]
    data = content()
    here = read(data, name, **choices)
    monkeypatch.undo()
    apart = read(data, name, **choices)
    pd.testing.assert_frame_equal(apart, here)
    assert apart.attrs == here.attrs
