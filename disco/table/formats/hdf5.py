"""Checked access to an HDF5 file: nothing outside it is opened, and only the usual filters are applied."""

from collections.abc import Iterator
from typing import BinaryIO

import h5py
import numpy as np

from disco.table.formats import matrix
from disco.table.formats.limits import MOST_CHUNK, MOST_ENTRIES, MOST_NAME, MOST_TEXT, NotATable, unreadable
from disco.table.formats.matrix import Block, Blocks, check_once

DAMAGED = (
    *(OSError, RuntimeError, KeyError, ValueError, TypeError, IndexError),
    *(AttributeError, OverflowError, NotImplementedError),
)
MAGIC = b"\x89HDF\r\n\x1a\n"  # begins every such file
_CACHE = 128 << 20  # bytes of unpacked chunks: a chunk that two blocks share is unpacked once
_FILTERS = {h5py.h5z.FILTER_DEFLATE, h5py.h5z.FILTER_SHUFFLE, h5py.h5z.FILTER_FLETCHER32, h5py.h5z.FILTER_LZF}


def opened(source: BinaryIO) -> h5py.File:
    """The file, read-only; NotATable if it is not HDF5."""
    try:
        return h5py.File(source, "r", rdcc_nbytes=_CACHE, rdcc_nslots=10_007)
    except DAMAGED:
        raise NotATable(unreadable("HDF5")) from None


def names(group: object) -> list[str]:
    """The names in a group, without opening them; none if it is not a group."""
    return list(group) if isinstance(group, h5py.Group) else []


def child(group: h5py.Group, name: str) -> h5py.Group | h5py.Dataset | None:
    """The object of a group under a name, or None; NotATable if it links out of the file or cannot be read safely."""
    if name not in names(group):
        return None
    path = _path(group, name)
    if group.id.links.get_info(name.encode()).type != h5py.h5l.TYPE_HARD:  # asked before the link is followed
        raise NotATable(f": {path} is a link, which is not followed: save the data themselves in the file.")
    item = group[name]
    if isinstance(item, h5py.Dataset):
        _check(item, path)
    elif not isinstance(item, h5py.Group):
        raise NotATable(f": {path} is neither a group nor a dataset.")
    return item


def _path(group: h5py.Group, name: str) -> str:
    return f"{group.name.rstrip('/')}/{name}"[:80]


def _check(dataset: h5py.Dataset, path: str) -> None:
    if dataset.is_virtual or dataset.external:
        raise NotATable(f": {path} lies in other files: save the data themselves in the file.")
    if dataset.shape is None:
        raise NotATable(f": {path} is empty.")
    if dataset.size > MOST_ENTRIES:
        raise NotATable(f": {path} has {dataset.size:,} values; at most {MOST_ENTRIES:,} are read. Leave cells out.")
    creation = dataset.id.get_create_plist()
    for number in range(creation.get_nfilters()):
        code, _, _, name = creation.get_filter(number)
        if code not in _FILTERS:
            label = name.decode(errors="replace")[:40] or code
            raise NotATable(f': {path} is packed with "{label}": save the file again with gzip compression.')
    if dataset.chunks and int(np.prod(dataset.chunks, dtype=float)) * dataset.dtype.itemsize > MOST_CHUNK:
        raise NotATable(
            f": {path} is stored in chunks of more than {MOST_CHUNK / 1e6:.0f} MB: save the file with smaller ones."
        )


def group_of(group: h5py.Group, name: str) -> h5py.Group:
    """The group under a name; NotATable without one."""
    item = child(group, name)
    if not isinstance(item, h5py.Group):
        raise NotATable(f" has no group {name!r} in {group.name[:80]}: it is damaged, or of an unknown layout.")
    return item


def numbers(group: h5py.Group, name: str, dimensions: int = 1) -> h5py.Dataset:
    """The dataset of real numbers under a name, not yet read; NotATable without one of so many dimensions."""
    item = child(group, name)
    if not isinstance(item, h5py.Dataset) or item.dtype.kind not in "iuf" or item.ndim != dimensions:
        kind = "list" if dimensions == 1 else "table"
        raise NotATable(f": {group.name[:80]}/{name[:40]} is not a {kind} of numbers: the file is damaged.")
    return item


def whole_numbers(group: h5py.Group, name: str) -> np.ndarray:
    """The whole numbers under a name, (length,) int64; NotATable without any."""
    dataset = numbers(group, name)
    if dataset.dtype.kind == "f":
        raise NotATable(f": {group.name[:80]}/{name[:40]} holds fractions: the file is damaged.")
    return dataset[:].astype(np.int64)


def compressed(group: h5py.Group, lines: int, width: int) -> Blocks:
    """The blocks of a sparse matrix, each of complete lines: line, position in it, value.

    Its group holds the values, `data`, their positions, `indices`, and the start of each line and the end of the last,
    `indptr`; lines are cells (CSR) or genes (CSC), of `width` positions. NotATable if these are missing or
    inconsistent.
    """
    pointers = whole_numbers(group, "indptr")
    if len(pointers) != lines + 1:
        raise NotATable(f" has {len(pointers):,} pointers for {lines:,} lines of its sparse matrix: it is damaged.")
    data, indices, lengths = numbers(group, "data"), numbers(group, "indices"), np.diff(pointers)
    is_fitting = pointers[0] == 0 and pointers[-1] == data.size == indices.size
    if not is_fitting or (lengths < 0).any() or (lengths > width).any():
        raise NotATable(": the pointers of its sparse matrix do not fit its values: it is damaged.")
    if indices.dtype.kind not in "iu":
        raise NotATable(": the positions in its sparse matrix are fractions: it is damaged.")

    def blocks() -> Iterator[Block]:
        line = 0
        while line < lines:
            first = pointers[line]
            end = max(line + 1, int(np.searchsorted(pointers, first + matrix.ENTRIES, side="right")) - 1)
            positions = indices[first : pointers[end]].astype(np.int64)
            if len(positions) and (positions.min() < 0 or positions.max() >= width):
                raise NotATable(": a position in its sparse matrix lies outside the matrix: it is damaged.")
            of_line = np.repeat(np.arange(line, end), lengths[line:end])
            check_once(of_line * width + positions)
            yield of_line, positions, data[first : pointers[end]]
            line = end

    return blocks


def texts(group: h5py.Group, name: str) -> list[str]:
    """The texts under a name; NotATable if there are none, they are too long, or not UTF-8."""
    item, path = child(group, name), _path(group, name)
    if "values" in names(item):  # as anndata writes texts of which some may be missing
        item = child(item, "values")
    if not isinstance(item, h5py.Dataset) or item.ndim != 1 or h5py.check_string_dtype(item.dtype) is None:
        raise NotATable(f": {path} is not a list of names.")
    if item.size * item.dtype.itemsize > MOST_TEXT:
        raise NotATable(f": the names in {path} take more than {MOST_TEXT / 1e6:.0f} MB.")
    try:
        cells = [cell if isinstance(cell, str) else bytes(cell).decode() for cell in item[:]]
    except UnicodeDecodeError:
        raise NotATable(f": the names in {path} are not UTF-8 text.") from None
    if any(len(cell) > MOST_NAME for cell in cells):
        raise NotATable(f": a name in {path} is longer than {MOST_NAME} characters.")
    return cells


def attribute(item: h5py.Group | h5py.Dataset, name: str) -> object:
    """A small attribute, texts as str and whole numbers as a tuple; None without one."""
    if name not in item.attrs:
        return None
    kind = item.attrs.get_id(name)
    if kind.shape is None or int(np.prod(kind.shape, dtype=float)) > 16:
        return None
    value = item.attrs[name]
    if isinstance(value, bytes):
        value = value.decode(errors="replace")
    if isinstance(value, np.ndarray) and value.dtype.kind in "iu":
        return tuple(int(number) for number in value.ravel())
    return value if isinstance(value, str) else None
