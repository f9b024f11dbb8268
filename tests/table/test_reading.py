"""How a file writes its cells: detected, said, and read in another way on request; impossible requests."""

import dataclasses
import gzip
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from app_world import workbook
from refusals import read

from disco.errors import InputError
from disco.table.counts import problems
from disco.table.formats.reading import Reading
from disco.table.guesses import guesses
from disco.table.read import NOTES, OTHER, READING, SHEETS, read_table

pytestmark = pytest.mark.usefixtures("in_process")


def notes(table: pd.DataFrame) -> str:
    return " ".join(table.attrs.get(NOTES, []))


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16", "utf-8", "utf-8-sig"])
def test_names_survive_any_usual_encoding(encoding):
    table = read("Vögel;Käfer\n1;2\n3;4\n5;6\n".encode(encoding))
    assert table.columns.tolist() == ["Vögel", "Käfer"] and table.to_numpy().tolist() == [[1, 2], [3, 4], [5, 6]]
    assert table.attrs[READING]["separator"] == ";"
    assert ("Windows-1252" in notes(table)) == (encoding in ("latin-1", "cp1252"))


def test_an_encoding_is_taken_as_chosen():
    text = "жук,б\n1,2\n".encode("cp1251")
    assert read(text).columns[0] != "жук" and read(text, encoding="cp1251").columns[0] == "жук"
    with pytest.raises(InputError, match="is not UTF-8 text"):
        read(text, encoding="utf-8")


@pytest.mark.parametrize("mark", [",", ";", "\t", "|", " "])
def test_the_separator_is_the_one_that_makes_a_table(mark):
    lines = [["a", "b", "c"], ["1", "2", "3"], ["4", "5", "6"], ["7", "8", "9"]]
    table = read("\n".join(mark.join(line) for line in lines))
    assert table.shape == (3, 3) and table.attrs[READING]["separator"] == mark


@pytest.mark.parametrize("mark", [",", ";", "|"])
def test_a_tsv_without_tabs_is_separated_as_it_is(mark):
    lines = [["a", "b", "c"], ["1", "2", "3"], ["4", "5", "6"], ["7", "8", "9"]]
    table = read("\n".join(mark.join(line) for line in lines), "t.tsv")
    assert table.shape == (3, 3) and table.attrs[READING]["separator"] == mark
    table = read("a;b\tc\n1\t2\n3\t4\n", "t.tsv")  # one with tabs is separated by them, whatever its names contain
    assert table.columns.tolist() == ["a;b", "c"] and table.attrs[READING]["separator"] == "\t"


def test_advice_on_a_single_column_does_not_contradict_the_file():
    for text, choices, remedy in (
        ("a;b\n1;2\n3;4\n", {"separator": "\t"}, "separated by tab, but its name contains a semicolon: choose that"),
        ("a\n1\n2\n", {}, "Separate the columns of a text file by commas, semicolons or tabs."),
    ):
        (problem,) = [problem for problem in problems(read(text, **choices)) if problem.kind == "columns"]
        assert remedy in problem.remedy


YEARS = ["1990", "1991", "1992"]
TOWNS = "Town,1990,1991,1992\n" + "".join(f"town {row},{row + 5},{row % 7},3\n" for row in range(9))
GEO = '!Series_title\t"x"\n!Sample_geo\t"a"\t"b"\n!series_matrix_table_begin\n"ID_REF"\t"a"\t"b"\n'
NAMED = {  # a text, its names, and its last column
    "ends of lines with a comma": ("a,b\n1,2,\n3,4,\n", ["a", "b", ""], [None, None]),
    "row names without a name": ("a,b\nx,1,2\ny,3,4\n", ["", "a", "b"], [2, 4]),
    "blanks around names": ("a, b ,c d\n1, 2,3\n4, 5,6\n", ["a", "b", "c d"], [3, 6]),
    "blanks that tell names apart": ("a, a,b\n1,2,3\n4,5,6\n", ["a", " a", "b"], [3, 6]),
    "equal names": ("a,a, b\n1,2,3\n4,5,6\n", ["a", "a", "b"], [3, 6]),
    "a series of GEO": (GEO + '"g1"\t1\t2\n"g2"\t3\t4\n!series_matrix_table_end\n', ["ID_REF", "a", "b"], [2, 4]),
    "names in single quotes": ("#'chr'\t'start'\t'a b'\nx\t1\t2\n", ["#chr", "start", "a b"], [2]),
    "single quotes within names": ("'a\tb'\nx\t1\n", ["'a", "b'"], [1]),
    "the size in a GCT file": ("#1.2\n2\t2\nName\ts1\ts2\nENSG1\t3\t4\nENSG2\t5\t6\n", ["Name", "s1", "s2"], [4, 6]),
    "names on two lines": ("Site,,Birds,\n,,a,b\nS1,,1,2\nS2,,4,5\n", ["Site", "", "Birds a", "Birds b"], [2, 5]),
    "years below titles": (f'"Source","A",\n\n"Updated","2021-01-01",\n\n{TOWNS}', ["Town", *YEARS], [3] * 9),
    "marks that contradict each other": ("a;b\n2,5;1,234,567\n3,5;1\n", ["a", "b"], ["1,234,567", "1"]),
    "one strange cell": ("b;a\n1;1,234,567\n2;?\n3;\n", ["b", "a"], ["1234567", "?", ""]),
}


@pytest.mark.parametrize("case", NAMED)
def test_names_and_cells_of_a_text(case):
    text, names, last = NAMED[case]
    table = read(text, "t.txt")
    cells = table.iloc[:, -1]
    assert table.columns.tolist() == names and [None if pd.isna(cell) else cell for cell in cells] == last


def test_blanks_around_names_of_a_workbook_are_left_out():
    assert read(workbook(("s", [["a", " b"], [1, 2], [3, 4]])), "t.xlsx").columns.tolist() == ["a", "b"]


def test_decimal_commas_do_not_count_as_separators():
    table = read("a;b\n1,0;2,0\n3,0;4,0\n5,5;6,0\n")
    assert table.to_numpy().tolist() == [[1, 2], [3, 4], [5.5, 6]]
    assert table.attrs[READING]["decimal"] == "," and '"1,0" in column "a", row 1, as 1.0' in notes(table)


@pytest.mark.parametrize(
    ("cells", "numbers", "decimal", "thousands"),
    [
        (["1,234,567", "1,418", "3"], [1234567, 1418, 3], ".", ","),
        (["1.234.567", "1.418", "3"], [1234567, 1418, 3], ",", "."),
        (["2,5", "1.418", "1.000,5"], [2.5, 1418, 1000.5], ",", "."),
        (["1 000", "12", "-1\u202f000 000"], [1000, 12, -1000000], ".", " "),
        (["1'000", "12", "1'000'000"], [1000, 12, 1000000], ".", "'"),
        (["2,0", "1,418", "3"], [2, 1.418, 3], ",", ""),  # the first cell shows what the second means
        (["1,234,567", "1 418", "1e+05", "3"], [1234567, 1418, 100000, 3], ".", ", "),
        (["1 418", "1.0644e+06", "2E2"], [1418, 1064400, 200], ".", " "),
        (["1,0644e+06", "1,418", "3"], [1064400, 1.418, 3], ",", ""),
        (["2,5", "1 418", "1e-1"], [2.5, 1418, 0.1], ",", " "),
    ],
)
def test_marks_that_can_be_read_in_one_way_are_read_so(cells, numbers, decimal, thousands):
    table = read("a;b\n" + "".join(f"{cell};1\n" for cell in cells))
    assert table["a"].tolist() == numbers
    assert (table.attrs[READING]["decimal"], table.attrs[READING]["thousands"]) == (decimal, thousands)
    assert "decimal comma" not in notes(table) and f'"{cells[0]}" in column "a"' in notes(table)


def test_a_comma_that_may_be_either_is_said_and_can_be_chosen():
    text = 'a;b\n"1,418";3\n2;4\n'
    table = read(text)
    assert table["a"].tolist() == [1418, 2]
    assert 'as 1418. If "1,418" is 1.418, read the file again with a decimal comma.' in notes(table)
    assert read(text, decimal=",")["a"].tolist() == [1.418, 2] and not notes(read(text, decimal=","))
    assert read(text, decimal=".", thousands="")["a"].tolist() == ["1,418", "2"]


def test_a_comma_beside_a_space_between_thousands_is_said_too():
    text = "a;b\n1 418;3\n1,046;4\n1e+05;5\n"
    table = read(text)
    assert table["a"].tolist() == [1418, 1046, 100000]
    assert notes(table).endswith("If a comma is a decimal mark, read the file again with a decimal comma.")
    assert read(text, **{**table.attrs[OTHER], "names": 1})["a"].tolist() == [1418, 1.046, 100000]
    assert read(text, decimal=".", thousands=" ")["a"].tolist() == ["1418", "1,046", "1e+05"]


def test_a_point_between_thousands_is_never_guessed():
    text = "a;b\n1.418;3\n2.100;4\n17;1\n"
    table = read(text)
    assert table["a"].tolist() == [1.418, 2.1, 17] and '"1.418" in column "a" was read as a fraction' in notes(table)
    assert read(text, decimal=",", thousands=".")["a"].tolist() == [1418, 2100, 17]
    assert not notes(read("a;b\n1.418;3\n2.1;4\n"))  # a fraction, as the second cell shows


@pytest.mark.parametrize(
    ("cells", "numbers"),
    [
        (["23 %", "5%", "0 %", "NA"], [23, 5, 0, np.nan]),
        (["23 %", "12,5%", "7.25 %", ""], [23, 12.5, 7.25, np.nan]),
        (["1,250 %", "5 %", "6 %", "7 %"], None),
        (["0.5", "5 %", "6 %", "7 %"], None),  # which may be a share
        (["5 %", "late", "6 %", "control"], None),
    ],
)
def test_numbers_with_a_percent_sign_are_numbers_and_no_counts(cells, numbers):
    lines = [["site", "cover", "n"], *([f"s{k % 3}", cell, k % 5] for k, cell in enumerate(cells * 6))]
    text = "\n".join(";".join(map(str, line)) for line in lines)
    for table in (read(text.encode(), "t.csv"), read(workbook(("a", lines)), "t.xlsx")):
        assert (numbers is not None) == ('Percent signs were left out in "cover"' in notes(table))
        if numbers is not None:
            np.testing.assert_array_equal(table["cover"].astype(float), numbers * 6)
            assert str(guesses(table.dropna())[1]) == "covariate, continuous" and table["n"].sum() == 46


def test_other_columns_stay_as_they_were():
    table = read("a;b;c;d\n2,5;x;true;1e3\n1,0;1,x;false;2e3\n")
    assert table["b"].tolist() == ["x", "1,x"] and table["c"].tolist() == [True, False]
    assert table["d"].tolist() == [1000, 2000]
    assert read("a;b\n2,5;1.5\n", decimal=",")["b"].tolist() == ["1.5"]  # no number by this choice


@pytest.mark.parametrize(
    ("head", "names", "lines"),
    [
        ("x;y;z\n", ["x", "y", "z"], (0, 1, 0)),
        ("x;y;z\nmm;mm;count\n", ["x", "y", "z"], (0, 1, 1)),
        ("Caught in spring\n\nx;y;z\nmm;;\n", ["x", "y", "z"], (1, 1, 1)),
        ("# made by hand\n# twice\nx;y;z\n", ["x", "y", "z"], (2, 1, 0)),
        ("Fish;;Birds\nmean;sd;mean\n", ["Fish mean", "Fish sd", "Birds mean"], (0, 2, 0)),
        ("Fish;;Birds\nx;y;z\n", ["x", "y", "z"], (1, 1, 0)),
        ("x;y\n", ["", "x", "y"], (0, 1, 0)),  # as R writes row names
        ("2012;2013;2014\n", ["2012", "2013", "2014"], (0, 1, 0)),
    ],
)
def test_lines_above_the_data_are_told_apart(head, names, lines):
    body = "1;2;3\n4;5;6\n7;8;9\n"
    table = read(head + body)
    assert table.columns.tolist() == names and table.to_numpy().tolist() == [[1, 2, 3], [4, 5, 6], [7, 8, 9]]
    assert tuple(table.attrs[READING][name] for name in ("above", "names", "below")) == lines
    assert ("left out" in notes(table)) == (lines[0] + lines[2] > 0)


def test_a_dash_among_numbers_is_a_blank_cell_and_said():
    table = read("site,a,b,strand\ns1,3,-,+\ns2,–,4,-\ns3,5,6,+\n")
    assert table["a"].isna().tolist() == [False, True, False] and table["b"].isna().tolist() == [True, False, False]
    assert table["strand"].tolist() == ["+", "-", "+"] and "A dash among numbers" in notes(table)
    assert "A dash" not in notes(read("a,b\n-3,\n4,5\n"))
    grouped = read("a,b\n-,1\n2,\n".replace(",", ";").replace("2;", "1,234,567;"))
    assert grouped["a"].tolist()[1] == 1234567


@pytest.mark.parametrize("name", ["t", "t.kreport", "t.tax.summary", "t.G026.gz"])
def test_text_may_have_any_ending(name):
    data = b"a\tb\n1\t2\n3\t4\n"
    table = read(gzip.compress(data) if name.endswith("gz") else data, name)
    assert table["b"].tolist() == [2, 4]


@pytest.mark.parametrize(
    "text", ["a,b\n?,?\n1,2\nx,y\n", "a,b\nNA,NA\n1,2\n", "a,b\nx,y\nz,w\n", "a,b\nx,1\n2,3\n", "a,b\n,\n1,2\n"]
)
def test_rows_of_data_are_not_taken_for_units(text):
    assert len(read(text)) == text.count("\n") - 1 and not notes(read(text))


def test_lines_are_taken_as_chosen():
    text = "1,2\n3,4\n5,6\n"
    assert read(text).columns.tolist() == ["1", "2"]
    assert read(text, names=0).columns.tolist() == ["x1", "x2"] and len(read(text, names=0)) == 3
    assert read("g,h\na,b\n1,2\n", above=0, names=2).columns.tolist() == ["g a", "h b"]
    assert len(read("g,h\na,b\n1,2\n", above=0, names=1, below=0)) == 2
    with pytest.raises(InputError, match="too few for 9 lines above the data"):
        read(text, names=9)


def test_a_workbook_has_its_sheets_to_choose_from_and_its_lines():
    rows = [["Fish of 2020", None], ["a", "b"], ["g", "mm"], [1, 2], [3, 4]]
    book = workbook(("one", rows), ("two", [["c", "d"], [5, 6]]))
    table = read(book, "t.xlsx")
    assert table.columns.tolist() == ["a", "b"] and table.to_numpy().tolist() == [[1, 2], [3, 4]]
    assert table.attrs[SHEETS] == ["one", "two"] and table.attrs[READING]["above"] == 1
    second = read(book, "t.xlsx", sheet="two")
    assert second.columns.tolist() == ["c", "d"] and second.attrs[READING]["sheet"] == "two" and not notes(second)
    assert read(book, "t.xlsx", sheet="two", names=0).to_numpy().tolist() == [["c", "d"], [5, 6]]
    with pytest.raises(InputError, match='no sheet "three"'):
        read(book, "t.xlsx", sheet="three")


def test_long_cells_cost_no_more_than_their_length():
    """Squared, each of these would take hours."""
    for cell in ("1" + " " * 100_000 + "x", " " * 100_000 + "x", "1,2" * 30_000 + "x", "1.418" * 20_000):
        assert len(read(f'a;b\n"{cell}";1\n"2";3\n')) == 2


def test_titles_above_and_notes_below_are_left_out_and_said():
    rows = "".join(f"{k},{k % 3},{k % 5}\n" for k in range(20))
    for above in ("Counts of 2020\nby A. B.\n\n", "Counts of 2020\n"):
        table = read(f"{above}a,b,c\n{rows}\nSource: the authors\n* by eye\n", "t.csv")
        assert list(table) == ["a", "b", "c"] and len(table) == 20 and (table.dtypes == np.int64).all()
        assert any("Source: the authors, * by eye" in note for note in table.attrs[NOTES])
        assert any("Counts of 2020" in note for note in table.attrs[NOTES])
    for cut in ("7", "7 1", "ENSG1", '"7'):
        with pytest.raises(InputError):
            read(f"a,b,c\n{rows}{cut}", "t.csv")
    book = workbook(("a", [["Birds, 2024", None], [None, None], ["x", "y"], [1, 2], [3, 4]]))
    assert "2 lines above the names were left out: Birds, 2024." in notes(read(book, "t.xlsx"))


def test_lines_of_one_cell_below_a_table_are_notes_if_the_last_one_is():
    table = "a,b\n1,2\n3,4\n"
    endings = 'Source: someone\nNotes:\n"By eye"\n', '"---"\n"See:"\n"http://x.org/y#z"\n', "Notes:\n more words\n"
    assert [read(table + end).to_numpy().tolist() for end in endings] == [[[1, 2], [3, 4]]] * 3
    assert "3 lines below the table were left out: Source: someone, Notes:" in notes(read(table + endings[0]))
    with pytest.raises(InputError, match="row 3: the row has 1 cell"):
        read(table + "wor\n")  # cut off


def test_a_line_of_totals_below_the_names_may_have_a_cell_more():
    lines = "".join(f"202001{day},{day},{day * 2}\n" for day in range(10, 20))
    table = read("# shop\n\nday,users,views\n,145,290,Grand total\n" + lines)
    assert table["users"].tolist() == [*range(10, 20)] and "145, 290, Grand total" in notes(table)
    with pytest.raises(InputError, match="row 1: the row has 4 cells"):
        read("day,users,views\n,145,290,x\n" + lines)


def test_a_first_line_with_a_word_of_the_lines_below_is_data():
    lines = [f"{word}\t{year}\t{year * 3 % 701}" for word in ("steam", "coal") for year in range(1850, 1880)]
    table = read("\n".join(lines), "t.tsv")
    assert table.columns.tolist() == ["x1", "x2", "x3"] and len(table) == 60
    named = read("\n".join(["word\t1\t2", *lines[:9], "word\t1\t2", *lines[9:]]), "t.tsv")  # names repeated
    assert named.columns.tolist() == ["word", "1", "2"]


def test_titles_of_one_cell_are_no_part_of_names_on_two_lines():
    rows = [["A river", "", "", ""], ["blank = none", "", "", ""], ["", "", "", ""]]
    rows += [["site", "MAYFLIES", "", "FLIES"], ["", "Baetis", "Ephemera", "Baetis"]]
    rows += [[f"s{k}", k, k % 3, 2] for k in range(9)]
    table = read(workbook(("s", rows)), "t.xlsx")
    assert list(table) == ["site", "MAYFLIES Baetis", "MAYFLIES Ephemera", "FLIES Baetis"] and len(table) == 9
    rows = [["Hauls of 2019", *[""] * 12], [""] * 13, ["haul", *range(1, 13)]]
    rows += [[f"fish {k}", *range(12)] for k in range(9)]
    table = read(workbook(("s", rows)), "t.xlsx")
    assert table.columns.tolist() == ["haul", *map(str, range(1, 13))] and len(table) == 9


def test_a_column_that_repeats_another_whole_is_left_out():
    table = read(b"gene,s1,gene,s2,s1,s1\nA,1,A,4,1,2\nB,5,B,6,5,3\n", "t.csv")
    assert list(table.columns) == ["gene", "s1", "s2", "s1"] and table.iloc[:, 3].tolist() == [2, 3]
    assert any(note.startswith("2 columns that repeat") for note in table.attrs[NOTES])


def test_quotes_that_do_not_close_in_a_text_with_tabs_quote_nothing():
    lines = ["place\tcount\tkind", '"Boei 12\t3\ta', 'Wad\t4\t6" net', "Wad\t5\tb", '"Rif\t6\tc']
    table = read("\n".join(lines), "occurrence.txt")
    assert table["count"].tolist() == [3, 4, 5, 6] and table["place"].tolist() == ["Boei 12", "Wad", "Wad", "Rif"]
    quoted = 'a\tb\tc\n1\t2\t"x\ny"\n3\t4\tz\n'
    assert read(quoted, "t.tsv")["c"].tolist() == ["x\ny", "z"]


def test_another_table_below_a_blank_line_is_left_out():
    above = "# Overview\n# 2023\n\nsource,users,views\n" + "".join(f"s{at},{at},{2 * at}\n" for at in range(9))
    table = read(f"{above}\nday,users\n1/1/23,4\n2/1/23,6\n", "t.csv")
    assert table.shape == (9, 3) and table["views"].tolist() == [2 * at for at in range(9)]
    assert any("another of 3 lines" in note for note in table.attrs[NOTES])
    with pytest.raises(InputError, match="row 10: the row has 2 cells"):
        read(f"{above}day,users\n", "t.csv")


ODD = (-1, 1.5, np.nan, b"a", "\x1b[31m" + "a" * 9999, [1], {"a": 1}, {3}, object(), np.arange(2), Decimal("sNaN"), 1j)
ODD = (*ODD, "x", pd.DataFrame({"a": [1]}), pd.Series([1]), type, [None], (1,))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2\n3,4\n")
    return path


@pytest.mark.parametrize("name", [field.name for field in dataclasses.fields(Reading)])
def test_a_choice_of_a_wrong_type_is_refused_in_a_sentence(path, name):
    for value in ODD:
        with pytest.raises(InputError, match=r"^t\.csv.*\.$") as error:
            read_table(path, **{name: value})
        assert str(error.value).isprintable() and len(str(error.value)) < 500


@pytest.mark.parametrize("mark", [",", ", "])
def test_a_comma_has_one_meaning(path, mark):
    with pytest.raises(InputError, match=r"^t\.csv.*\.$"):
        read_table(path, decimal=",", thousands=mark)


def test_whole_numbers_of_any_type_are_lines(path):
    table = read_table(path, names=np.int64(0), above=np.int8(0))
    assert table.iloc[0].tolist() == ["a", "b"] and len(table) == 3


@pytest.mark.parametrize("name", ["a" * 5000, "a" * 5000 + ".csv", "no.csv", "\x00", "two\nlines.xyz"])
def test_a_path_that_leads_nowhere_is_refused_in_a_sentence(name):
    with pytest.raises(InputError) as error:
        read_table(name)
    assert str(error.value).isprintable() and str(error.value).endswith(".")
