"""Packed files: the same table as unpacked; damaged and endless ones are a sentence."""

import bz2
import gzip
import io
import lzma

import pandas as pd
import pyarrow as pa
import pytest
from refusals import read

from disco.errors import InputError
from disco.table.formats import archive
from disco.table.formats.limits import NotATable
from disco.table.read import guessed

pytestmark = pytest.mark.usefixtures("in_process")

TEXT = "a,b\n" + "\n".join(f"{i},{i * 7 % 11}" for i in range(400)) + "\n"
PACK = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": lambda data: pa.compress(data, "zstd", asbytes=True),
}


def unpacked(data: bytes, ending: str, limit: int) -> bytes:
    with archive._unpacked(io.BytesIO(data), ending, len(data), limit, lambda share: None) as file:
        return file.read()


@pytest.mark.parametrize("ending", PACK)
def test_a_packed_file_is_the_same_table(ending):
    plain, pack = read(TEXT.encode(), "t.csv"), PACK[ending]
    result = read(pack(TEXT.encode()), f"t.csv{ending}")
    pd.testing.assert_frame_equal(result, plain)
    assert result.attrs == plain.attrs
    half = len(TEXT) // 2  # two packed files one after the other are the packed whole
    joined = pack(TEXT[:half].encode()) + pack(TEXT[half:].encode())
    assert unpacked(joined, ending, len(TEXT)) == TEXT.encode()


@pytest.mark.parametrize("name", ["t.TSV.GZ", "t.tab.gz"])
def test_every_kind_of_text_may_be_packed_and_read_otherwise(name):
    data = gzip.compress(TEXT.replace(",", "\t").encode())
    assert read(data, name, names=0, above=0, below=0).columns.tolist() == ["x1", "x2"]
    assert guessed(data, name)["separator"] == "\t" and guessed(data, "t.h5") is None and guessed(b"x", name) is None


@pytest.mark.parametrize("ending", PACK)
def test_a_damaged_packed_file_is_a_sentence(ending):
    data = PACK[ending](TEXT.encode())
    with pytest.raises(NotATable, match="^ is cut off: its packing has no end. Download or copy it again.$"):
        unpacked(data[:-9], ending, len(TEXT))
    with pytest.raises(NotATable, match="^ cannot be unpacked as .*: it is damaged, or its name should not end in"):
        unpacked(TEXT.encode(), ending, len(TEXT))
    with pytest.raises(InputError, match="^t.csv[.a-z0-9]* is empty: give a file"):
        read(b"", f"t.csv{ending}")


@pytest.mark.parametrize("ending", PACK)
def test_a_damaged_second_file_is_not_taken_for_the_end(ending):
    first, second = PACK[ending](TEXT[:99].encode()), bytearray(PACK[ending](TEXT[99:].encode()))
    second[1] ^= 0xFF
    for rest in (bytes(second), b"no packed file"):
        with pytest.raises(NotATable, match="^ cannot be unpacked as"):
            unpacked(first + rest, ending, len(TEXT))


@pytest.mark.parametrize("ending", [".gz", ".bz2", ".xz"])
def test_zeros_may_stand_between_packed_files_and_after_them(ending, monkeypatch):
    monkeypatch.setattr(archive, "_PACKED", 16)
    half = [PACK[ending](piece.encode()) for piece in (TEXT[:99], TEXT[99:])]
    assert unpacked(half[0] + bytes(40) + half[1] + bytes(80), ending, len(TEXT)) == TEXT.encode()


def test_a_packed_file_without_a_format_is_text_or_a_sentence():
    assert read(gzip.compress(b"a,b\n1,2\n"), "counts.gz")["b"].tolist() == [2]
    with pytest.raises(InputError, match="unknown format: give a text, or a file that ends in .csv"):
        read(gzip.compress(bytes(range(99))), "counts.gz")


@pytest.mark.parametrize("ending", PACK)
def test_unpacking_ends_at_the_limit(ending):
    data = PACK[ending](bytes(30_000_000))
    with pytest.raises(NotATable, match="unpacks to more than 10 MB"):
        unpacked(data, ending, 10_000_000)


def test_an_xz_file_that_asks_for_much_memory_gets_none(monkeypatch):
    """A dictionary of 4 GB, which the header of a small file declares."""
    monkeypatch.undo()  # in a process with a limit
    data = lzma.compress(
        TEXT.encode(), format=lzma.FORMAT_ALONE, filters=[{"id": lzma.FILTER_LZMA1, "dict_size": 4096}]
    )
    data = data[:1] + (2**32 - 1).to_bytes(4, "little") + data[5:]
    with pytest.raises(InputError, match="takes more than 1.5 GB of memory to read"):
        read(data, "t.csv.xz")
