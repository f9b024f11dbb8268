"""Files packed by gzip, bzip2, xz or Zstandard, which are unpacked in pieces to the disk."""

import bz2
import errno
import gzip
import lzma
import tempfile
import zlib
from collections.abc import Callable
from pathlib import PurePath
from typing import IO, Any, BinaryIO, cast

import pyarrow as pa

from disco.table.formats.limits import PACKINGS, NotATable
from disco.table.formats.pieces import Heard

_SHORT = {".tgz": ".tar.gz", ".tbz2": ".tar.bz2", ".txz": ".tar.xz"}
_BLOCK = 1 << 22  # bytes
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
    if packing == ".zst":
        return cast(IO[bytes], pa.CompressedInputStream(pa.PythonFile(packed, "r"), "zstd"))
    unpackers: dict[str, Callable[[IO[bytes]], Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
    return cast(IO[bytes], unpackers[packing](packed))


def unpacked(packed: BinaryIO, packing: str, size: int, most: int, heard: Heard) -> BinaryIO:
    """The content of a packed file, in a temporary file.

    Args:
        size: of the packed file, in bytes.
        most: bytes of its content.
        heard: told the share that has been unpacked.

    Raises:
        NotATable: it is damaged, cut off, not packed in this way, or unpacks to too much.
    """
    target = tempfile.TemporaryFile()
    try:
        stream = stream_of(packed, packing)
        while block := stream.read(_BLOCK):
            if target.tell() + len(block) > most:
                raise NotATable(f" unpacks to more than {most / 1e6:,.0f} MB, the limit: give a smaller one.")
            target.write(block)
            heard(packed.tell() / size)
        target.flush()
    except DAMAGED as error:
        target.close()
        raise NotATable(why(error, packing)) from None
    target.seek(0)
    return target


def why(error: Exception, packing: str) -> str:
    """Why a packed file cannot be unpacked, as the rest of a sentence."""
    if getattr(error, "errno", None) in _NO_ROOM:
        return f" needs more room to be unpacked than {tempfile.gettempdir()} has: free some, or set TMPDIR."
    if isinstance(error, EOFError) or "Truncated" in str(error):
        return " is cut off: its packing has no end. Download or copy it again."
    name = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz", ".zst": "Zstandard"}[packing]
    return f" cannot be unpacked as {name}: it is damaged, or its name should not end in {packing}."
