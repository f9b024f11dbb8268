"""Read a file of cells and genes: h5ad, 10x HDF5, or matrix.mtx in a ZIP. Chosen genes become columns, cells rows."""

from types import ModuleType
from typing import BinaryIO

import h5py
import pyarrow as pa

from disco.table.formats import anndata, genes, hdf5, market, tenx
from disco.table.formats.limits import NotATable
from disco.table.formats.matrix import Matrix, NotCounts
from disco.table.formats.plain import ROW_NAMES, with_facts
from disco.table.formats.reading import USUAL_GENES, Reading


def read(source: BinaryIO, suffix: str, reading: Reading) -> pa.Table:
    """The counts of the chosen genes, with the cells' names as row names.

    Args:
        suffix: .zip for matrix.mtx; a file that ends in .h5 or .h5ad may have either layout.

    Raises:
        NotATable: it is damaged, too large, of an unknown layout, or holds no counts.
    """
    if suffix == ".zip":
        if reading.layer is not None:
            raise NotATable(" has one matrix, so no layer can be chosen.")
        return _table(market.read(source), reading, "", [])
    try:
        with hdf5.opened(source) as file:
            layout = _layout(file)
            matrix, layer = layout.read(file, reading)
            return _table(matrix, reading, layer, layout.layers(file))
    except hdf5.DAMAGED as error:
        reason = next(iter(str(error).splitlines()), "")[:100]
        raise NotATable(f" cannot be read, because it is damaged: {reason or type(error).__name__}.") from None


def _layout(file: h5py.File) -> ModuleType:
    """The module that reads this layout."""
    if {"obs", "var"} <= set(hdf5.names(file)):
        return anndata
    if tenx.layers(file):
        return tenx
    raise NotATable(" is HDF5, but neither of anndata 0.7 or later nor of 10x Cell Ranger: save the counts as CSV.")


def _table(matrix: Matrix, reading: Reading, layer: str, layers: list[str]) -> pa.Table:
    try:
        places, words = genes.chosen(matrix, reading)
        counts = genes.dense(matrix, places)
    except NotCounts as reason:
        cure = "choose another layer" if len(layers) > 1 else "save the raw counts"
        raise NotCounts(f"{f', layer {layer[:40]},' if layer else ''}{reason}: {cure}.") from None
    columns = [pa.array(counts[:, place]) for place in range(len(places))]
    fields = [pa.field(matrix.genes[place], pa.int64()) for place in places]
    table = pa.Table.from_arrays(
        [*columns, pa.array(matrix.cells, pa.string())],
        schema=pa.schema([*fields, pa.field("", pa.string(), metadata=ROW_NAMES)]),
    )
    size = {"cells": len(matrix.cells), "there": len(matrix.genes), "layers": layers}
    choice = {"layer": layer, "genes": reading.genes or USUAL_GENES, "by": reading.by or "residuals"}
    return with_facts(table, [*matrix.notes, words], matrix=size | choice)
