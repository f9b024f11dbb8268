"""Which files of a folder or an archive belong to one matrix; and a folder as one ZIP, which is read like an upload."""

import os
import re
import shutil
import tempfile
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from disco.files import open_regular
from disco.table.formats import packing
from disco.table.formats.limits import MOST_BYTES_IN_PIECES, MOST_MEMBERS, NotATable

_NEEDED = (
    "it needs matrix.mtx, features.tsv (or genes.tsv) and barcodes.tsv in one folder, each also as .gz, and all with "
    "the same text before these names"
)
_MATRIX = re.compile(r"(?P<prefix>.*?)(?P<kind>matrix)?\.mtx", re.IGNORECASE)
_NAMES = re.compile(r"(?P<prefix>.*?)(?P<kind>features|genes|barcodes)\.(tsv|txt)", re.IGNORECASE)
_BETWEEN = "._- "
_UNFILTERED = re.compile("raw($|_)")  # the folder in which Cell Ranger and STAR keep all droplets
_DEEPEST = 4  # folders below the one that is read, as in sample/outs/filtered_feature_bc_matrix


@dataclass(frozen=True)
class Parts:
    """The files of one matrix.

    Attributes:
        matrix, features, barcodes: their names.
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
    found = _named(files, _MATRIX)
    found = [file for file in found if file.kind] or found
    notes = []
    if len({*map(_is_unfiltered, found)}) > 1:
        found = [file for file in found if not _is_unfiltered(file)]
        notes = ["The matrices of all droplets, raw, were left out, since there are filtered ones."]
    if not found:
        raise NotATable(f" has no matrix.mtx: {_NEEDED}.")
    lists = _named(files, _NAMES)
    parts = [
        Parts(
            file.name,
            _beside(file, [name for name in lists if name.kind != "barcodes"], "features.tsv or genes.tsv"),
            _beside(file, [name for name in lists if name.kind == "barcodes"], "barcodes.tsv"),
            label,
            file.prefix == "cells_x_genes",
        )
        for file, label in zip(found, _labels(found), strict=True)
    ]
    if len({part.barcodes for part in parts}) < len(parts):
        some = ", ".join(PurePosixPath(part.matrix).name[-60:] for part in parts[:5])
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
    return sorted(found.values(), key=lambda file: file.name)


def _beside(matrix: _Name, lists: list[_Name], what: str) -> str:
    """The name of the list that belongs to a matrix."""
    there = [file for file in lists if file.folder == matrix.folder]
    alike = [file for file in there if file.prefix == matrix.prefix] or there
    if len(alike) != 1:
        has = f"{len(alike):,}" if alike else "no"
        raise NotATable(f" has {has} {what} beside {PurePosixPath(matrix.name).name[-60:]}: {_NEEDED}.")
    return alike[0].name


def _is_unfiltered(file: _Name) -> bool:
    return any(_UNFILTERED.match(part.lower()) for part in file.folder.parts)


def _labels(files: list[_Name]) -> list[str]:
    """What sets each file apart: the folders that differ, and the text before its name."""
    paths = [file.folder.parts for file in files]
    depth = max(map(len, paths))
    paths = [(*path, *[""] * (depth - len(path))) for path in paths]
    differ = [index for index in range(depth) if len({path[index] for path in paths}) > 1]
    alike = len({file.prefix for file in files}) == 1
    return [
        "/".join([*(path[index] for index in differ), *([] if alike else [file.prefix])])
        for path, file in zip(paths, files, strict=True)
    ]


def packed(folder: Path) -> BinaryIO:
    """The files of a folder's matrices in a temporary ZIP, deleted when it is closed.

    Raises:
        NotATable: a file is missing, or there are too many.
        InputError: a file cannot be read, or is too large.
    """
    names = list(islice(_files(folder), MOST_MEMBERS + 1))
    if len(names) > MOST_MEMBERS:
        raise NotATable(f" is a folder of more than {MOST_MEMBERS:,} files: give the one that holds the table.")
    parts, _ = matrices(names)
    wanted = {name for part in parts for name in (part.matrix, part.features, part.barcodes)}
    target = tempfile.TemporaryFile()
    with zipfile.ZipFile(target, "w") as archive:
        for name in sorted(wanted):
            with (
                open_regular(folder / name, MOST_BYTES_IN_PIECES) as source,
                archive.open(name, "w", force_zip64=True) as member,
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
