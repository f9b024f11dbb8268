"""Packed files and archives are unpacked in pieces to the disk; no name from them is used as a path.

An archive with one table is read as that table. One with a matrix.mtx has cells and genes: `market`.
"""

import bz2
import errno
import gzip
import io
import lzma
import os
import re
import struct
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import PurePath, PurePosixPath
from typing import IO, Any, BinaryIO, cast

import pyarrow as pa

from disco.system import temporary_file
from disco.table.formats.catalogue import ARCHIVES, PACKINGS, TABLES, TEXT, most_bytes
from disco.table.formats.limits import MOST_MEMBERS, MOST_TABLES, NotATable
from disco.table.formats.reading import Report, silent

_SHORT = {".tgz": ".tar.gz", ".tbz2": ".tar.bz2", ".txz": ".tar.xz"}
_WORDS = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz", ".zst": "Zstandard"}
_BLOCK, _PACKED = 1 << 22, 1 << 13  # bytes unpacked at once, and packed: what follows a file is copied for the next one
_UNPACKING = (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError, pa.ArrowException)
DAMAGED = (*_UNPACKING, zipfile.BadZipFile, tarfile.TarError, KeyError, RuntimeError, struct.error)
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_MOST_NAMED = 5
LEAVE_OUT = "Leave it out, or write it like them. A sheet of samples is joined later (on Data, or by --samples)."
_LONGEST_END, _END, _NUMBER_AT = 65_557, b"PK\x05\x06", 10  # of a ZIP; where its number of files is
_MANY_FILES = 65_535  # stands for a number of files that is elsewhere
_NO_TABLE = re.compile(
    r"(readme|licen[cs]e|manifest|md5|checksum|changelog|filelist|citations|rights|multimedia|verbatim|annotations?\.)|.*(metadata|codebook|data_?dictionary)",
    re.IGNORECASE,
)
WORDS, VOCABULARY = (re.compile(rf"{what}(\..+)?\.txt", re.IGNORECASE) for what in ("docword", "vocab"))  # of UCI
_OF_SAMPLES = ("quant.genes.sf", "quant.sf", "abundance.tsv", "genes.results", "ReadsPerGene.out.tab")  # among others


def suffix_of(name: str) -> str:
    """The lower-case ending of a file's name that gives its format, with the ending of its packing: .csv.gz."""
    inner, packing = split(name.lower())
    ending = PurePath(inner).suffix
    return _SHORT.get(ending, ending) + packing


def split(name: str) -> tuple[str, str]:
    """A name without the ending of its packing, and that ending in lower case, or empty."""
    packing = next(filter(name.lower().endswith, PACKINGS), "")
    return name[: len(name) - len(packing)], packing


def inner_suffix(name: str) -> str:
    """The ending of a member's name that gives its format, without that of its packing."""
    return split(suffix_of(name))[0]


def stream_of(packed: IO[bytes], packing: str) -> IO[bytes]:
    """The content of a packed file, unpacked while it is read; it may raise any of `DAMAGED`."""
    if packing == ".gz":
        return cast(IO[bytes], gzip.open(packed))
    if packing == ".zst":
        return io.BufferedReader(cast(Any, pa.CompressedInputStream(pa.PythonFile(packed, "r"), "zstd")))
    return io.BufferedReader(_Members(packed, {".bz2": bz2.BZ2Decompressor, ".xz": lzma.LZMADecompressor}[packing]))


class _Members(io.RawIOBase):
    """The content of concatenated packed files; Python's own readers ignore an error in a later one."""

    def __init__(self, packed: IO[bytes], unpacker: Callable[[], Any]) -> None:
        self._packed, self._unpacker, self._member = packed, unpacker, unpacker()

    def readable(self) -> bool:
        return True

    def readinto(self, target: Any) -> int:
        data = b""
        while not data:
            is_between = self._member.eof
            rest = self._member.unused_data.lstrip(b"\0") if is_between else b""
            if not rest and (is_between or self._member.needs_input):
                rest = self._packed.read(_PACKED)
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


def _unpacked(packed: BinaryIO, packing: str, size: int, most: int, report: Report) -> BinaryIO:
    """The content of a packed file in a temporary file; `size` is its own, `most` the limit, in bytes."""
    target = temporary_file()
    try:
        _copy(stream_of(packed, packing), target, most, lambda: report(packed.tell() / size))
    except _UNPACKING as error:
        target.close()
        if isinstance(error, EOFError) or "Truncated" in str(error):
            raise NotATable(" is cut off: its packing has no end. Download or copy it again.") from None
        damaged = f" cannot be unpacked as {_WORDS[packing]}: it is damaged, or its name should not end in {packing}."
        raise NotATable(_no_room(error) or damaged) from None
    return target


def _copy(stream: IO[bytes], target: BinaryIO, most: int, step: Callable[[], None] = lambda: None) -> None:
    """Copy a stream into a file, in pieces, and rewind the file; NotATable if there are more bytes."""
    while block := stream.read(_BLOCK):
        if target.tell() + len(block) > most:
            raise NotATable(f" unpacks to more than {most / 1e6:,.0f} MB, the limit: give a smaller one.")
        target.write(block)
        step()
    target.seek(0)


def _no_room(error: Exception) -> str:
    """A clause that the disk is full; empty for another error."""
    if getattr(error, "errno", None) not in _NO_ROOM:
        return ""
    return f" needs more room to be unpacked than {tempfile.gettempdir()} has: free some, or set TMPDIR."


@dataclass(frozen=True)
class Archive:
    """The files of an archive by name, without folders, links and hidden files; `stored` opens one as it is stored."""

    members: dict[str, Any]
    stored: Callable[[Any], IO[bytes] | None]

    def open(self, name: str) -> IO[bytes]:
        """A file's content, unpacked if its name says that it is packed; NotATable if it needs a password."""
        member = self.members[name]
        if getattr(member, "flag_bits", 0) & 1:
            raise NotATable(f": {printable_end(name)} needs a password. Unpack it, and give the file itself.")
        stream, packing = cast(IO[bytes], self.stored(member)), split(name)[1]
        return stream_of(stream, packing) if packing else stream


def opened(source: BinaryIO, suffix: str) -> Archive:
    """The archive in a file, whose ending is one of `ARCHIVES`; NotATable if it is damaged, or has too many files."""
    entries: Sequence[Any]
    files: dict[str, Any]
    stored: Callable[[Any], IO[bytes] | None]
    source.seek(0)
    try:
        if suffix == ".tar":
            tar = tarfile.open(fileobj=source, mode="r:")
            entries, stored = list(islice(tar, MOST_MEMBERS + 1)), tar.extractfile
            if len(entries) <= MOST_MEMBERS:
                _check_end(source, tar.offset)
            files = {encodable(entry.name): entry for entry in entries if entry.isreg()}
        else:
            pack = zipfile.ZipFile(source)
            entries, stored = pack.infolist(), pack.open
            files = {entry.filename: entry for entry in entries if not entry.is_dir()}
            _check_number(source, len(entries))
            if len(files) < sum(not entry.is_dir() for entry in entries):
                raise zipfile.BadZipFile  # two files of one name
    except DAMAGED as error:
        raise NotATable(why(error)) from None
    if len(entries) > MOST_MEMBERS:
        raise NotATable(f" holds more than {MOST_MEMBERS:,} files: give the table alone.")
    # Files that a system such as macOS left there are hidden.
    visible = (name for name in files if "__MACOSX" not in name and not PurePosixPath(name).name.startswith("."))
    return Archive({name: files[name] for name in visible}, stored)


def _check_end(source: BinaryIO, at: int) -> None:
    """Refuse a tar that stops before a block of zeros: tarfile takes a damaged header for the end."""
    source.seek(at)
    block = source.read(tarfile.BLOCKSIZE)
    if not block:
        raise EOFError
    if block.strip(b"\0"):
        raise tarfile.ReadError


def _check_number(source: BinaryIO, entries: int) -> None:
    """Refuse a ZIP whose list of files is damaged, so that zipfile skips some."""
    source.seek(max(source.seek(0, os.SEEK_END) - _LONGEST_END, 0))
    end = source.read()
    at = end.rfind(_END) + _NUMBER_AT
    if int.from_bytes(end[at : at + 2], "little") not in (_MANY_FILES, entries % (_MANY_FILES + 1)):
        raise zipfile.BadZipFile


def why(error: Exception) -> str:
    """A clause why an archive, or a file in it, cannot be read."""
    if isinstance(error, EOFError) or "unexpected end" in str(error):
        return " is cut off: a file in it has no end. Download or copy it again."
    if isinstance(error, NotImplementedError):
        return " is packed in an unusual way, which is not read: unpack it, and pack it again as an ordinary ZIP."
    return _no_room(error) or " cannot be read, because the archive is damaged: download it or pack it again."


def printable_end(name: str) -> str:
    """The end of a member's name, for a sentence."""
    return "".join(letter if letter.isprintable() else "?" for letter in name[-60:])


def encodable(name: str) -> str:
    """A file's name with its bytes that are not UTF-8 as escapes, such as \\xff."""
    return name.encode(errors="surrogateescape").decode(errors="backslashreplace")


def unwrapped(source: BinaryIO, suffix: str, report: Report = silent) -> tuple[BinaryIO, str]:
    """A file without its packing, or the only table of an archive, and its ending; NotATable without a table.

    An archive with a matrix.mtx, or with several files of text, is returned as it is.
    """
    inner, packing = split(suffix)
    if not packing and inner not in ARCHIVES:
        return source, inner
    size = source.seek(0, os.SEEK_END)
    source.seek(0)
    if packing and size:
        return unwrapped(_unpacked(source, packing, size, most_bytes(inner), report), inner)
    if inner not in ARCHIVES or not size:
        return source, inner
    archive = opened(source, inner)
    names = [] if has_matrix(archive.members) else tables(archive.members)
    if len(names) != 1:
        return source, inner
    target, suffix = temporary_file(), inner_suffix(names[0])
    try:
        _copy(archive.open(names[0]), target, most_bytes(suffix))
    except DAMAGED as error:
        target.close()
        raise NotATable(why(error)) from None
    return target, suffix


def has_matrix(names: Iterable[str]) -> bool:
    """Whether a matrix.mtx or a bag of words is among some files."""
    return any(inner_suffix(name) == ".mtx" or is_called(name, WORDS) for name in names)


def is_called(name: str, pattern: re.Pattern) -> bool:
    """Whether a member's name, without its folder and its packing, matches a pattern."""
    return pattern.fullmatch(PurePosixPath(split(name)[0]).name) is not None


def tables(names: Iterable[str]) -> list[str]:
    """The files that hold the table, one of any format or several of text; NotATable if there are other tables.

    A file and its packed copy count once. Files that salmon, kallisto, RSEM and STAR write next to their counts are
    ignored.
    """
    names = sorted(names)
    members = [name for name in names if inner_suffix(name) in TABLES]
    members = [name for name in members if not _NO_TABLE.match(PurePosixPath(name).name)] or members
    check_case(members)
    members = list({split(name.lower())[0]: name for name in members}.values())
    for ending in _OF_SAMPLES:
        if len(of_samples := [name for name in members if split(name)[0].endswith(ending)]) > 1:
            members = of_samples
            break
    if len(members) > MOST_TABLES:
        raise NotATable(f" holds {len(members):,} tables; at most {MOST_TABLES:,} become one. Give fewer.")
    no_texts = [name for name in members if inner_suffix(name) not in TEXT]
    if len(members) == 1 or (members and not no_texts):
        return members
    if 0 < len(no_texts) < len(members) - 1:
        texts = len(members) - len(no_texts)
        odd = printable_end(no_texts[0])
        raise NotATable(f" holds {texts:,} files of text, and {odd}, which is none. {LEAVE_OUT}")
    raise NotATable(not_one(members, names))


def check_case(names: Sequence[str]) -> None:
    """NotATable if names of files differ in case alone, so that they would count as one."""
    first: dict[str, str] = {}
    for name in names:
        if (earlier := first.setdefault(name.lower(), name)) != name:
            pair = f"{printable_end(earlier)} and {printable_end(name)}"
            raise NotATable(f" holds {pair}, names that differ in case alone: rename one.")


def not_one(tables: list[str], names: list[str]) -> str:
    """A clause why files are not one table."""
    what = f"{len(tables):,} tables" if tables else "no table" if names else "no files"
    listed = ", ".join(printable_end(name) for name in (tables or names)[:_MOST_NAMED])
    listed += " …" if len(tables or names) > _MOST_NAMED else ""
    return (
        f" holds {what}{f': {listed}' if listed else ''}. Give one table, several of the same form, or the three files "
        "of a matrix.mtx."
    )
