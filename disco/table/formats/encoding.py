"""The encoding of a text: UTF-8, UTF-16 with a byte-order mark, or else Windows-1252."""

import codecs
import re

from disco.table.formats.limits import NotATable
from disco.table.formats.reading import ENCODINGS

EMPTY = " is empty: give a file with names in its first row and values below them."
NO_TEXT = " is not UTF-8 text: save it as CSV UTF-8 and load it again."
_PIECE = 1 << 22  # bytes
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_CONTROL = re.compile(rb"[\x01-\x08\x0b\x0e-\x1f]")  # in no text


def as_utf8(data: bytes, encoding: str | None) -> tuple[bytes, str, list[str]]:
    """The text as UTF-8 without a mark, its encoding, and a note if that was a guess.

    Args:
        encoding: a key of `ENCODINGS`; None to detect it.

    Raises:
        NotATable: it is empty, or not text of this encoding.
    """
    notes = []
    if encoding is None:
        encoding = _detected(data)
        if encoding == "cp1252":
            notes = ["The file is not UTF-8 and was read as Windows-1252. If a name looks wrong, choose its encoding."]
    try:
        if encoding == "utf-8":
            _check(data, encoding)
        else:
            data = data.decode(encoding).encode()
    except UnicodeError:
        if encoding == "utf-8" or data.startswith(_UTF16):
            raise NotATable(NO_TEXT) from None
        raise NotATable(f" is not text in {ENCODINGS[encoding]}: choose another encoding.") from None
    data = data.removeprefix(codecs.BOM_UTF8)
    if not data.strip():
        raise NotATable(EMPTY)
    if b"\0" in data:
        raise NotATable(" holds NUL bytes, so it is not text: save it as CSV UTF-8 and load it again.")
    return data, encoding, notes


def _detected(data: bytes) -> str:
    """The encoding of a text.

    Raises:
        NotATable: it cannot be detected.
    """
    if data.startswith(_UTF16):
        return "utf-16"
    for encoding in ("utf-8", "cp1252"):
        try:
            _check(data, encoding)
        except UnicodeDecodeError:
            continue
        if encoding == "cp1252" and b"\0" not in data and _CONTROL.search(data):
            break
        return encoding
    raise NotATable(NO_TEXT)


def _check(data: bytes, encoding: str) -> None:
    """Raise UnicodeDecodeError unless all of it is text of this encoding; piece by piece, which takes little memory."""
    decoder = codecs.getincrementaldecoder(encoding)()
    for start in range(0, len(data), _PIECE):
        decoder.decode(data[start : start + _PIECE])
    decoder.decode(b"", final=True)
