"""Read h5ad files of anndata 0.7 or later: X, layers and raw.X, each dense or sparse, and columns of obs.

anndata writes a column of obs, the annotations of cells, as one dataset; categories as codes and their names, code −1
for a missing cell (before 0.8 the names were in obs/__categories); and a column with missing cells also as values and a
mask. The names of categories are texts even if they are numbers, because such numbers are only labels.
"""

from collections.abc import Callable
from dataclasses import replace

import h5py
import numpy as np
import pyarrow as pa

from disco.table.formats import hdf5
from disco.table.formats.limits import MOST_CELLS_OF_MATRIX, MOST_TEXT, NotATable
from disco.table.formats.matrix import Blocks, Matrix, NotCounts, check_size, dense_blocks, distinct, transposed
from disco.table.formats.reading import Reading

_RAW = "raw.X"
_PREFERRED = ("counts", "raw_counts", "raw", _RAW, "matrix")  # of several layers of counts
_OLDER = "__categories"  # the group of categories before anndata 0.8
_TYPES = {"i": "i8", "u": "u8", "f": "f8", "b": "?"}


def read(file: h5py.File, reading: Reading) -> Matrix:
    """A matrix of an h5ad file with the chosen columns of obs: the chosen matrix, or X, or else a layer of counts.

    Of several layers, one with a usual name for all counts, or else the one with the largest total.

    Raises:
        NotATable: there is no such matrix or column, the file is damaged or too large.
        NotCounts: no matrix seems to hold counts.
    """
    names = hdf5.names(file)
    layers = [name for name in hdf5.names(hdf5.child(file, "layers")) if name not in ("X", _RAW)]
    layers = [*(["X"] if "X" in names else []), *layers, *([_RAW] if "raw" in names else [])]
    if not layers:
        raise NotATable(" has neither X nor layers: it holds no matrix.")
    if reading.layer is not None and reading.layer not in layers:
        raise NotATable(f' has no layer "{reading.layer[:40]}"; it has {", ".join(layers[:10])}.')
    cells = _index(file, "obs")
    obs, obs_names = _obs(file, reading, len(cells))

    def matrix_of(layer: str) -> Matrix:
        matrix = _matrix(file, layer, cells)
        return replace(matrix, layer=layer, layers=layers, obs=obs, obs_names=obs_names)

    first = matrix_of(reading.layer or layers[0])
    problem = first.problem()
    if problem is None:
        return first
    of_counts = [name for name in layers if name != first.layer and _holds_counts(matrix_of, name)]
    if not of_counts:
        return _restored(matrix_of, [reading.layer] if reading.layer else layers, problem)
    if reading.layer is not None:
        layer, better = first.layer[:40], of_counts[0][:40]
        raise NotCounts(f', layer "{layer}",{problem}: read the layer "{better}", which holds counts.')
    usual = [name for name in _PREFERRED if name in of_counts]
    if not usual:
        usual = [max(of_counts, key=lambda name: sum(float(values.sum()) for *_, values in matrix_of(name).blocks()))]
    matrix = matrix_of(usual[0])
    note = f'{first.layer[:40]}{problem}, so the layer "{matrix.layer[:40]}" was read.'
    if of_counts[1:]:
        note += f" Others hold counts too: {', '.join(name[:40] for name in of_counts if name != matrix.layer)}."
    return replace(matrix, notes=(note, *matrix.notes))


def _restored(matrix_of: Callable[[str], Matrix], layers: list[str], problem: NotCounts) -> Matrix:
    """The counts behind the first layer for which they can be recovered."""
    reasons = []
    for layer in layers:
        try:
            return matrix_of(layer).restored()
        except NotCounts as reason:
            reasons.append(f"{layer[:40]}{reason}")
    raise NotCounts(
        f", {layers[0][:40]},{problem}, and no other layer holds counts. Values of {'; of '.join(reasons[:4])}: save "
        "the raw counts as a layer."
    )


def _holds_counts(matrix_of: Callable[[str], Matrix], layer: str) -> bool:
    try:
        return matrix_of(layer).problem() is None
    except NotATable:
        return False


def _matrix(file: h5py.File, layer: str, cells: list[str]) -> Matrix:
    above = hdf5.group_of(file, "raw") if layer == _RAW else file
    inside = above if layer in ("X", _RAW) else hdf5.group_of(file, "layers")
    name = "X" if layer == _RAW else layer
    genes = _index(above, "var")
    item = hdf5.child(inside, name)
    shape: tuple[int, ...]
    if isinstance(item, h5py.Dataset):
        values = hdf5.numbers(inside, name, 2)
        shape, blocks = values.shape, lambda: dense_blocks(values)
        check_size(shape[0], shape[1], values.size)
    elif isinstance(item, h5py.Group):
        shape, blocks = _sparse(item)
    else:
        raise NotATable(f' has no matrix "{layer[:40]}".')
    if shape != (len(cells), len(genes)):
        raise NotATable(
            f" has a matrix of {shape[0]:,} × {shape[1]:,} for {len(cells):,} cells and {len(genes):,} genes."
        )
    return Matrix(blocks, cells, distinct(genes))


def _sparse(group: h5py.Group) -> tuple[tuple[int, int], Blocks]:
    kind = hdf5.attribute(group, "encoding-type")
    shape = hdf5.attribute(group, "shape")
    if kind not in ("csr_matrix", "csc_matrix") or not isinstance(shape, tuple) or len(shape) != 2:
        raise NotATable(f": {group.name[:80]} is no dense, CSR or CSC matrix as anndata 0.7 and later write it.")
    cells, genes = shape
    check_size(cells, genes, hdf5.numbers(group, "data").size)
    if kind == "csr_matrix":
        return shape, hdf5.compressed(group, cells, genes)
    return shape, transposed(hdf5.compressed(group, genes, cells))


def _index(above: h5py.Group, name: str) -> list[str]:
    frame = hdf5.child(above, name)
    if not isinstance(frame, h5py.Group):
        raise NotATable(f" has no {name} as anndata 0.7 and later write it: open it with anndata and save it again.")
    column = hdf5.attribute(frame, "_index")
    return hdf5.texts(frame, column if isinstance(column, str) else "_index")


def _obs(file: h5py.File, reading: Reading, cells: int) -> tuple[dict[str, pa.Array], list[str]]:
    """The chosen columns of obs by name, one value per cell, categories as a dictionary; and all names of columns."""
    frame = hdf5.group_of(file, "obs")
    index = hdf5.attribute(frame, "_index")
    names = [name for name in hdf5.names(frame) if name not in (index, "_index", _OLDER)]
    for name in reading.obs:
        if name not in names:
            has = f"; it has {', '.join(column[:30] for column in names[:10])}" if names else ""
            raise NotATable(f' has no column "{name[:40]}" in obs{has}.')
    return {name: _column(frame, name, cells) for name in reading.obs}, names


def _column(frame: h5py.Group, name: str, cells: int) -> pa.Array:
    item, older, path = hdf5.child(frame, name), hdf5.child(frame, _OLDER), f"obs/{name[:40]}"
    if isinstance(item, h5py.Dataset) and isinstance(older, h5py.Group) and name in hdf5.names(older):
        return _of_categories(_values(frame, name, cells), _levels(older, name), path)
    if isinstance(item, h5py.Dataset):
        return pa.array(_values(frame, name, cells))
    names = {*hdf5.names(item)}
    if isinstance(item, h5py.Group) and {"codes", "categories"} <= names:
        return _of_categories(_values(item, "codes", cells), _levels(item, "categories"), path)
    if isinstance(item, h5py.Group) and {"values", "mask"} <= names:
        return pa.array(_values(item, "values", cells), mask=_values(item, "mask", cells).astype(bool))
    raise NotATable(f": {path} is no column of numbers, texts or categories.")


def _values(group: h5py.Group, name: str, cells: int | None) -> np.ndarray:
    """The values of a dataset, (cells,): int64, uint64, float64, bool, or texts as objects.

    Args:
        cells: the required number; None for categories, of which any number within the limits is allowed.
    """
    item, path = hdf5.child(group, name), f"{group.name.strip('/')}/{name}"[:80]
    if not isinstance(item, h5py.Dataset) or item.ndim != 1:
        raise NotATable(f": {path} is not a list of values.")
    if cells is not None and len(item) != cells:
        raise NotATable(f": {path} has {len(item):,} values for {cells:,} cells: the file is damaged.")
    if len(item) > MOST_CELLS_OF_MATRIX:
        raise NotATable(f": {path} has {len(item):,} categories; at most {MOST_CELLS_OF_MATRIX:,} are read.")
    if h5py.check_string_dtype(item.dtype) is not None:
        return np.array(hdf5.texts(group, name), dtype=object)
    if item.dtype.kind not in _TYPES:
        raise NotATable(f": {path} holds neither numbers nor texts.")
    return item[:].astype(_TYPES[item.dtype.kind])


def _levels(group: h5py.Group, name: str) -> list[str]:
    if isinstance(hdf5.child(group, name), h5py.Group):
        return hdf5.texts(group, name)
    values = _values(group, name, None)
    return [f"{value:g}" for value in values] if values.dtype.kind == "f" else [str(value) for value in values]


def _of_categories(codes: np.ndarray, levels: list[str], path: str) -> pa.Array:
    """A dictionary of texts, null where the code is −1."""
    if codes.dtype.kind not in "iu" or (codes.astype(np.int64) < -1).any() or (codes >= len(levels)).any():
        raise NotATable(f": the codes of {path} do not fit its {len(levels):,} categories: the file is damaged.")
    lengths = np.array([len(level.encode(errors="replace")) for level in levels], np.int64)
    if np.bincount(codes[codes >= 0].astype(np.int64), minlength=len(levels)) @ lengths > MOST_TEXT:
        raise NotATable(f": the texts of {path} take more than {MOST_TEXT / 1e6:.0f} MB.")
    numbers = pa.array(codes.astype(np.int32), mask=codes < 0)
    return pa.DictionaryArray.from_arrays(numbers, pa.array(levels, pa.string()))
