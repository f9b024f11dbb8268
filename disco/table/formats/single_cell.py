"""Read a file of cells and genes: h5ad, 10x HDF5, matrix.mtx in an archive, or BIOM.

Chosen genes become columns, cells rows. Chosen columns of obs follow the genes.
"""

from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import BinaryIO

import h5py
import numpy as np
import pyarrow as pa

from disco.table.formats import anndata, archive, biom, genes, hdf5, market, obs, tenx
from disco.table.formats.limits import ARCHIVES, NotATable, check_shape, unreadable
from disco.table.formats.matrix import Matrix, NotCounts, counts_behind
from disco.table.formats.plain import ROW_NAMES, with_facts
from disco.table.formats.reading import USUAL_GENES, Reading

_MOST_OFFERED = 1000  # columns of obs


def read(source: BinaryIO, suffix: str, reading: Reading) -> pa.Table:
    """The counts of the chosen genes and the chosen columns of obs, with the cells' names as row names.

    Args:
        suffix: of an archive for matrix.mtx; .biom also for JSON and text; otherwise HDF5 of any layout.

    Raises:
        NotATable: it is damaged, too large, of an unknown layout, or holds no counts.
    """
    if suffix in ARCHIVES:
        _check_no_layer(reading)
        _check_no_obs(reading)
        matrix, of_file, labels = market.read(archive.opened(source, suffix))
        files = pa.DictionaryArray.from_arrays(pa.array(of_file, pa.int32()), pa.array(labels, pa.string()))
        return _table(matrix, reading, "", [], {"file": files} if len(labels) > 1 else {})
    if suffix == ".biom" and (head := source.read(len(hdf5.MAGIC))) != hdf5.MAGIC:
        _check_no_layer(reading)
        _check_no_obs(reading)
        return _table(biom.of_text(head + source.read()), reading, "", [])
    try:
        with hdf5.opened(source) as file:
            layout = _layout(file)
            layers = layout.layers(file)
            if not layers:
                _check_no_layer(reading)
            matrix, layer = layout.read(file, reading)
            if layout is not anndata:
                _check_no_obs(reading)
                return _table(matrix, reading, layer, layers)
            beside = obs.read(file, list(dict.fromkeys(reading.obs)), len(matrix.cells) + len(matrix.left_out))
            return _table(matrix, reading, layer, layers, beside, obs.names(file))
    except hdf5.DAMAGED:
        raise NotATable(unreadable("HDF5")) from None


def _layout(file: h5py.File) -> ModuleType:
    """The module that reads this layout."""
    if {"obs", "var"} <= set(hdf5.names(file)):
        return anndata
    if tenx.layers(file):
        return tenx
    if {"observation", "sample"} <= set(hdf5.names(file)):
        return biom
    raise NotATable(" is HDF5, but not of anndata 0.7 or later, 10x Cell Ranger or BIOM: save the counts as CSV.")


def _check_no_layer(reading: Reading) -> None:
    if reading.layer is not None:
        raise NotATable(" has no layers to choose from: only h5ad and 10x files have.")


def _check_no_obs(reading: Reading) -> None:
    if reading.obs:
        raise NotATable(" has no columns of obs: only h5ad files have them.")


def _table(
    matrix: Matrix,
    reading: Reading,
    layer: str,
    layers: list[str],
    beside: Mapping[str, pa.Array] | None = None,
    obs_names: Sequence[str] = (),
) -> pa.Table:
    """The table of the chosen genes and the chosen columns of obs; the file has `obs_names`.

    Normalised values become the counts behind them, if these can be known.
    """
    beside = beside or {}
    try:
        next(matrix.counts(), None)
    except NotCounts as reason:
        matrix = _restored(matrix, f"{f', layer {layer[:40]},' if layer else ''}{reason}", layers)
    if matrix.left_out:
        places = np.delete(np.arange(len(matrix.cells) + len(matrix.left_out)), matrix.left_out)
        beside = {name: values.take(places) for name, values in beside.items()}
    try:
        indices, words = genes.chosen(matrix, reading)
        for index in indices:
            if matrix.genes[index] in beside:
                raise NotATable(f' has a gene and a column of obs called "{matrix.genes[index][:40]}": leave one out.')
        check_shape(len(matrix.cells), len(indices) + len(beside))
        counts = genes.dense(matrix, indices)
    except NotCounts as reason:
        raise NotCounts(f"{f', layer {layer[:40]},' if layer else ''}{reason}: {_cure(layers)}.") from None
    columns = [pa.array(counts[:, index]) for index in range(len(indices))]
    fields = [pa.field(matrix.genes[index], pa.int64()) for index in indices]
    fields += [pa.field(name, values.type) for name, values in beside.items()]
    table = pa.Table.from_arrays(
        [*columns, *beside.values(), pa.array(matrix.cells, pa.string())],
        schema=pa.schema([*fields, pa.field("", pa.string(), metadata=ROW_NAMES)]),
    )
    offered = [name for name in obs_names if name.isprintable()][:_MOST_OFFERED]
    size = {"cells": len(matrix.cells), "there": len(matrix.genes), "layers": layers, "columns": offered}
    size |= {"nouns": matrix.nouns}
    choice = {"layer": layer, "genes": reading.genes or USUAL_GENES, "by": reading.by or "residuals"}
    categories = [name for name, values in beside.items() if pa.types.is_dictionary(values.type)]
    come_along = {"obs": list(beside), "categories": categories}
    left_out = _left_out([name for name in obs_names if name not in beside])
    notes = [*matrix.notes, *left_out, words]
    return with_facts(table, notes, matrix=size | choice | come_along)


def _restored(matrix: Matrix, reason: str, layers: list[str]) -> Matrix:
    """The counts behind the values of a matrix; NotCounts if there are none."""
    try:
        return counts_behind(matrix)
    except NotCounts as why:
        raise NotCounts(f"{reason}. The values{why}: {_cure(layers)}.") from None


def _cure(layers: list[str]) -> str:
    return "choose another layer" if len(layers) > 1 else "save the raw counts"


def _left_out(names: list[str]) -> list[str]:
    """A note on the columns of obs that were not chosen, the first ten of them."""
    if not names:
        return []
    more = f" and {len(names) - 10} more" if len(names) > 10 else ""
    return [f"Columns of obs that were left out: {', '.join(name[:30] for name in names[:10])}{more}."]
