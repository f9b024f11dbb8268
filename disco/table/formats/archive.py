"""ZIP and tar archives: their files are read where they are, and nothing is written under a name from an archive.

An archive with one table is read as that table. One with a matrix.mtx has cells and genes: `market`.
"""

import os
import re
import struct
import tarfile
import zipfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import PurePosixPath
from typing import IO, Any, BinaryIO, cast

from disco.system import temporary_file
from disco.table.formats import packing
from disco.table.formats.limits import ARCHIVES, MOST_MEMBERS, MOST_TABLES, TABLES, TEXT, NotATable, most_bytes
from disco.table.formats.pieces import Heard

MATRIX = ".mtx"
_MOST_NAMED = 5
LEAVE_OUT = "Leave it out, or write it like them. A sheet of samples is joined later (on Data, or by --samples)."
_LONGEST_END, _END, _NUMBER_AT = 65_557, b"PK\x05\x06", 10  # of a ZIP; where its number of files is
_MANY = 65_535  # stands for a number of files that is elsewhere
_ASIDE = re.compile(  # no tables
    r"(readme|licen[cs]e|manifest|md5|checksum|changelog|filelist|citations|rights|multimedia|verbatim|annotations?\.)|.*(metadata|codebook|data_?dictionary)",
    re.IGNORECASE,
)
WORDS, VOCABULARY = (re.compile(rf"{what}(\..+)?\.txt", re.IGNORECASE) for what in ("docword", "vocab"))  # of UCI
_OF_SAMPLES = ("quant.genes.sf", "quant.sf", "abundance.tsv", "genes.results", "ReadsPerGene.out.tab")  # among others
DAMAGED = (*packing.DAMAGED, zipfile.BadZipFile, tarfile.TarError, KeyError, RuntimeError, struct.error)


@dataclass(frozen=True)
class Archive:
    """The files of an archive.

    Attributes:
        members: name → what the library knows of it; without folders, links and hidden files.
        stored: opens one as it is stored.
    """

    members: dict[str, Any]
    stored: Callable[[Any], IO[bytes] | None]

    def open(self, name: str) -> IO[bytes]:
        """A file's content, unpacked if its name says that it is packed.

        Raises:
            NotATable: it needs a password.
        """
        found = self.members[name]
        if getattr(found, "flag_bits", 0) & 1:
            raise NotATable(f": {shown(name)} needs a password. Unpack it, and give the file itself.")
        stream, how = cast(IO[bytes], self.stored(found)), packing.split(name.lower())[1]
        return packing.stream_of(stream, how) if how else stream


def opened(source: BinaryIO, suffix: str) -> Archive:
    """The archive in a file, whose ending is one of `ARCHIVES`.

    Raises:
        NotATable: it is damaged, or has too many files.
    """
    entries: Sequence[Any]
    found: dict[str, Any]
    stored: Callable[[Any], IO[bytes] | None]
    source.seek(0)
    try:
        if suffix == ".tar":
            tar = tarfile.open(fileobj=source, mode="r:")
            entries, stored = list(islice(tar, MOST_MEMBERS + 1)), tar.extractfile
            if len(entries) <= MOST_MEMBERS:
                _check_end(source, tar.offset)
            found = {encodable(entry.name): entry for entry in entries if entry.isreg()}
        else:
            pack = zipfile.ZipFile(source)
            entries, stored = pack.infolist(), pack.open
            found = {entry.filename: entry for entry in pack.infolist() if not entry.is_dir()}
            _check_number(source, len(entries))
            if len(found) < sum(not entry.is_dir() for entry in entries):
                raise zipfile.BadZipFile  # two files of one name
    except DAMAGED as error:
        raise NotATable(why(error)) from None
    if len(entries) > MOST_MEMBERS:
        raise NotATable(f" holds more than {MOST_MEMBERS:,} files: give the table alone.")
    return Archive({name: entry for name, entry in found.items() if not _is_hidden(name)}, stored)


def _check_end(source: BinaryIO, at: int) -> None:
    """Refuse a tar that stops before a block of zeros: tarfile takes a damaged header for the end.

    Raises:
        tarfile.TarError: another block is there.
        EOFError: none is there.
    """
    source.seek(at)
    block = source.read(tarfile.BLOCKSIZE)
    if not block:
        raise EOFError
    if block.strip(b"\0"):
        raise tarfile.ReadError


def _check_number(source: BinaryIO, entries: int) -> None:
    """Refuse a ZIP whose list of files is damaged, so that zipfile skips some; zipfile.BadZipFile if it is."""
    source.seek(max(source.seek(0, os.SEEK_END) - _LONGEST_END, 0))
    end = source.read()
    at = end.rfind(_END) + _NUMBER_AT
    stated = int.from_bytes(end[at : at + 2], "little")
    if stated not in (_MANY, entries % (_MANY + 1)):
        raise zipfile.BadZipFile


def why(error: Exception) -> str:
    """Why an archive, or a file in it, cannot be read, as the rest of a sentence."""
    if isinstance(error, EOFError) or "unexpected end" in str(error):
        return " is cut off: a file in it has no end. Download or copy it again."
    if isinstance(error, NotImplementedError):
        return " is packed in an unusual way, which is not read: unpack it, and pack it again as an ordinary ZIP."
    return packing.no_room(error) or " cannot be read, because the archive is damaged: download it or pack it again."


def shown(name: str) -> str:
    """The end of a member's name, for a sentence."""
    return "".join(letter if letter.isprintable() else "?" for letter in name[-60:])


def encodable(name: str) -> str:
    """A name of a file with its bytes that are not UTF-8 written out, as in \\xff."""
    return name.encode(errors="surrogateescape").decode(errors="backslashreplace")


def _is_hidden(name: str) -> bool:
    """Whether a system left the file there, such as macOS."""
    return "__MACOSX" in name or PurePosixPath(name).name.startswith(".")


def format_of(name: str) -> str:
    """The ending of a member's name that gives its format, without that of its packing."""
    return packing.split(packing.suffix_of(name))[0]


def unwrapped(source: BinaryIO, suffix: str, heard: Heard = lambda share: None) -> tuple[BinaryIO, str]:
    """A file without its packing, or the only table of an archive, and the ending that gives its format.

    An archive with a matrix.mtx, or with several files of text, stays one.

    Raises:
        NotATable: it is damaged, too large, or an archive without a table.
    """
    inner, how = packing.split(suffix)
    if not how and inner not in ARCHIVES:
        return source, inner
    size = source.seek(0, os.SEEK_END)
    source.seek(0)
    if how and size:
        return unwrapped(packing.unpacked(source, how, size, most_bytes(inner), heard), inner)
    if inner not in ARCHIVES or not size:
        return source, inner
    archive = opened(source, inner)
    found = [] if has_matrix(archive.members) else tables(archive.members)
    if len(found) != 1:
        return source, inner
    return _extracted(archive, found[0]), format_of(found[0])


def has_matrix(names: Iterable[str]) -> bool:
    """Whether a matrix.mtx is among some files, or a bag of words."""
    return any(format_of(name) == MATRIX or is_called(name, WORDS) for name in names)


def is_called(name: str, pattern: re.Pattern) -> bool:
    """Whether a member, without its folder and its packing, has a name of this form."""
    return pattern.fullmatch(PurePosixPath(packing.split(name.lower())[0]).name) is not None


def tables(names: Iterable[str]) -> list[str]:
    """The files that hold the table: one of any format, or several of text; a file and its packed copy count once.

    Beside a sample's file of counts, salmon, kallisto, RSEM and STAR write others, which are left aside.

    Raises:
        NotATable: there are others.
    """
    names = sorted(names)
    found = [name for name in names if format_of(name) in TABLES]
    found = [name for name in found if not _ASIDE.match(PurePosixPath(name).name)] or found
    check_case(found)
    found = list({packing.split(name.lower())[0]: name for name in found}.values())
    for ending in _OF_SAMPLES:
        if len(of_samples := [name for name in found if packing.split(name)[0].endswith(ending)]) > 1:
            found = of_samples
            break
    if len(found) > MOST_TABLES:
        raise NotATable(f" holds {len(found):,} tables; at most {MOST_TABLES:,} become one. Give fewer.")
    if len(found) == 1 or (found and all(format_of(name) in TEXT for name in found)):
        return found
    others = [name for name in found if format_of(name) not in TEXT]
    if 0 < len(others) < len(found) - 1:
        texts = len(found) - len(others)
        raise NotATable(f" holds {texts:,} files of text, and {shown(others[0])}, which is none. {LEAVE_OUT}")
    raise NotATable(not_one(found, names))


def check_case(names: Sequence[str]) -> None:
    """Refuse files whose names differ in case alone, which would count as one.

    Raises:
        NotATable: there are some.
    """
    first: dict[str, str] = {}
    for name in names:
        if (other := first.setdefault(name.lower(), name)) != name:
            raise NotATable(f" holds {shown(other)} and {shown(name)}, names that differ in case alone: rename one.")


def not_one(tables: list[str], names: list[str]) -> str:
    """Why files are not one table, as the rest of a sentence."""
    what = f"{len(tables):,} tables" if tables else "no table" if names else "no files"
    some = ", ".join(shown(name) for name in (tables or names)[:_MOST_NAMED])
    some += " …" if len(tables or names) > _MOST_NAMED else ""
    return (
        f" holds {what}{f': {some}' if some else ''}. Give one table, several of the same form, or the three files of "
        "a matrix.mtx."
    )


def _extracted(archive: Archive, name: str) -> BinaryIO:
    """A member, unpacked, in a temporary file."""
    target = temporary_file()
    try:
        packing.copy(archive.open(name), target, most_bytes(format_of(name)))
    except DAMAGED as error:
        target.close()
        raise NotATable(why(error)) from None
    return target
