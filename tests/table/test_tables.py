"""Reading files: every cell literally, and a sentence for what cannot be read."""

import datetime
import io
import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from app_world import workbook
from refusals import is_a_sentence, read

from disco.errors import InputError
from disco.table.read import NOTES, read_table

pytestmark = pytest.mark.usefixtures("in_process")


def as_parquet(table: pd.DataFrame) -> bytes:
    out = io.BytesIO()
    table.to_parquet(out)
    return out.getvalue()


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("a,b\n1,20\n0,3\n", "counts.csv"), ("a;b\n1;20\n0;3\n", "counts.csv"), ("a\tb\n1\t20\n0\t3\n", "counts.tsv"),
        ("a\tb\n1\t20\n0\t3\n", "COUNTS.TXT"), ("\ufeffa,b\r\n1,20\r\n0,3", "counts.csv"),
        ("a,b\n1,20\n\n0,3\n\n", "counts.csv"), ('"a","b"\n"1","20"\n"0","3"\n', "counts.csv"),
        ("a,b\n1,20\n0,3\n".encode("utf-16"), "counts.csv"),
        (workbook(("counts", [["a", "b"], [1, 20], [0, 3]])), "counts.xlsx"),
        (as_parquet(pd.DataFrame({"a": [1, 0], "b": [20, 3]})), "counts.parquet"),
    ],
)  # fmt: skip # a table
def test_every_kind_of_file_gives_the_same_table(text, name):
    table = read(text, name)
    assert table.columns.tolist() == ["a", "b"] and table.to_numpy().tolist() == [[1, 20], [0, 3]]


def test_a_path_and_an_open_file_are_read_from_the_start(tmp_path, small_table):
    path = tmp_path / "small.csv"
    small_table.to_csv(path, index=False)
    pd.testing.assert_frame_equal(read_table(path), small_table)
    pd.testing.assert_frame_equal(read_table(str(path)), small_table)
    with path.open("rb") as file:
        first, again = read_table(file), read_table(file)
    pd.testing.assert_frame_equal(first, again)


def test_duplicate_and_empty_names_stay():
    book = workbook(("s", [["a", None, "a", "a.1"], [1, 2, 3, 4]]))
    for table in (read("a,,a,a.1\n1,2,3,4\n"), read(book, "t.xlsx")):
        assert table.columns.tolist() == ["a", "", "a", "a.1"] and table.to_numpy().tolist() == [[1, 2, 3, 4]]


@pytest.mark.parametrize(
    ("text", "position"),
    [
        ('a,b\n1,2\n3,"4\n5,6\n', "line 3, character 3"),
        ('a,b\n1,"2\n3,4\n5,"6\n7,8\n', "line 2, character 3"),  # the next quote closes it within another cell
        ('\r\n\r\nü;b\r\n"1";"ä ""2""";"3\r\n4;5;6\r\n', "line 4, character 15"),
        ('a,"b\n1,2\n', "line 1, character 3"),
        ('"', "line 1, character 1"),
        ('a,b\n"one\ntwo","2\n3,4\n', "line 3, character 6"),
    ],
)
def test_a_quote_left_open_is_said_with_its_place(text, position):
    sentence = f"t.csv, {position}: a quote opens there that does not close at the end of its cell"
    with pytest.raises(InputError, match=sentence):
        read(text)


@pytest.mark.parametrize("cell", ['5" pipe', '"two\nlines"', '"a ""quoted"" word"', '"x" y', '""', '"a\r\n""b"""'])
def test_quotes_that_close_and_quotes_within_words_are_read(cell):
    assert len(read(f"a,b\n1,{cell}\n{cell},3\n")) == 2


def test_duplicate_names_of_parquet_stay():
    out = io.BytesIO()
    parquet.write_table(pa.table([[1, 2], [3, 4]], names=["a", "a"]), out)
    assert read(out.getvalue(), "t.parquet").columns.tolist() == ["a", "a"]


def test_names_are_data():
    header = '"<script>alert(1)</script>","with ""quotes""","two\nlines","Größe 数"'
    table = read(f"{header}\n1,2,3,4\n5,6,7,8\n")
    assert table.columns.tolist() == ["<script>alert(1)</script>", 'with "quotes"', "two\nlines", "Größe 数"]
    assert len(table) == 2


def test_values_are_not_repaired():
    table = read('a,b,c,d,e\n3.0,"12,34,5",-1,x,\n2.5,5,inf,7,NA\n')
    assert table["a"].tolist() == [3.0, 2.5] and table["b"].tolist() == ["12,34,5", "5"]
    assert table["c"].tolist() == [-1, np.inf] and table["d"].tolist() == ["x", "7"] and table["e"].isna().all()


def test_a_late_bad_cell_does_not_change_the_cells_before_it():
    rows = [str(i) for i in range(200_000)]
    table = read("a,b\n" + "\n".join(f"{row},1" for row in rows) + "\nx,1\n")
    assert table["a"].tolist() == [*rows, "x"] and table["b"].dtype == "int64"


def test_excel_kinds_of_cells():
    rows = [[2012.0, "b", "c"], [1, True, datetime.date(2020, 1, 2)], [None, False, "text"], [None, None, None]]
    table = read(workbook(("s", rows)), "t.xlsx")
    assert table.columns.tolist() == ["2012", "b", "c"]
    assert len(table) == 2 and table["2012"].isna().tolist() == [False, True]
    assert table["b"].tolist() == [True, False] and table["c"].tolist()[1] == "text"


def test_other_sheets_and_a_stored_index_are_mentioned():
    sheets = ("empty", []), ("counts", [["a", "b"], [1, 2]]), ("notes", [["x"]])
    (note,) = read(workbook(*sheets), "t.xlsx").attrs[NOTES]
    assert note.startswith('Only the sheet "counts" was read; the other is notes. To read another, ')
    index = ("contents", [["1a", "Deaths"], ["1b", "Births"]]), ("1a", [["a", "b"], *[[k, k] for k in range(9)]])
    assert len(read(workbook(*index), "t.xlsx")) == 9
    readme = ("read me", [["Counts of birds"], ["by A. B."]])
    assert read(workbook(readme, ("counts", [["a", "b"], [1, 2]])), "t.xlsx").columns.tolist() == ["a", "b"]
    table = pd.DataFrame({"a": [1, 2]}, index=pd.Index(["p", "q"], name="player"))
    (note,) = read(as_parquet(table), "t.parquet").attrs[NOTES]
    assert note == 'The file\'s index "player" was left out: an index names rows and is not a column.'
    assert NOTES not in read(as_parquet(pd.DataFrame({"a": [1, 2]})), "t.parquet").attrs


def test_parquet_keeps_nullable_whole_numbers():
    table = read(as_parquet(pd.DataFrame({"a": pd.array([1, None], "Int64"), "b": [1, 2]})), "t.parquet")
    assert table["a"].dtype == "Int64" and table["a"].isna().tolist() == [False, True]


SENTENCES = {  # a file, and what is said of it
    "a.pdf": (b"\x00\x81", "has an unknown format: give a text, or a file that ends in .csv, .txt, .tsv, .tab, .sf, "),
    "b.pdf": (b"\x00\x81", ".parquet, .dta, .h5ad, .h5, .biom, .zip, .tar, or these with .gz, .bz2, .xz, .zst."),
    "a.csv": (b"", "is empty: give a file with names in its first row and values below them."),
    "b.csv": (b"a,b\n", "has names but no rows: put the counts below the names."),
    "c.csv": (
        b"a,b\n1,2\n3,4,5\n",
        "row 2: the row has 3 cells, but there are 2 names. Give every row one cell per na",
    ),
    "d.csv": (b"a,b\n1,2\n3\n", "row 2: the row has 1 cell, but there are 2 names. Give every row one cell per name."),
    "e.csv": (b"a,\x81\n1,2\n", "is not UTF-8 text: save it as CSV UTF-8, or choose its encoding (on Data, or by --"),
    "a.xlsx": (b"PK nonsense", "cannot be read as a workbook of Excel or OpenDocument: it is damaged, incomplete, or"),
    "b.xlsx": (workbook(("s", [])), "has no cells: put the names in the first row and the counts below."),
    "a.parquet": (b"PAR1 and no more", "cannot be read as Parquet: "),
}


@pytest.mark.parametrize("name", SENTENCES)
def test_what_cannot_be_read_gets_a_sentence(name):
    data, sentence = SENTENCES[name]
    with pytest.raises(InputError) as error:
        read(data, name)
    assert str(error.value).startswith(name) and sentence in str(error.value) and is_a_sentence(str(error.value))


def test_a_path_without_a_file_gets_a_sentence(tmp_path):
    with pytest.raises(InputError, match="^nowhere.csv does not exist: check the path.$"):
        read_table(Path("nowhere.csv"))
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(InputError, match="folder.csv cannot be read: it is a folder, not a file."):
        read_table(tmp_path / "folder.csv")


class Bomb:
    """Reports when it is unpickled."""

    def __reduce__(self) -> tuple:
        return pytest.fail, ("unpickled",)


@pytest.mark.parametrize("suffix", ["csv", "tsv", "txt", "xlsx", "parquet"])
def test_nothing_is_unpickled(suffix):
    with pytest.raises(InputError):
        read(pickle.dumps(Bomb()), f"evil.{suffix}")
