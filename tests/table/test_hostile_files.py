"""Files made to do harm: each gives one sentence, and costs neither much memory nor much time."""

import gzip
import io
import json
import lzma
import os
import re
import signal
import socket
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from app_world import workbook
from refusals import is_a_sentence, read, refused

from disco.__main__ import main
from disco.errors import InputError
from disco.simulate import read_edges
from disco.table.counts import problems
from disco.table.formats import limits, text
from disco.table.formats.reading import DETECTED
from disco.table.read import guessed, read_table
from pages.simulate.form import parsed

ROWS = [["a", "b"], *([i % 5, i % 3] for i in range(30))]
HIDDEN = ("s", ROWS, "hidden"), ("u", ROWS, "veryHidden")
SHEET = "xl/worksheets/sheet1.xml"
NO_SHEETS = "xl/workbook.xml", b"<sheets>"
LAST_ROW = b'<row r="1048576">' + b"<c><v>1</v></c>" * 16384 + b"</row>"


def with_xml(addition: bytes, member: str = SHEET, marker: bytes = b"</sheetData>") -> bytes:
    """An ordinary workbook with something inserted into one of its parts."""
    out = io.BytesIO()
    source = zipfile.ZipFile(io.BytesIO(workbook(("s", ROWS))))
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as target:
        for name in source.namelist():
            data = source.read(name)
            target.writestr(name, data.replace(marker, addition + marker) if name == member else data)
    return out.getvalue()


def twice() -> bytes:
    """A workbook that packs its sheet twice."""
    out = io.BytesIO(workbook(("s", ROWS)))
    with zipfile.ZipFile(out, "a") as archive, pytest.warns(UserWarning, match="Duplicate name"):
        archive.writestr(SHEET, b"<x/>")
    return out.getvalue()


def cell(reference: str) -> bytes:
    return f'<row><c r="{reference}" t="inlineStr"><is><t> </t></is></c></row>'.encode()


def as_parquet(table: pa.Table) -> bytes:
    out = io.BytesIO()
    parquet.write_table(table, out)
    return out.getvalue()


def as_pandas_wrote(metadata: str) -> bytes:
    return as_parquet(pa.table({"a": [1, 2]}).replace_schema_metadata({"pandas": metadata}))


def many_texts() -> pa.Table:
    """Ten thousand cells of a million characters each, stored once."""
    codes = pa.array(np.zeros(10_000, dtype="int32"))
    return pa.table({"a": pa.DictionaryArray.from_arrays(codes, pa.array(["x" * 1_000_000])), "b": codes})


# Kind of file, content, and a part of the sentence.
HOSTILE = {
    "far cell": (".xlsx", lambda: with_xml(cell("XFD1048576")), "a range of 17,179,869,184 cells"),
    "space far away": (".xlsx", lambda: with_xml(cell("KN200000")), "reach row 200,000 and column 300"),
    "prefixed cell": (".xlsx", lambda: with_xml(b"<x:c s='1' r = 'XFD1048576'>"), "a range of 17,179,869,184 cells"),
    "huge reference": (".xlsx", lambda: with_xml(cell("ZZZZZZZZZZ99999999999999")), "beyond row 1,048,576"),
    "cells without reference": (".xlsx", lambda: with_xml(LAST_ROW), "takes more than 1.5 GB of memory"),
    "no sheets": (".xlsx", lambda: with_xml(b"<", *NO_SHEETS), "as a workbook of Excel or OpenDocument: "),
    "password": (".xlsx", lambda: b"\xd0\xcf\x11\xe0" + bytes(600), "is damaged, needs a password, or is older than"),
    "cut workbook": (".xlsx", lambda: workbook(("s", ROWS))[:900], "it is damaged, incomplete, or of a kind"),
    "cut Parquet": (".parquet", lambda: as_parquet(pa.table({"a": [1]}))[:-9], "as Parquet: it is damaged, incomplete"),
    "a workbook as text": (".csv", lambda: workbook(("s", ROWS)), "or a document, and its name should not"),
    "Parquet as HDF5": (".h5", lambda: as_parquet(pa.table({"a": [1]})), "rename it to end in .parquet."),
    "gzip as text": (".tsv", lambda: gzip.compress(b"a,b\n1,2\n"), "is packed by gzip, and its name should not end in"),
    "xz as gzip": (".csv.gz", lambda: lzma.compress(b"a,b\n1,2\n"), ".csv.gz: rename it to end in .xz."),
    "a column PAR1": (".csv", lambda: b"PAR1,b\n1\n", "row 1: the row has 1 cell"),
    "a file twice": (".xlsx", twice, "it is damaged, incomplete, or of a kind"),
    "hidden alone": (".xlsx", lambda: workbook(*HIDDEN, ("t", [])), "only on hidden sheets"),
    "list column": (".parquet", lambda: as_parquet(pa.table({"a": [[1], [2]]})), 'column "a" hold several values'),
    "struct column": (".parquet", lambda: as_parquet(pa.table({"a": [{"b": 1}]})), 'column "a" hold several values'),
    "bad pandas": (".parquet", lambda: as_pandas_wrote('{"x": 1}'), "metadata that pandas wrote"),
    "pandas in the deep": (".parquet", lambda: as_pandas_wrote("[" * 100_000), "metadata that pandas wrote"),
    "many texts": (".parquet", lambda: as_parquet(many_texts()), "takes more than 1.5 GB of memory"),
    "BOM alone": (".csv", lambda: b"\xef\xbb\xbf", " is empty: give a file"),
    "UTF-16 alone": (".csv", lambda: b"\xff\xfe", " is empty: give a file"),
    "UTF-16 unmarked": (".csv", lambda: "a,b\n1,2\n".encode("utf-16-le"), "holds NUL bytes"),
    "half of UTF-16": (".csv", lambda: b"\xff\xfea\0,", "is not UTF-8 text"),
    "million commas": (".csv", lambda: b"," * 1_000_000 + b"\n1\n", "1,000,001 columns; at most 10,000"),
    "commas below": (".csv", lambda: b"a,b\n" + b"," * 900_000, "row 1: the row has 900001 cells"),
    "wide": (".csv", lambda: b"x," * 100_000 + b"\n" + b"1," * 100_000, "100,001 columns; at most 10,000"),
    "endless name": (".csv", lambda: b'"' + b"x" * 5_000_001 + b'"', "cannot be read as names"),
    "no end of a quote": (".csv", lambda: b'"' + b"x\n" * 5_000_001, ", line 1, character 1: a quote opens there"),
    "no letters": (".csv", lambda: b"a,b\n1,\x9d\n", "is not UTF-8 text"),
    "control characters": (".csv", lambda: b"a,b\n\x02\xe9,1\n", "is not UTF-8 text"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_file_costs_one_sentence(case, request):
    """Read in a process of its own only where the limit of its memory is what refuses the file."""
    suffix, content, sentence = HOSTILE[case]
    if "of memory" not in sentence:
        request.getfixturevalue("in_process")
    with pytest.raises(InputError) as error:
        read(content(), f"bad{suffix}")
    assert sentence in str(error.value) and str(error.value).startswith("bad") and is_a_sentence(str(error.value))


@pytest.mark.parametrize("kind", ["workbook", "parquet"])
def test_a_file_that_unpacks_to_too_much_is_refused_before_it_is_unpacked(kind, monkeypatch):
    content = workbook(("s", ROWS)) if kind == "workbook" else as_parquet(pa.table({"a": range(1000)}))
    name = "MOST_UNPACKED" if kind == "workbook" else "MOST_UNPACKED_IN_PIECES"
    module, suffix = ("workbook_xml", ".xlsx") if kind == "workbook" else (kind, ".parquet")
    monkeypatch.setattr(f"disco.table.formats.{module}.{name}", 1000)
    refused(content, suffix, "unpacks to 0 MB; the limit is 0 MB")


def odd(path: Path, what: str) -> Path:
    """A path that is not a readable file."""
    if what == "pipe":
        os.mkfifo(path)
    elif what == "folder":
        path.mkdir()
    elif what == "socket":
        socket.socket(socket.AF_UNIX).bind(str(path))
    elif what == "device":
        path.symlink_to("/dev/zero")
    elif what == "file":  # larger than any disk would give
        with path.open("wb") as file:
            file.truncate(10**12)
    elif what == "link":
        path.symlink_to(path)
    return path


@pytest.mark.parametrize("what", ["pipe", "folder", "socket", "device", "file", "link", "missing"])
@pytest.mark.parametrize(
    "command",
    [
        *("fit {} --out {}", "evaluate --truth {} --edges {}", "simulate --edges {} --out {}"),
        "simulate --design {} --out {}",
    ],
)
def test_only_regular_files_are_read(what, command, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)  # a socket's path is short
    path = odd(Path("x.csv"), what)
    assert main(command.format(path, tmp_path / "out").split()) == 2
    printed = capsys.readouterr()
    assert "x.csv" in printed.err and len(printed.err.splitlines()) == 1 and not (tmp_path / "out").exists()


def test_an_open_file_without_end_is_not_read_whole(monkeypatch):
    monkeypatch.setattr("disco.table.formats.limits.MOST_BYTES_IN_PIECES", 1000)
    with open("/dev/zero", "rb") as file, pytest.raises(InputError, match="the limit is 0 MB"):
        read_table(file, "zero.csv")


@pytest.mark.parametrize(
    ("script", "sentence"),
    [
        ("import sys; sys.exit(1)", "crashes its reader"),
        ("import os; os.abort()", "takes more than 1.5 GB"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "crashes its reader"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGXCPU)", "takes longer than"),
        ("import sys; sys.stdout.write('no stream')", "crashes its reader"),
        ("import time; time.sleep(60)", "takes longer than"),
    ],
)
def test_whatever_ends_the_process_is_a_sentence(script, sentence, monkeypatch):
    begin = subprocess.Popen
    monkeypatch.setattr(limits, "MOST_WAIT", 0.5 if "sleep" in script else 60)
    monkeypatch.setattr(
        subprocess, "Popen", lambda command, **options: begin([sys.executable, "-c", script], **options)
    )
    with pytest.raises(InputError, match=sentence):
        read(workbook(("s", ROWS)), "t.xlsx")


def test_the_process_is_limited_before_it_reads():
    code = (
        "import resource, sys; sys.argv = ['x', '.csv']; from disco.table.formats import __main__ as it; it.main();"
        "print([resource.getrlimit(what)[0] for what in (resource.RLIMIT_DATA, resource.RLIMIT_CPU)], file=sys.stderr)"
    )
    ended = subprocess.run([sys.executable, "-c", code], input=b"", capture_output=True, check=True, timeout=300)
    assert json.loads(ended.stderr) == [limits.MOST_MEMORY, limits.MOST_SECONDS]
    assert -signal.SIGXCPU < 0  # the signal that _why takes for a lack of time exists here


def test_cells_without_references_are_read_one_after_the_other():
    with zipfile.ZipFile(io.BytesIO(workbook(("counts", ROWS)))) as book:
        members = {name: book.read(name) for name in book.namelist()}
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as book:
        for name, member in members.items():
            book.writestr(name, re.sub(rb' r="[A-Z]*[0-9]+"', b"", member) if "/worksheets/" in name else member)
    result, expected = read_table(out, "t.xlsx"), read(workbook(("counts", ROWS)), "t.xlsx")
    pd.testing.assert_frame_equal(result, expected)


def test_formatted_cells_without_content_are_no_range():
    table = read(with_xml(b'<row r="1048576"><c r="XFD1048576" s="1"/></row>'), "t.xlsx")
    assert table.shape == (30, 2)


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (pa.array(["1.0", "2.00"]).cast(pa.decimal128(9, 2)), "int64"), (pa.array([b"x", b"y"]), "str"),
        (pa.array(["a", "b"]).dictionary_encode(), "str"), (pa.array([1, 2]).dictionary_encode(), "int64"),
        (pa.array([1, 2], pa.date32()), "datetime64[s]"), (pa.array([1, 2], pa.time32("s")), "str"),
        (pa.array([1, 2], pa.uint8()), "uint8"),
    ],
)  # fmt: skip # a table
def test_a_parquet_column_of_any_kind_is_plain(cells, kind):
    result = read(as_parquet(pa.table({"a": cells})), "t.parquet")["a"]
    assert len(result) == 2 and (str(result.dtype) == kind or (kind == "str" and result.map(type).eq(str).all()))


@pytest.mark.parametrize("spelling", ["0x10", "0X1f", " 0x10"])
def test_hexadecimal_is_text_named_with_column_and_row(spelling):
    body = "b,bad\n" + "1,2\n3,4\n0,1\n" * 5 + f"1,{spelling}\n"
    table = read(body)
    (result,) = [problem for problem in problems(table) if problem.blocking]
    assert result.message == f'Column "bad", row 16: "{spelling}" is text, not a number.'
    assert result.remedy == "Hexadecimal numbers are not read: write them in decimal digits."
    assert table["b"].dtype == "int64"


@pytest.mark.parametrize(("spelling", "value"), [("1e1", 10), ("+5", 5), (" 5 ", 5), ("007", 7), ("3.0", 3), ("-0", 0)])
def test_other_spellings_of_a_count_are_counts(spelling, value):
    table = read("a,b\n" + "1,2\n" * 3 + f"{spelling},1\n")
    assert table["a"].tolist() == [1, 1, 1, value]


@pytest.mark.parametrize("spelling", ["1_000", "٣", "0b1", "1f", "1 00", "10,00,0", "0x1p3"])
def test_other_spellings_are_text(spelling):
    table = read("a;b\n" + "1;2\n" * 12 + f"{spelling};1\n")
    assert f'row 13: "{spelling}" is text, not a number.' in [problem.message for problem in problems(table)][0]


def test_line_ends_may_be_mixed_and_blank_lines_are_no_rows():
    table = read(b"\r\na,b\r1,2\n\n3,4\r\n\r5,6")
    assert table.to_numpy().tolist() == [[1, 2], [3, 4], [5, 6]]
    assert text.read(b"a,b\n" + b"\n" * 1000, DETECTED).num_rows == 0


@pytest.mark.parametrize("command", ["fit {} --out {}", "refine --counts {} --out {}"])
def test_the_command_line_tells_what_the_app_notes(command, tmp_path, capsys):
    flags = [["f", "g"], *([i % 2 == 0, i % 4] for i in range(30))]
    (tmp_path / "t.xlsx").write_bytes(workbook(("secret", ROWS, "hidden"), ("shown", flags)))
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "taken").touch()
    assert main(command.format(tmp_path / "t.xlsx", tmp_path / "out").split()) == 2
    notes = capsys.readouterr().err.splitlines()
    assert notes[0].startswith('Note: Only the sheet "shown" was read; the other is secret (hidden).')
    assert notes[1].startswith('Note: Column "f" holds true and false: they are read as 1 and 0.')
    assert len(notes) == 3 and notes[2].startswith("disco: ")


def nested(depth: int) -> bytes:
    return b'{"edges": ' + b"[" * depth + b"]" * depth + b"}"


@pytest.mark.parametrize(
    "content",
    [
        nested(100_000), b"", b"\xff\xfe", b"[]", b"null", b'{"nodes": ' + b"9" * 5000 + b"}", b'{"k": 1e999}',
        b'{"k": ' + b"9" * 400 + b"}", b'{"graph": ["er"]}', b'{"graph": {}}', b'{"names": [[1], {}]}',
        b'{"seed": NaN}', b'{"parameters": {"source": "x"}}', b'{"parameters": {"source": []}}', b'{"family": 3}',
        b'{"family": {}}', b'{"graph": "own", "edges": "ab"}', b'{"graph": "own", "edges": {"ab": 1, "ba": 2}}',
        b'{"rows": true}', b"\0", b'{"graph": "own", "edges": [["a", "b"]], "names": 5}', b'{"names": {"a": 1}}',
        b'{"\\ud800": 1}',
    ],
)  # fmt: skip # a table
def test_a_hostile_design_is_one_sentence(content, tmp_path, capsys):
    with pytest.raises(InputError):
        parsed(content)
    path = tmp_path / "design.json"
    path.write_bytes(content)
    assert main(["simulate", "--design", str(path), "--out", str(tmp_path / "out")]) == 2
    printed = capsys.readouterr().err
    assert printed.startswith("disco: ") and len(printed.splitlines()) == 1 and len(printed) < 1000


@pytest.mark.parametrize(
    "content",
    [
        "<graphml" + "<a>" * 50_000, "<graphml><graph edgedefault='directed'><edge/></graph></graphml>", "<a/>",
        "a,b\n" * 500_001, " " * 1_000_000 + "x", '"' * 1001, "a,b\n" + "x" * 200_000 + ",y", "\0,\0", "->", ",,,,\n",
        "parent,child\n,",
    ],
)  # fmt: skip # a table
def test_a_hostile_graph_is_one_sentence(content):
    with pytest.raises(InputError) as error:
        read_edges(content)
    assert len(str(error.value)) < 500


@pytest.mark.parametrize(
    "make",
    [
        lambda: b"\xef\xbb\xbf", lambda: b"parent,child\n1,\xff\n", lambda: b"parent,child,parent\na,b,c\n",
        lambda: b"parent,child\n" * 2 + b"a\n", lambda: b"\0" * 10, lambda: b"," * 100_000,
        lambda: b"parent,child,node,position\n" + b"".join(b"x%d,x%d,x%d,1\n" % (i, i + 1, i) for i in range(5001)),
    ],
)  # fmt: skip # a table
@pytest.mark.parametrize("option", ["--truth", "--edges", "--order"])
def test_a_hostile_list_of_names_is_one_sentence(make: Callable[[], bytes], option, tmp_path, capsys):
    (tmp_path / "good.csv").write_text("parent,child,node,position\na,b,a,1\n")
    (tmp_path / "bad.csv").write_bytes(make())
    files = dict.fromkeys(("--truth", "--edges"), "good.csv") | {option: "bad.csv"}
    words = [word for name, file in files.items() for word in (name, str(tmp_path / file))]
    assert main(["evaluate", *words]) == 2
    assert "bad.csv" in (printed := capsys.readouterr().err) and len(printed.splitlines()) == 1


MAGIC = {b"PK\x03\x04": "a workbook", b"%PDF-1.7": "a PDF", b"\xd0\xcf\x11\xe0": "an old", b"\x1f\x8b": "packed"}


@pytest.mark.parametrize("begin", MAGIC)
def test_files_of_other_kinds_called_csv_are_named(begin):
    data = begin + bytes(range(256)) * 4
    for content in (data, begin + b"a\0b"):
        with pytest.raises(InputError, match=f"^t.csv is {MAGIC[begin]}"):
            read(content)
    assert guessed(data, "t.csv") is None
