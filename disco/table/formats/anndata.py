"""Read h5ad files of anndata 0.7 or later: X, layers and raw.X, each dense or sparse."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import h5py

from disco.table.formats import hdf5
from disco.table.formats.limits import NotATable
from disco.table.formats.matrix import (
    Block,
    Matrix,
    NotCounts,
    check_size,
    counts_behind,
    dense_blocks,
    distinct,
    turned,
)
from disco.table.formats.reading import Reading

_RAW = "raw.X"
_PREFERRED = ("counts", "raw_counts", "raw", _RAW, "matrix")  # of several layers of counts
_SPARSE = {"csr_matrix", "csc_matrix"}


def layers(file: h5py.File) -> list[str]:
    """The names of its matrices: X, its layers, and raw.X."""
    there, more = hdf5.names(file), hdf5.child(file, "layers")
    inside = hdf5.names(more) if isinstance(more, h5py.Group) else []
    first, last = ["X"] if "X" in there else [], [_RAW] if "raw" in there else []
    return [*first, *(name for name in inside if name not in ("X", _RAW)), *last]


def read(file: h5py.File, reading: Reading) -> tuple[Matrix, str]:
    """A matrix of an h5ad file and its name: the one chosen, or X, or else a layer of counts.

    Of several, it is one with a usual name for all counts, or else the one with the largest total.

    Raises:
        NotATable: there is no such matrix, the file is damaged or too large.
        NotCounts: no matrix seems to hold counts.
    """
    there = layers(file)
    if not there:
        raise NotATable(" has neither X nor layers: it holds no matrix.")
    if reading.layer is not None and reading.layer not in there:
        raise NotATable(f' has no layer "{reading.layer[:40]}"; it has {", ".join(there[:10])}.')
    layer = reading.layer or there[0]
    found = _matrix(file, layer)
    problem = _problem(found)
    if problem is None:
        return found, layer
    others = [name for name in there if name != layer and _holds_counts(file, name)]
    if not others:
        return _restored(file, [reading.layer] if reading.layer else there, str(problem))
    if reading.layer is not None:
        raise NotCounts(f', layer "{layer[:40]}",{problem}: read the layer "{others[0][:40]}", which holds counts.')
    usual = [name for name in _PREFERRED if name in others]
    chosen = usual[0] if usual else max(others, key=lambda name: _total(file, name))
    more = (
        f" Others hold counts too: {', '.join(name[:40] for name in others if name != chosen)}." if others[1:] else ""
    )
    note = f'{layer[:40]}{problem}, so the layer "{chosen[:40]}" was read.{more}'
    found = _matrix(file, chosen)
    return replace(found, notes=(note, *found.notes)), chosen


def _restored(file: h5py.File, layers: list[str], problem: str) -> tuple[Matrix, str]:
    """The counts behind the first layer of which they can be known, and its name."""
    reasons = []
    for layer in layers:
        try:
            return counts_behind(_matrix(file, layer)), layer
        except NotCounts as reason:
            reasons.append(f"{layer[:40]}{reason}")
    raise NotCounts(
        f", {layers[0][:40]},{problem}, and no other layer holds counts. Values of {'; of '.join(reasons[:4])}: save "
        "the raw counts as a layer."
    )


def _problem(matrix: Matrix) -> NotCounts | None:
    """Why the first values are not counts, None if they are."""
    try:
        next(matrix.counts(), None)
    except NotCounts as reason:
        return reason
    return None


def _total(file: h5py.File, layer: str) -> float:
    return sum(float(values.sum()) for _, _, values in _matrix(file, layer).blocks())


def _holds_counts(file: h5py.File, layer: str) -> bool:
    try:
        return _problem(_matrix(file, layer)) is None
    except NotATable:
        return False


def _matrix(file: h5py.File, layer: str) -> Matrix:
    """The matrix of a name, with the names of its cells and genes."""
    above = hdf5.group_of(file, "raw") if layer == _RAW else file
    inside = above if layer in ("X", _RAW) else hdf5.group_of(file, "layers")
    name = "X" if layer == _RAW else layer
    cells, genes = _index(file, "obs"), _index(above, "var")
    found = hdf5.child(inside, name)
    if isinstance(found, h5py.Dataset):
        values = hdf5.numbers(inside, name, 2)
        shape, blocks = (values.shape[0], values.shape[1]), lambda: dense_blocks(values)
        check_size(shape[0], shape[1], values.size)
    elif isinstance(found, h5py.Group):
        shape, blocks = _sparse(found)
    else:
        raise NotATable(f' has no matrix "{layer[:40]}".')
    if shape != (len(cells), len(genes)):
        raise NotATable(
            f" has a matrix of {shape[0]:,} × {shape[1]:,} for {len(cells):,} cells and {len(genes):,} genes."
        )
    return Matrix(blocks, cells, distinct(genes))


def _sparse(group: h5py.Group) -> tuple[tuple[int, int], Callable[[], Iterator[Block]]]:
    """The shape and the blocks of a sparse matrix."""
    kind = hdf5.attribute(group, "encoding-type")
    shape = hdf5.attribute(group, "shape")
    if kind not in _SPARSE or not isinstance(shape, tuple) or len(shape) != 2:
        raise NotATable(f": {group.name[:80]} is no dense, CSR or CSC matrix as anndata 0.7 and later write it.")
    cells, genes = shape
    check_size(cells, genes, hdf5.numbers(group, "data").size)
    if kind == "csr_matrix":
        return shape, hdf5.compressed(group, cells, genes).blocks
    return shape, turned(hdf5.compressed(group, genes, cells).blocks)


def _index(above: h5py.Group, name: str) -> list[str]:
    """The index of obs or var."""
    frame = hdf5.child(above, name)
    if not isinstance(frame, h5py.Group):
        raise NotATable(f" has no {name} as anndata 0.7 and later write it: open it with anndata and save it again.")
    column = hdf5.attribute(frame, "_index")
    return hdf5.texts(frame, column if isinstance(column, str) else "_index")
