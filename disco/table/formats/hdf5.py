"""Checked access to an HDF5 file: nothing outside it is opened, and only the usual filters are applied."""

from typing import BinaryIO

import h5py
import numpy as np

from disco.table.formats.limits import MOST_CHUNK, MOST_ENTRIES, MOST_NAME, MOST_TEXT, NotATable, unreadable
from disco.table.formats.matrix import Compressed

DAMAGED = (
    *(OSError, RuntimeError, KeyError, ValueError, TypeError, IndexError),
    *(AttributeError, OverflowError, NotImplementedError),
)
MAGIC = b"\x89HDF\r\n\x1a\n"  # begins every such file
_CACHE = 128 << 20  # bytes of unpacked chunks: a chunk that two blocks share is unpacked once
_FILTERS = {h5py.h5z.FILTER_DEFLATE, h5py.h5z.FILTER_SHUFFLE, h5py.h5z.FILTER_FLETCHER32, h5py.h5z.FILTER_LZF}


def opened(source: BinaryIO) -> h5py.File:
    """The file, to be read only.

    Raises:
        NotATable: it is not HDF5.
    """
    try:
        return h5py.File(source, "r", rdcc_nbytes=_CACHE, rdcc_nslots=10_007)
    except DAMAGED:
        raise NotATable(unreadable("HDF5")) from None


def names(group: h5py.Group) -> list[str]:
    """The names in a group; nothing is opened."""
    return list(group)


def child(group: h5py.Group, name: str) -> h5py.Group | h5py.Dataset | None:
    """The object of a group under a name; None if there is none.

    Raises:
        NotATable: a link out of the file, or a dataset that cannot be read safely.
    """
    if name not in names(group):
        return None
    path = f"{group.name.rstrip('/')}/{name}"[:80]
    if group.id.links.get_info(name.encode()).type != h5py.h5l.TYPE_HARD:  # asked before the link is followed
        raise NotATable(f": {path} is a link, which is not followed: save the data themselves in the file.")
    found = group[name]
    if isinstance(found, h5py.Dataset):
        _check(found, path)
    elif not isinstance(found, h5py.Group):
        raise NotATable(f": {path} is neither a group nor a dataset.")
    return found


def _check(found: h5py.Dataset, path: str) -> None:
    if found.is_virtual or found.external:
        raise NotATable(f": {path} lies in other files: save the data themselves in the file.")
    if found.shape is None:
        raise NotATable(f": {path} is empty.")
    if found.size > MOST_ENTRIES:
        raise NotATable(f": {path} has {found.size:,} values; at most {MOST_ENTRIES:,} are read. Leave cells out.")
    creation = found.id.get_create_plist()
    for number in range(creation.get_nfilters()):
        code, _, _, name = creation.get_filter(number)
        if code not in _FILTERS:
            label = name.decode(errors="replace")[:40] or code
            raise NotATable(f': {path} is packed with "{label}": save the file again with gzip compression.')
    if found.chunks and int(np.prod(found.chunks, dtype=float)) * found.dtype.itemsize > MOST_CHUNK:
        raise NotATable(
            f": {path} is stored in chunks of more than {MOST_CHUNK / 1e6:.0f} MB: save the file with smaller ones."
        )


def group_of(group: h5py.Group, name: str) -> h5py.Group:
    """The group under a name.

    Raises:
        NotATable: there is none.
    """
    found = child(group, name)
    if not isinstance(found, h5py.Group):
        raise NotATable(f" has no group {name!r} in {group.name[:80]}: it is damaged, or of an unknown layout.")
    return found


def numbers(group: h5py.Group, name: str, dimensions: int = 1) -> h5py.Dataset:
    """The dataset of real numbers under a name, not yet read.

    Raises:
        NotATable: there is none of this kind.
    """
    found = child(group, name)
    if not isinstance(found, h5py.Dataset) or found.dtype.kind not in "iuf" or found.ndim != dimensions:
        kind = "list" if dimensions == 1 else "table"
        raise NotATable(f": {group.name[:80]}/{name[:40]} is not a {kind} of numbers: the file is damaged.")
    return found


def whole_numbers(group: h5py.Group, name: str) -> np.ndarray:
    """The whole numbers under a name, (length,) int64.

    Raises:
        NotATable: there are none.
    """
    found = numbers(group, name)
    if found.dtype.kind == "f":
        raise NotATable(f": {group.name[:80]}/{name[:40]} holds fractions: the file is damaged.")
    return found[:].astype(np.int64)


def compressed(group: h5py.Group, lines: int, width: int) -> Compressed:
    """The sparse matrix of a group that holds indptr, indices and data.

    Raises:
        NotATable: one of them is missing, or they do not fit each other.
    """
    pointers = whole_numbers(group, "indptr")
    if len(pointers) != lines + 1:
        raise NotATable(f" has {len(pointers):,} pointers for {lines:,} lines of its sparse matrix: it is damaged.")
    return Compressed(numbers(group, "data"), numbers(group, "indices"), pointers, width)


def texts(group: h5py.Group, name: str) -> list[str]:
    """The texts under a name.

    Raises:
        NotATable: there are none, they are too long, or not UTF-8.
    """
    found = child(group, name)
    path = f"{group.name.rstrip('/')}/{name}"[:80]
    if isinstance(found, h5py.Group) and "values" in names(
        found
    ):  # as anndata writes texts of which some may be missing
        found = child(found, "values")
    if not isinstance(found, h5py.Dataset) or found.ndim != 1 or h5py.check_string_dtype(found.dtype) is None:
        raise NotATable(f": {path} is not a list of names.")
    if found.size * found.dtype.itemsize > MOST_TEXT:
        raise NotATable(f": the names in {path} take more than {MOST_TEXT / 1e6:.0f} MB.")
    try:
        cells = [cell if isinstance(cell, str) else bytes(cell).decode() for cell in found[:]]
    except UnicodeDecodeError:
        raise NotATable(f": the names in {path} are not UTF-8 text.") from None
    if any(len(cell) > MOST_NAME for cell in cells):
        raise NotATable(f": a name in {path} is longer than {MOST_NAME} characters.")
    return cells


def attribute(found: h5py.Group | h5py.Dataset, name: str) -> object:
    """A small attribute, texts as str and whole numbers as a tuple; None if there is none."""
    if name not in found.attrs:
        return None
    kind = found.attrs.get_id(name)
    if kind.shape is None or int(np.prod(kind.shape, dtype=float)) > 16:
        return None
    value = found.attrs[name]
    if isinstance(value, bytes):
        value = value.decode(errors="replace")
    if isinstance(value, np.ndarray) and value.dtype.kind in "iu":
        return tuple(int(number) for number in value.ravel())
    return value if isinstance(value, str) else None
