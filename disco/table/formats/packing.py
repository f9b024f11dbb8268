"""Files packed by gzip, bzip2, xz or Zstandard, which are unpacked in pieces to the disk."""

import bz2
import errno
import gzip
import io
import lzma
import tempfile
import zlib
from collections.abc import Callable
from pathlib import PurePath
from typing import IO, Any, BinaryIO, cast

import pyarrow as pa

from disco.system import temporary_file
from disco.table.formats.limits import PACKINGS, NotATable
from disco.table.formats.pieces import Heard

_SHORT = {".tgz": ".tar.gz", ".tbz2": ".tar.bz2", ".txz": ".tar.xz"}
_WORDS = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz", ".zst": "Zstandard"}
_BLOCK, _PART = 1 << 22, 1 << 13  # bytes unpacked at once, and packed: what follows a file is copied for the next one
DAMAGED = (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError, pa.ArrowException)
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def suffix_of(name: str) -> str:
    """The ending of a file's name that gives its format, in lower case, with the ending of its packing: .csv.gz."""
    inner, packing = split(name.lower())
    ending = PurePath(inner).suffix
    return _SHORT.get(ending, ending) + packing


def split(name: str) -> tuple[str, str]:
    """A name, or a suffix, without the ending of its packing, and that ending; empty if it is not packed."""
    packing = next(filter(name.endswith, PACKINGS), "")
    return name.removesuffix(packing), packing


def stream_of(packed: IO[bytes], packing: str) -> IO[bytes]:
    """The content of a packed file, unpacked while it is read; it may raise any of the unpackers' errors."""
    if packing == ".gz":
        return cast(IO[bytes], gzip.open(packed))
    if packing == ".zst":
        return io.BufferedReader(cast(Any, pa.CompressedInputStream(pa.PythonFile(packed, "r"), "zstd")))
    return io.BufferedReader(_Members(packed, {".bz2": bz2.BZ2Decompressor, ".xz": lzma.LZMADecompressor}[packing]))


class _Members(io.RawIOBase):
    """The content of packed files one after the other; Python's own readers end in silence where a later one is bad."""

    def __init__(self, packed: IO[bytes], unpacker: Callable[[], Any]) -> None:
        self._packed, self._unpacker, self._member = packed, unpacker, unpacker()

    def readable(self) -> bool:
        return True

    def readinto(self, target: Any) -> int:
        """Fill the target; may raise any of the unpackers' errors."""
        data = b""
        while not data:
            is_between = self._member.eof
            rest = self._member.unused_data.lstrip(b"\0") if is_between else b""
            if not rest and (is_between or self._member.needs_input):
                rest = self._packed.read(_PART)
                if not rest and not is_between:
                    raise EOFError
                if not rest:
                    return 0
            if is_between and not (rest := rest.lstrip(b"\0")):  # zeros, which may stand between and at the end
                continue
            self._member = self._unpacker() if is_between else self._member
            data = self._member.decompress(rest, len(target))
        target[: len(data)] = data
        return len(data)


def unpacked(packed: BinaryIO, packing: str, size: int, most: int, heard: Heard) -> BinaryIO:
    """The content of a packed file, in a temporary file.

    Args:
        size: of the packed file, in bytes.
        most: bytes of its content.
        heard: told the share that has been unpacked.

    Raises:
        NotATable: it is damaged, cut off, not packed in this way, or unpacks to too much.
    """
    target = temporary_file()
    try:
        copy(stream_of(packed, packing), target, most, lambda: heard(packed.tell() / size))
    except DAMAGED as error:
        target.close()
        if isinstance(error, EOFError) or "Truncated" in str(error):
            raise NotATable(" is cut off: its packing has no end. Download or copy it again.") from None
        damaged = f" cannot be unpacked as {_WORDS[packing]}: it is damaged, or its name should not end in {packing}."
        raise NotATable(no_room(error) or damaged) from None
    return target


def copy(stream: IO[bytes], target: BinaryIO, most: int, step: Callable[[], None] = lambda: None) -> None:
    """Copy a stream into a file, in pieces, and rewind the file; may raise any of `DAMAGED`.

    Args:
        most: bytes.
        step: called after every piece.

    Raises:
        NotATable: there are more bytes.
    """
    while block := stream.read(_BLOCK):
        if target.tell() + len(block) > most:
            raise NotATable(f" unpacks to more than {most / 1e6:,.0f} MB, the limit: give a smaller one.")
        target.write(block)
        step()
    target.seek(0)


def no_room(error: Exception) -> str:
    """That the disk is full, as the rest of a sentence; empty if the error says something else."""
    if getattr(error, "errno", None) not in _NO_ROOM:
        return ""
    return f" needs more room to be unpacked than {tempfile.gettempdir()} has: free some, or set TMPDIR."
