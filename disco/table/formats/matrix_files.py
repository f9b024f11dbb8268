"""The files of each matrix in a folder or an archive; and a folder as one ZIP, which is read like an upload."""

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
from disco.table.formats.archive import (
    VOCABULARY,
    WORDS,
    check_case,
    encodable,
    has_matrix,
    is_called,
    printable_end,
    split,
    tables,
)
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
class MatrixFiles:
    """The files of one matrix; a bag of words has no list of its documents.

    Attributes:
        label: what distinguishes them from those of other matrices.
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


def matrices(names: Iterable[str]) -> tuple[list[MatrixFiles], list[str]]:
    """The matrices among some files, and notes.

    The files of one matrix are in one folder, with the same prefix; a folder's only list serves all its matrices.

    Raises:
        NotATable: a matrix lacks a list of names, or shares its cells with another, or there is no matrix.
    """
    files = [*names]
    words, vocabularies = ([name for name in files if is_called(name, what)] for what in (WORDS, VOCABULARY))
    if len(words) == len(vocabularies) == 1:
        return [MatrixFiles(words[0], vocabularies[0], "", are_cells_first=True)], []
    named = _named(files, _MATRIX)
    named = [file for file in named if file.kind] or named
    notes = []
    filtered = [file for file in named if not _RAW.search(file.name)]
    if len(filtered) < len(named) and filtered and all(_FILTERED.search(file.name) for file in filtered):
        named, notes = filtered, ["Matrices of all droplets, raw, were left out, since there are filtered ones."]
    if not named:
        raise NotATable(f" has no matrix.mtx: {_NEEDED}.")
    if len(named) > MOST_MATRICES:
        raise NotATable(f" has {len(named):,} matrices; at most {MOST_MATRICES:,} become one table. Give fewer.")
    lists = _named(files, _NAMES)
    features, barcodes = ([name for name in lists if (name.kind == "barcodes") == is_it] for is_it in (False, True))
    matrices = [
        MatrixFiles(
            file.name,
            _list_of(file, features, "features.tsv or genes.tsv"),
            _list_of(file, barcodes, "barcodes.tsv"),
            label,
            file.prefix == "cells_x_genes",
        )
        for file, label in zip(named, _differing([(*file.folder.parts, file.prefix) for file in named]), strict=True)
    ]
    if len({files.barcodes for files in matrices}) < len(matrices):
        listed = ", ".join(printable_end(PurePosixPath(files.matrix).name) for files in matrices[:5])
        raise NotATable(f" has several matrices of the same cells, {listed}: give one of them with its lists alone.")
    return matrices, notes


def _named(names: list[str], pattern: re.Pattern) -> list[_Name]:
    """The files whose names match a pattern; a file and its packed copy count once."""
    named: dict[str, _Name] = {}
    for name in sorted(names, key=lambda name: split(name)[1]):
        inner = split(name)[0]
        if match := pattern.fullmatch(PurePosixPath(inner).name):
            prefix, kind = match["prefix"].strip(_BETWEEN), (match["kind"] or "").lower()
            named[inner.lower()] = _Name(name, PurePosixPath(name).parent, prefix, kind)
    check_case([name for name in names if split(name)[0].lower() in named])
    return sorted(named.values(), key=lambda file: file.name)


def _list_of(matrix: _Name, lists: list[_Name], what: str) -> str:
    near = [file for file in lists if file.folder == matrix.folder]
    fitting = [file for file in near if file.prefix == matrix.prefix] or near
    if len(fitting) != 1:
        number = f"{len(fitting):,}" if fitting else "no"
        name = printable_end(PurePosixPath(matrix.name).name)
        raise NotATable(f" has {number} {what} beside {name}: {_NEEDED}.")
    return fitting[0].name


def labels(names: list[str]) -> list[str]:
    """What distinguishes files: the folders that differ, and the files' names without their common ending."""
    stems = [PurePosixPath(split(name)[0]).name for name in names]
    shared = os.path.commonprefix([stem[::-1] for stem in stems])[::-1]
    cut = len(shared) - min((shared.find(mark) for mark in _BETWEEN if mark in shared), default=len(shared))
    return _differing(
        [(*PurePosixPath(name).parent.parts, stem[: len(stem) - cut]) for name, stem in zip(names, stems, strict=True)]
    )


def _differing(paths: list[tuple[str, ...]]) -> list[str]:
    """The steps in which paths differ; their last steps are compared with each other."""
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
    matrix_files = matrices(names)[0] if has_matrix(names) else []
    members = {name for files in matrix_files for name in (files.matrix, files.features, files.barcodes) if name}
    target = temporary_file()
    with zipfile.ZipFile(target, "w") as archive:
        for name in sorted(members or tables(names)):
            with (
                open_regular(folder / name, MOST_BYTES_IN_PIECES) as source,
                archive.open(encodable(name), "w", force_zip64=True) as member,
            ):
                shutil.copyfileobj(source, member, 1 << 20)
    target.seek(0)
    return target


def _files(folder: Path) -> Iterable[str]:
    """The names of a folder's files, relative to it, without hidden ones; links to folders are not followed."""
    for where, folders, names in os.walk(folder):
        inside = Path(where).relative_to(folder)
        folders[:] = sorted(name for name in folders if not name.startswith(".") and len(inside.parts) < _DEEPEST)
        yield from ((inside / name).as_posix() for name in sorted(names) if not name.startswith("."))
