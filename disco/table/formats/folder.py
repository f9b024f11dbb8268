"""Which files of a folder or an archive belong to one matrix; and a folder as one ZIP, which is read like an upload."""

import os
import re
import shutil
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from disco.files import open_regular
from disco.system import temporary_file
from disco.table.formats import packing
from disco.table.formats.archive import VOCABULARY, WORDS, check_case, encodable, has_matrix, is_called, shown, tables
from disco.table.formats.limits import MOST_BYTES_IN_PIECES, MOST_MATRICES, MOST_MEMBERS, NotATable

_NEEDED = (
    "it needs matrix.mtx, features.tsv (or genes.tsv) and barcodes.tsv in one folder, each also as .gz, and all with "
    "the same text before these names"
)
_MATRIX = re.compile(r"(?P<prefix>.*?)(?P<kind>matrix)?\.mtx", re.IGNORECASE)
_NAMES = re.compile(r"(?P<prefix>.*?)(?P<kind>features|genes|barcodes)\.(tsv|txt)", re.IGNORECASE)
_BETWEEN = "._- "
_RAW, _FILTERED = (re.compile(rf"(^|[/._-]){word}([/._-]|$)", re.IGNORECASE) for word in ("raw", "filtered"))
_DEEPEST = 4  # folders below the one that is read, as in sample/outs/filtered_feature_bc_matrix


@dataclass(frozen=True)
class Parts:
    """The files of one matrix.

    Attributes:
        matrix, features, barcodes: their names; a bag of words has no list of its documents.
        label: what sets them apart from those of other matrices.
        are_cells_first: whether the name says that the lines of the matrix are cells, as kb writes it.
    """

    matrix: str
    features: str
    barcodes: str
    label: str = ""
    are_cells_first: bool = False


@dataclass(frozen=True)
class _Name:
    name: str
    folder: PurePosixPath
    prefix: str
    kind: str


def matrices(names: Iterable[str]) -> tuple[list[Parts], list[str]]:
    """The matrices among some files, and notes.

    The files of one matrix are in one folder, with the same text before their names; a list that is the only one there
    serves all matrices of the folder.

    Raises:
        NotATable: a matrix lacks a list of names, or shares its cells with another, or there is no matrix.
    """
    files = [*names]
    words, vocabularies = ([name for name in files if is_called(name, what)] for what in (WORDS, VOCABULARY))
    if len(words) == len(vocabularies) == 1:
        return [Parts(words[0], vocabularies[0], "", are_cells_first=True)], []
    found = _named(files, _MATRIX)
    found = [file for file in found if file.kind] or found
    notes = []
    rest = [file for file in found if not _RAW.search(file.name)]
    if len(rest) < len(found) and rest and all(_FILTERED.search(file.name) for file in rest):
        found, notes = rest, ["Matrices of all droplets, raw, were left out, since there are filtered ones."]
    if not found:
        raise NotATable(f" has no matrix.mtx: {_NEEDED}.")
    if len(found) > MOST_MATRICES:
        raise NotATable(f" has {len(found):,} matrices; at most {MOST_MATRICES:,} become one table. Give fewer.")
    lists = _named(files, _NAMES)
    parts = [
        Parts(
            file.name,
            _beside(file, [name for name in lists if name.kind != "barcodes"], "features.tsv or genes.tsv"),
            _beside(file, [name for name in lists if name.kind == "barcodes"], "barcodes.tsv"),
            label,
            file.prefix == "cells_x_genes",
        )
        for file, label in zip(found, _apart([(*file.folder.parts, file.prefix) for file in found]), strict=True)
    ]
    if len({part.barcodes for part in parts}) < len(parts):
        some = ", ".join(shown(PurePosixPath(part.matrix).name) for part in parts[:5])
        raise NotATable(f" has several matrices of the same cells, {some}: give one of them with its lists alone.")
    return parts, notes


def _named(names: list[str], pattern: re.Pattern) -> list[_Name]:
    """The files whose names have a form; one that is there packed and unpacked counts once."""
    found: dict[str, _Name] = {}
    for name in sorted(names, key=lambda name: packing.split(name.lower())[1]):
        inner = name[: len(packing.split(name.lower())[0])]
        if match := pattern.fullmatch(PurePosixPath(inner).name):
            prefix, kind = match["prefix"].strip(_BETWEEN), (match["kind"] or "").lower()
            found[inner.lower()] = _Name(name, PurePosixPath(name).parent, prefix, kind)
    check_case([name for name in names if name[: len(packing.split(name.lower())[0])].lower() in found])
    return sorted(found.values(), key=lambda file: file.name)


def _beside(matrix: _Name, lists: list[_Name], what: str) -> str:
    """The name of the list that belongs to a matrix."""
    there = [file for file in lists if file.folder == matrix.folder]
    alike = [file for file in there if file.prefix == matrix.prefix] or there
    if len(alike) != 1:
        has = f"{len(alike):,}" if alike else "no"
        raise NotATable(f" has {has} {what} beside {shown(PurePosixPath(matrix.name).name)}: {_NEEDED}.")
    return alike[0].name


def labels(names: list[str]) -> list[str]:
    """What sets files apart: the folders that differ, and the files' names without the ending that they share."""
    ends = [PurePosixPath(name[: len(packing.split(name.lower())[0])]).name for name in names]
    shared = os.path.commonprefix([end[::-1] for end in ends])[::-1]
    ending = min((shared.find(mark) for mark in _BETWEEN if mark in shared), default=len(shared))
    cut = len(shared) - ending
    return _apart(
        [(*PurePosixPath(name).parent.parts, end[: len(end) - cut]) for name, end in zip(names, ends, strict=True)]
    )


def _apart(paths: list[tuple[str, ...]]) -> list[str]:
    """The parts in which paths differ; the last parts are compared with each other."""
    depth = max(map(len, paths))
    paths = [(*path[:-1], *[""] * (depth - len(path)), path[-1]) for path in paths]
    differ = [index for index in range(depth) if len({path[index] for path in paths}) > 1]
    return ["/".join(filter(None, (path[index] for index in differ))) for path in paths]


def packed(folder: Path) -> BinaryIO:
    """The files of a folder's matrices, or else its tables, in a temporary ZIP, deleted when it is closed.

    Raises:
        NotATable: a file is missing, there are too many, or they are not one table.
        InputError: a file cannot be read, or is too large.
    """
    names = list(islice(_files(folder), MOST_MEMBERS + 1))
    if len(names) > MOST_MEMBERS:
        raise NotATable(f" is a folder of more than {MOST_MEMBERS:,} files: give the one that holds the table.")
    parts = matrices(names)[0] if has_matrix(names) else []
    wanted = {name for part in parts for name in (part.matrix, part.features, part.barcodes) if name} or {
        *tables(names)
    }
    target = temporary_file()
    with zipfile.ZipFile(target, "w") as archive:
        for name in sorted(wanted):
            with (
                open_regular(folder / name, MOST_BYTES_IN_PIECES) as source,
                archive.open(encodable(name), "w", force_zip64=True) as member,
            ):
                shutil.copyfileobj(source, member, 1 << 20)
    target.seek(0)
    return target


def _files(folder: Path) -> Iterable[str]:
    """The names of a folder's files, from it on, without hidden ones; links to folders are not followed."""
    for where, folders, names in os.walk(folder):
        inside = Path(where).relative_to(folder)
        folders[:] = sorted(name for name in folders if not name.startswith(".") and len(inside.parts) < _DEEPEST)
        yield from ((inside / name).as_posix() for name in sorted(names) if not name.startswith("."))
