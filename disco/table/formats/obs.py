"""Read columns of obs, the annotations of cells in an h5ad file: numbers, true and false, texts, categories.

anndata writes a column as one dataset; categories as codes and their names, code −1 for a missing cell (before 0.8 the
names were in obs/__categories); and a column with missing cells also as values and a mask. The names of categories are
texts even if they are numbers, because such numbers are only labels.
"""

import h5py
import numpy as np
import pyarrow as pa

from disco.table.formats import hdf5
from disco.table.formats.limits import MOST_CELLS_OF_MATRIX, MOST_TEXT, NotATable

_OLDER = "__categories"  # the group of categories before anndata 0.8
_TYPES = {"i": "i8", "u": "u8", "f": "f8", "b": "?"}


def names(file: h5py.File) -> list[str]:
    """The names of its columns; nothing is read."""
    frame = hdf5.group_of(file, "obs")
    index = hdf5.attribute(frame, "_index")
    return [name for name in hdf5.names(frame) if name not in (index, "_index", _OLDER)]


def read(file: h5py.File, wanted: list[str], cells: int) -> dict[str, pa.Array]:
    """Some of its columns, by name, one value per cell; categories as a dictionary.

    Raises:
        NotATable: one is missing, does not fit the cells, or has other contents.
    """
    there = names(file)
    for name in wanted:
        if name not in there:
            has = f"; it has {', '.join(one[:30] for one in there[:10])}" if there else ""
            raise NotATable(f' has no column "{name[:40]}" in obs{has}.')
    frame = hdf5.group_of(file, "obs")
    return {name: _column(frame, name, cells) for name in wanted}


def _column(frame: h5py.Group, name: str, cells: int) -> pa.Array:
    found, older = hdf5.child(frame, name), hdf5.child(frame, _OLDER)
    parts = hdf5.names(found) if isinstance(found, h5py.Group) else []
    if isinstance(found, h5py.Dataset) and isinstance(older, h5py.Group) and name in hdf5.names(older):
        return _of_categories(_checked(frame, name, cells), _levels(older, name), f"obs/{name[:40]}")
    if isinstance(found, h5py.Dataset):
        return pa.array(_checked(frame, name, cells))
    if isinstance(found, h5py.Group) and {"codes", "categories"} <= {*parts}:
        return _of_categories(_checked(found, "codes", cells), _levels(found, "categories"), f"obs/{name[:40]}")
    if isinstance(found, h5py.Group) and {"values", "mask"} <= {*parts}:
        return pa.array(_checked(found, "values", cells), mask=_checked(found, "mask", cells).astype(bool))
    raise NotATable(f": obs/{name[:40]} is no column of numbers, texts or categories.")


def _checked(group: h5py.Group, name: str, cells: int | None) -> np.ndarray:
    """The values of a dataset, (cells,): int64, uint64, float64, bool, or texts as objects.

    Args:
        cells: the required number; None for categories, of which any number within the limits is allowed.
    """
    found, path = hdf5.child(group, name), f"{group.name.strip('/')}/{name}"[:80]
    if not isinstance(found, h5py.Dataset) or found.ndim != 1:
        raise NotATable(f": {path} is not a list of values.")
    if cells is not None and len(found) != cells:
        raise NotATable(f": {path} has {len(found):,} values for {cells:,} cells: the file is damaged.")
    if len(found) > MOST_CELLS_OF_MATRIX:
        raise NotATable(f": {path} has {len(found):,} categories; at most {MOST_CELLS_OF_MATRIX:,} are read.")
    if h5py.check_string_dtype(found.dtype) is not None:
        return np.array(hdf5.texts(group, name), dtype=object)
    if found.dtype.kind not in _TYPES:
        raise NotATable(f": {path} holds neither numbers nor texts.")
    return found[:].astype(_TYPES[found.dtype.kind])


def _levels(group: h5py.Group, name: str) -> list[str]:
    """The categories as texts."""
    if isinstance(hdf5.child(group, name), h5py.Group):
        return hdf5.texts(group, name)
    values = _checked(group, name, None)
    return [f"{value:g}" for value in values] if values.dtype.kind == "f" else [str(value) for value in values]


def _of_categories(codes: np.ndarray, levels: list[str], path: str) -> pa.Array:
    """A dictionary of texts, null where the code is −1."""
    if codes.dtype.kind not in "iu" or (codes.astype(np.int64) < -1).any() or (codes >= len(levels)).any():
        raise NotATable(f": the codes of {path} do not fit its {len(levels):,} categories: the file is damaged.")
    known = codes[codes >= 0].astype(np.int64)
    lengths = np.array([len(level.encode(errors="replace")) for level in levels], np.int64)
    if np.bincount(known, minlength=len(levels)) @ lengths > MOST_TEXT:
        raise NotATable(f": the texts of {path} take more than {MOST_TEXT / 1e6:.0f} MB.")
    numbers = pa.array(codes.astype(np.int32), mask=codes < 0)
    return pa.DictionaryArray.from_arrays(numbers, pa.array(levels, pa.string()))
