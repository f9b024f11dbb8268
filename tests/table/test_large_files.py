"""Large files: the same table to the last cell, read in pieces; refused before reading if it does not fit in memory."""

import io
import mmap
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from disco.__main__ import main
from disco.errors import FitStopped, InputError
from disco.table.cells import value_counts
from disco.table.counts import problems
from disco.table.formats import encoding, pieces
from disco.table.formats.limits import NotATable
from disco.table.formats.parsing import parse
from disco.table.read import read_table

LINES = "\n".join(f"{i},{i * 7 % 11}" for i in range(40))
AWKWARD = {
    "counts": f"a,b\n{LINES}\n",
    "no last line end": f"a,b\n{LINES}",
    "line ends of Windows": f"a,b\n{LINES}\n".replace("\n", "\r\n"),
    "line ends of old Macs": f"a,b\n{LINES}\n".replace("\n", "\r"),
    "a byte-order mark": f"\ufeffa,b\n{LINES}\n",
    "a mark before a quote": f'\ufeff"a,b",c\n{LINES}\n',
    "quotes": 'a,b\n1,"one, two"\n"2","with ""quotes"""\n3,"5"\n',
    "quoted line ends": 'a,b\n1,"one\ntwo\n\nthree"\n2,"x\r\ny"\n3,"z"\n4,w\n',
    "quotes within words": 'a,b\n1,5" pipe\n2,6" pipe\n3,"x" y\n4,z\n',
    "an open quote": 'a,b\n1,"2"\n3,4\n5,"6\n7,8\n9,10\n11,12\n',
    "blank lines": f"\n\na,b\n1,2\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n3,4\n\n{LINES}\n\n\n\n\n\n\n\n\n\n",
    "a long row": f"a,b\n{LINES}\n\n\n1,2,3\n4,5\n",
    "a short row": f"a,b\n{LINES}\n\n1\n4,5\n",
    "two bad rows": f"a,b\n{LINES}\n1,2,3\n{LINES}\n1\n",
    "semicolons": f"a;b\n{LINES}\n".replace(",", ";"),
    "decimal commas": "a;b\n1,5;1\n2,25;2\n3;3\n4;4\n0,5;x\n",
    "decimal commas late": "a;b\n1;1\n2;2\n3;3\n4;4\n0,5;5\n",
    "thousands": "a;b\n1,418;1\n2;2\n3,005;3\n4;4\n1,234,567;5\n",
    "points between thousands": "a;b\n1.418;1\n2.005;2\n3;3\n4;4\n1.234.567;5\n6;6\n",
    "points that may be thousands": "a;b\n1.418;1\n2.005;2\n3;3\n4;4\n",
    "spaces between thousands": "a;b\n1 418;1\n2 005;2\n3;3\n4;4\n",
    "missing cells": "a,b,c\n1,,NA\n,NA,NA\nNaN,3,NA\n4,null,NA\n5,6,NA\n",
    "missing cells of text": "a,b\nNA,1\nNA,2\nNA,3\nx,4\nNA,5\n",
    "late text": f"a,b\n{LINES}\nx,1\n007,2\n",
    "early text": f"a,b\nx,1\n007,2\n{LINES}\n",
    "late fraction": f"a,b\n{LINES}\n2.5,1\n1e3,2\n",
    "true and false": "a,b\n1,1\n0,0\ntrue,true\nfalse,0\n1,1\n",
    "true and numbers": "a,b\n1,1\n2,0\ntrue,1.5\nfalse,true\n",
    "dates": "a,b,c\n2020-01-01,2020-01-01,10:00\n2020-01-02,2020-01-02 10:00:00,11:00\n2020-01-03,1,10:00:00.5\n",
    "times of several kinds": "a,b\n2020-01-01,1\n2020-01-02 10:00:00,2\n2020-01-03 10:00:00.25,3\n",
    "times with a zone": "a,b\n2020-01-01T00:00:00Z,1\n2020-01-01T00:00:00+02:00,2\n2020-01-01T00:00:00.5Z,3\n,4\n",
    "times with and without a zone": "a,b\n2020-01-01T00:00:00,1\n2020-01-01T00:00:00Z,2\n2020-01-02,3\n",
    "dates and numbers": "a,b\n2020-01-01,1\n2020-01-02,2\n7,3\n1.5,4\n",
    "hexadecimal": "a,b\n1,1\n2,2\n3,3\n4,4\n0x10,5\n6,6\n",
    "hexadecimal everywhere": "a,b\n0x1,1\n2,0X2\n3,3\n0x4,4\n",
    "too large for 4 bytes": "a,b\n1,1\n2,2147483648\n-2147483648,3\n4,4\n",
    "too large for 8 bytes": "a,b\n1,1\n2,9223372036854775808\n3,3\n4,4\n",
    "minus zero and a plus": "a,b\n-0,1\n2,+2\n-0.0,3\n",
    "infinite": "a,b\n1,1\ninf,2\n-inf,3\n4,4\n",
    "one column": "a\n1\n2\n\n3\n4\n5\n",
    "row names of R": "a,b\nr1,1,2\nr2,3,4\nr3,5,6\n",
    "titles and units": "Counts of 2020,\na,b\nkg,m\n1,2\n3,4\n5,6\n",
    "names without rows": "a,b\n\n\n\n",
    "letters": "Größe,Zahl\nä,1\nß€,2\n日本,3\n",
}
CONVERTED = ("thousands", "points between thousands", "spaces between thousands")  # from text, later


@pytest.fixture
def in_pieces(monkeypatch: pytest.MonkeyPatch):
    def set_to(size: int) -> None:
        monkeypatch.setattr(pieces, "_PIECE", size)

    return set_to


def result(data: bytes | mmap.mmap, suffix: str = ".csv") -> object:
    """The table with one piece per column, or the sentence."""
    try:
        return parse(data, suffix).combine_chunks()
    except NotATable as reason:
        return str(reason)


def mapped(data: bytes) -> mmap.mmap:
    collected = mmap.mmap(-1, len(data))
    collected[:] = data
    return collected


def same(first: object, second: object) -> bool:
    """Equal, NaN too, with equal types and facts."""
    if isinstance(first, str) or isinstance(second, str):
        return first == second
    assert first.schema.equals(second.schema, check_metadata=True)
    return all(a.to_pandas().equals(b.to_pandas()) for a, b in zip(first.columns, second.columns, strict=True))


@pytest.mark.parametrize("size", [1, 7, 30, 200])
@pytest.mark.parametrize("case", AWKWARD)
def test_pieces_give_the_same_table_or_sentence_as_the_whole(case, size, in_pieces):
    expected = result(AWKWARD[case].encode())
    in_pieces(size)
    assert same(result(AWKWARD[case].encode()), expected) and same(result(mapped(AWKWARD[case].encode())), expected)


@pytest.mark.parametrize("code", ["utf-16", "cp1252", "utf-8-sig"])
def test_a_mapped_file_in_any_encoding_is_the_same(code, in_pieces, monkeypatch):
    data = f"Größe,Zahl\n{LINES}\nä,1\n".encode(code)
    expected = result(data)
    in_pieces(20)
    monkeypatch.setattr(encoding, "_BLOCK", 3)
    assert isinstance(expected, pa.Table) and same(result(mapped(data)), expected)


def test_random_cells_are_the_same_in_pieces(in_pieces):
    rng = np.random.default_rng(0)
    kinds_of_cells = '0|17|2.5||NA|x|"a,b"|"a\nb"|true|1,5|0x1|2020-01-01|-3|2020-01-01T00:00:00Z'
    cells = np.array(kinds_of_cells.split("|"), object)
    for _ in range(60):
        pool = [rng.choice(cells, rng.integers(1, 4)) for _ in range(3)]
        rows = [",".join(rng.choice(kinds) for kinds in pool) for _ in range(30)]
        data = "\n".join(["p,q,r", *rows]).encode()
        in_pieces(1 << 24)
        expected = result(data)
        in_pieces(int(rng.integers(1, 80)))
        assert same(result(data), expected)


@pytest.mark.parametrize("case", AWKWARD)
def test_narrow_numbers_are_the_same_numbers(case, in_pieces, monkeypatch):
    expected = result(AWKWARD[case].encode())
    in_pieces(10)
    monkeypatch.setattr("disco.table.formats.text.FROM_CELLS", 0)
    narrow = result(AWKWARD[case].encode())
    if isinstance(expected, str):
        assert narrow == expected
        return
    for first, second in zip(expected.columns, narrow.columns, strict=True):
        if pa.types.is_integer(first.type) and case not in CONVERTED:
            cells = [cell for cell in first.to_pylist() if cell is not None]
            is_narrow = -(2**31) <= min(cells) and max(cells) < 2**31
            assert second.type == (pa.int32() if is_narrow else pa.int64())
        assert first.to_pandas().equals(second.cast(first.type).to_pandas())


def test_parquet_is_the_same_in_pieces(monkeypatch):
    frame = pd.DataFrame({"a": np.arange(100), "b": np.arange(100) / 2, "c": [f"t{i}" for i in range(100)]})
    frame["large"], frame["gaps"] = frame["a"] + 2**40, pd.array([None, 1] * 50, "Int64")
    frame["kind"] = pd.Categorical(["x", "y"] * 50)
    out = io.BytesIO()
    parquet.write_table(pa.Table.from_pandas(frame), out, row_group_size=17)
    expected = result(out.getvalue(), ".parquet")
    monkeypatch.setattr("disco.table.formats.parquet._PIECE_CELLS", 30)
    assert same(result(mapped(out.getvalue()), ".parquet"), expected)
    monkeypatch.setattr("disco.table.formats.parquet.FROM_CELLS", 0)
    narrow = result(out.getvalue(), ".parquet")
    assert [str(kind) for kind in narrow.schema.types] == ["int32", "double", "string", "int64", "int32", "string"]
    assert same(narrow.cast(expected.schema), expected)


def test_progress_is_told_and_stops_the_reading(tmp_path, small_table):
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,b\n" + b"123456789,123456789\n" * 1_200_000)
    events = []
    assert len(read_table(path, callback=events.append)) == 1_200_000
    assert [event.stage for event in events] == ["reading"] * len(events) and len(events) > 1
    assert events[-1].done == events[-1].total == 24 and events[0].progress < events[-1].progress == 1
    with pytest.raises(FitStopped, match="reading"):
        read_table(path, callback=lambda event: False)


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_table_that_does_not_fit_in_memory_is_refused_before_it_is_read(suffix, monkeypatch):
    table = pd.DataFrame(np.ones((1000, 4), int), columns=list("abcd"))
    out = io.BytesIO()
    (table.to_csv if suffix == ".csv" else table.to_parquet)(out, index=False)
    monkeypatch.setattr("psutil.virtual_memory", lambda: SimpleNamespace(available=60_000))
    for module in ("text.TextRows.parse", "parquet._in_pieces"):
        monkeypatch.setattr(f"disco.table.formats.{module}", lambda *arguments: pytest.fail("it was read"))
    with pytest.raises(NotATable, match=r"has about 1,00\d rows of 4 columns, 4,0\d\d cells.*Keep at most 500 rows."):
        parse(out.getvalue(), suffix)
    monkeypatch.setattr("psutil.virtual_memory", lambda: SimpleNamespace(available=99_990))
    with pytest.raises(NotATable, match="Keep at most 833 rows, or 3 of its columns."):
        parse(out.getvalue(), suffix)


def test_a_table_of_too_many_cells_is_refused(monkeypatch):
    monkeypatch.setattr("disco.table.formats.text.MOST_CELLS_IN_PIECES", 10)
    with pytest.raises(NotATable, match="about 6 rows of 2 columns, 12 cells; at most 10 are read"):
        parse(b"a,b\n" + b"1,2\n" * 5, ".csv")


def test_an_upload_is_not_copied_in_memory(monkeypatch, small_table):
    """An open file goes to the disk block by block."""
    sizes = []

    class Upload(io.BytesIO):
        def read(self, size: int = -1) -> bytes:
            sizes.append(size)
            return super().read(size)

    out = Upload()
    small_table.to_csv(out, index=False)
    pd.testing.assert_frame_equal(read_table(out, "t.csv"), small_table)
    assert sizes and 0 < max(sizes) <= 1 << 24 and min(sizes) > 0
    monkeypatch.setattr("disco.table.formats.limits.MOST_BYTES_IN_PIECES", 10)
    with pytest.raises(InputError, match="t.csv has 0 MB; the limit is 0 MB"):
        read_table(out, "t.csv")


def many_levels(rows: int = 120_000) -> pd.DataFrame:
    """Counts, a measure with a different value in nearly every row, and a number of the row, shuffled."""
    rng = np.random.default_rng(0)
    table = {"a": rng.poisson(3, rows), "b": rng.poisson(5, rows), "mass": rng.integers(0, 50_000_000, rows)}
    return pd.DataFrame({**table, "key": rng.permutation(rows)})


def test_a_column_with_as_many_levels_as_rows_is_said_with_what_to_do(tmp_path, capsys):
    table = many_levels()
    levels = table["mass"].nunique()
    assert 100_000 < levels < len(table)
    sentence = f'Column "mass" has {levels:,} different values in 120,000 rows: it is more a measurement than a count.'
    found = {problem.columns: problem for problem in problems(table)}
    assert found["mass",].message == sentence and found["key",].kind == "identifier" and len(found) == 2
    assert not any(problem.blocking for problem in found.values())
    assert not any('"mass"' in problem.message for problem in problems(table.head(90_000)))
    table.to_csv(tmp_path / "t.csv", index=False)
    assert main(["check", str(tmp_path / "t.csv")]) == 0
    assert f"Note: {sentence}" in capsys.readouterr().out


@pytest.mark.parametrize(
    "values", [[], [3.0, 3, 0, 7], [2.5, 1, 2.5], [np.nan, 1, 1], [-1.0, 2, 2], [1e9, 0, 0], [np.inf, 1], [0.0, 0], [5]]
)
def test_values_are_counted_as_by_sorting(values):
    values = np.array(values)
    for first, second in zip(value_counts(values), np.unique(values, return_counts=True), strict=True):
        assert np.array_equal(first, second, equal_nan=True) and first.dtype == second.dtype
