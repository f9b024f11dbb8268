"""The encoding of a text: UTF-8, UTF-16 with a byte-order mark, or else Windows-1252."""

import codecs
import mmap
import re
import tempfile
from collections.abc import Iterator

from disco.table.formats.limits import NotATable
from disco.table.formats.reading import ENCODINGS, Text

EMPTY = " is empty: give a file with names in its first row and values below them."
NO_TEXT = (
    " is not UTF-8 text: save it as CSV UTF-8, or choose its encoding (on Data, or by --read encoding=shift-jis or "
    "another)."
)
_NUL = " holds NUL bytes, so it is not text: save it as CSV UTF-8 and load it again."
NO_TEXTS = (NO_TEXT, _NUL)
_BLOCK = 1 << 22  # bytes
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_CONTROL = re.compile(rb"[\x01-\x08\x0b\x0e-\x1f]")  # in no text


def as_utf8(data: Text, encoding: str | None) -> tuple[Text, str, list[str]]:
    """The text as UTF-8 without a mark, its encoding, and a note if that was a guess; NotATable if it is wrong.

    Args:
        encoding: a key of `ENCODINGS`; None to detect it.
    """
    notes, is_detected = [], encoding is None
    if encoding is None:
        encoding = _detected(data)
        if encoding == "cp1252":
            notes = ["The file is not UTF-8 and was read as Windows-1252. If a name looks wrong, choose its encoding."]
    try:
        if encoding == "utf-8" and not is_detected:
            _check(data, encoding)
        data = _recoded(data, encoding)
    except UnicodeError:
        if encoding == "utf-8" or data[:2] in _UTF16:
            raise NotATable(NO_TEXT) from None
        raise NotATable(f" is not text in {ENCODINGS[encoding]}: choose another encoding.") from None
    if not re.search(rb"\S", data):
        raise NotATable(EMPTY)
    if data.find(b"\0") >= 0:
        raise NotATable(_NUL)
    return data, encoding, notes


def blocks(data: Text, start: int = 0) -> Iterator[bytes]:
    """The text from an offset on, in blocks."""
    return (data[at : at + _BLOCK] for at in range(start, len(data), _BLOCK))


def _recoded(data: Text, encoding: str) -> Text:
    """The text in UTF-8 without a mark: a mapped file stays one, as a temporary file if it must change."""
    if encoding == "utf-8":
        if data[:3] != codecs.BOM_UTF8:
            return data
        encoding = "utf-8-sig"
    if isinstance(data, bytes):
        return data.decode(encoding).encode().removeprefix(codecs.BOM_UTF8)
    with tempfile.TemporaryFile() as file:
        for block in codecs.iterdecode(blocks(data), encoding):
            file.write((block if file.tell() else block.removeprefix("\ufeff")).encode())
        file.flush()
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if file.tell() else b""


def _detected(data: Text) -> str:
    if data[:2] in _UTF16:
        return "utf-16"
    for encoding in ("utf-8", "cp1252"):
        try:
            _check(data, encoding)
        except UnicodeDecodeError:
            continue
        if encoding == "cp1252" and data.find(b"\0") < 0 and _CONTROL.search(data):
            break
        return encoding
    raise NotATable(NO_TEXT)


def _check(data: Text, encoding: str) -> None:
    """UnicodeDecodeError unless all of it is text of this encoding."""
    decoder = codecs.getincrementaldecoder(encoding)()
    for block in blocks(data):
        decoder.decode(block)
    decoder.decode(b"", final=True)
