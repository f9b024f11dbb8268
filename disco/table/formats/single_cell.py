"""Read a file of cells and genes: h5ad, 10x HDF5, matrix.mtx in an archive, or BIOM.

Chosen genes become columns, cells rows. Genes are chosen by names or patterns, or as the most variable ones, by
variance or by variance of the Pearson residuals. Chosen columns of obs follow the genes.
"""

import re
from collections.abc import Callable
from fnmatch import translate

import h5py
import numpy as np
import pyarrow as pa

from disco.table.formats import anndata, biom, hdf5, market, tenx
from disco.table.formats.archive import opened
from disco.table.formats.catalogue import ARCHIVES, Source
from disco.table.formats.limits import MOST_COLUMNS, NotATable, check_shape, unreadable
from disco.table.formats.matrix import Matrix, NotCounts
from disco.table.formats.plain import ROW_NAMES, with_facts
from disco.table.formats.reading import USUAL_GENES, Reading

_MOST_OFFERED = 1000  # columns of obs
_OVERDISPERSION = 100.0  # θ of the residuals, as in the article
_BLOCK = 2_000_000  # residuals at once


def read(source: Source) -> pa.Table:
    """The counts of the chosen genes and the chosen columns of obs, with the cells' names as row names.

    The source is an archive with a matrix.mtx, BIOM in JSON or as text, or HDF5 of any layout.

    Raises:
        NotATable: it is damaged, too large, of an unknown layout, or holds no counts.
    """
    reading, file = source.reading, source.file
    if source.suffix in ARCHIVES:
        return _table(market.read(opened(file, source.suffix)), reading)
    if source.suffix == ".biom" and (head := file.read(len(hdf5.MAGIC))) != hdf5.MAGIC:
        return _table(biom.of_text(head + file.read()), reading)
    try:
        with hdf5.opened(file) as stored:
            return _table(_of_hdf5(stored, reading), reading)
    except hdf5.DAMAGED:
        raise NotATable(unreadable("HDF5")) from None


def _of_hdf5(file: h5py.File, reading: Reading) -> Matrix:
    names = {*hdf5.names(file)}
    if {"obs", "var"} <= names:
        return anndata.read(file, reading)
    if tenx.layers(file):
        return tenx.read(file, reading)
    if {"observation", "sample"} <= names:
        return biom.read(file)
    raise NotATable(" is HDF5, but not of anndata 0.7 or later, 10x Cell Ranger or BIOM: save the counts as CSV.")


def _table(matrix: Matrix, reading: Reading) -> pa.Table:
    """The table of the chosen genes and columns of obs; normalised values become the counts behind them if possible."""
    if reading.layer is not None and not matrix.layers:
        raise NotATable(" has no layers to choose from: only h5ad and 10x files have.")
    if reading.obs and matrix.obs_names is None:
        raise NotATable(" has no columns of obs: only h5ad files have them.")
    remedy = "choose another layer" if len(matrix.layers) > 1 else "save the raw counts"
    where = f", layer {matrix.layer[:40]}," if matrix.layer else ""
    if problem := matrix.problem():
        try:
            matrix = matrix.restored()
        except NotCounts as reason:
            raise NotCounts(f"{where}{problem}. The values{reason}: {remedy}.") from None
    try:
        indices, choice_note = _chosen(matrix, reading)
        for index in indices:
            if matrix.genes[index] in matrix.obs:
                raise NotATable(f' has a gene and a column of obs called "{matrix.genes[index][:40]}": leave one out.')
        check_shape(len(matrix.cells), len(indices) + len(matrix.obs))
        counts = _dense(matrix, indices)
    except NotCounts as reason:
        raise NotCounts(f"{where}{reason}: {remedy}.") from None
    fields = [pa.field(matrix.genes[index], pa.int64()) for index in indices]
    fields += [pa.field(name, values.type) for name, values in matrix.obs.items()]
    table = pa.Table.from_arrays(
        [*map(pa.array, counts.T), *matrix.obs.values(), pa.array(matrix.cells, pa.string())],
        schema=pa.schema([*fields, pa.field("", pa.string(), metadata=ROW_NAMES)]),
    )
    obs_names = matrix.obs_names or ()
    facts = {
        "cells": len(matrix.cells),
        "there": len(matrix.genes),
        "layers": matrix.layers,
        "columns": [name for name in obs_names if name.isprintable()][:_MOST_OFFERED],
        "nouns": matrix.nouns,
        "layer": matrix.layer,
        "genes": reading.genes or USUAL_GENES,
        "by": reading.by or "residuals",
        "obs": list(matrix.obs),
        "categories": [name for name, values in matrix.obs.items() if pa.types.is_dictionary(values.type)],
    }
    notes = [*matrix.notes]
    if left_out := [name[:30] for name in obs_names if name not in matrix.obs]:
        end = f" and {len(left_out) - 10} more" if len(left_out) > 10 else ""
        notes.append(f"Columns of obs that were left out: {', '.join(left_out[:10])}{end}.")
    return with_facts(table, [*notes, choice_note], matrix=facts)


def _chosen(matrix: Matrix, reading: Reading) -> tuple[np.ndarray, str]:
    """The indices of the chosen genes in the order of the file, (chosen,) int, and a note."""
    request = (reading.genes or USUAL_GENES).strip()
    if not request.isdecimal():
        indices = _named(matrix.genes, request)
        return indices, f"{len(indices):,} of {len(matrix.genes):,} {matrix.nouns[1]}s were chosen by name."
    check_shape(len(matrix.cells), int(request))
    spread, words = _SPREADS[reading.by or "residuals"]
    return _most_variable(spread(matrix), int(request), words, matrix.nouns[1])


def _named(genes: list[str], request: str) -> np.ndarray:
    """The indices of the genes in a comma-separated list of names and patterns such as CD*."""
    indices: set[int] = set()
    for pattern in filter(None, map(str.strip, request.split(","))):
        is_pattern = any(mark in pattern for mark in "*?[")
        fits: Callable[[str], object] = re.compile(translate(pattern)).match if is_pattern else pattern.__eq__
        matches = [index for index, gene in enumerate(genes) if fits(gene)]
        if not matches:
            raise NotATable(f' has no gene "{pattern[:40]}"; its first genes are {", ".join(genes[:5])}.')
        indices.update(matches)
    if len(indices) > MOST_COLUMNS:
        raise NotATable(f": {len(indices):,} genes have such names; at most {MOST_COLUMNS:,} are read.")
    return np.array(sorted(indices), dtype=int)


def _most_variable(spread: np.ndarray, number: int, words: str, noun: str) -> tuple[np.ndarray, str]:
    varied = int((spread > 0).sum())
    if varied < 1:
        raise NotATable(f" has no {noun} whose counts differ.")
    indices = np.sort(np.argsort(-spread, kind="stable")[: min(number, varied)])
    if len(indices) == len(spread):
        return indices, f"All {len(spread):,} {noun}s were read."
    note = f"{len(indices):,} of {len(spread):,} {noun}s were chosen by {words}."
    are_all = len(indices) < min(number, len(spread))
    return indices, f"{note} {f'The other {noun}s are constant' if are_all else 'Choose others (--genes)'}."


def variances(matrix: Matrix) -> np.ndarray:
    """The variance of each gene's counts over the cells, (genes,)."""
    sums, squares = np.zeros((2, len(matrix.genes)))
    for _, genes, values in matrix.counts():
        sums += np.bincount(genes, values, len(sums))
        squares += np.bincount(genes, values**2, len(sums))
    cells = len(matrix.cells)
    return squares / cells - (sums / cells) ** 2


def residual_variances(matrix: Matrix) -> np.ndarray:
    """The variance of each gene's Pearson residuals over the cells, (genes,).

    z = (x − μ) / √(μ + μ²/θ), where μ is the cell's total times the gene's share of all counts, and θ = 100; clipped to
    ±√cells (Lause, Berens and Kobak, Genome Biology 22, 2021). Without the zeros of a sparse matrix:
    Σ z = Σ z(0) + Σ over values of (z(x) − z(0)), and likewise for z².
    """
    cells, sums = len(matrix.cells), np.zeros(len(matrix.genes))
    depth = np.zeros(cells)
    for of_cell, genes, values in matrix.counts():
        sums += np.bincount(genes, values, len(sums))
        depth += np.bincount(of_cell, values, cells)
    share = sums / max(sums.sum(), 1)
    first, second = _of_zeros(share, depth)
    for of_cell, genes, values in matrix.counts():
        mean = share[genes] * depth[of_cell]
        z, zero = _residuals(values, mean, cells), _residuals(0, mean, cells)
        first += np.bincount(genes, z - zero, len(sums))
        second += np.bincount(genes, z**2 - zero**2, len(sums))
    return np.where(sums > 0, second / cells - (first / cells) ** 2, 0)


def _of_zeros(share: np.ndarray, depth: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The sums over all cells of z(0) and z(0)² of each gene; equal totals of genes and of cells are computed once."""
    shares, index = np.unique(share, return_inverse=True)
    depths, times = np.unique(depth, return_counts=True)
    sums = np.zeros((2, len(shares)))
    step = max(_BLOCK // len(depths), 1)
    for start in range(0, len(shares), step):
        block = slice(start, start + step)
        z = _residuals(0, np.outer(shares[block], depths), len(depth))
        sums[0, block], sums[1, block] = z @ times, z**2 @ times
    return sums[0, index], sums[1, index]


def _residuals(values: np.ndarray | int, mean: np.ndarray, cells: int) -> np.ndarray:
    """Clipped Pearson residuals; 0 where the mean is 0."""
    scale = np.sqrt(mean + mean**2 / _OVERDISPERSION)
    z = np.divide(values - mean, scale, out=np.zeros_like(mean), where=scale > 0)
    return np.clip(z, -np.sqrt(cells), np.sqrt(cells))


def _dense(matrix: Matrix, indices: np.ndarray) -> np.ndarray:
    """The counts of the genes at these positions, (cells, chosen) int64, contiguous in memory per gene."""
    check_shape(len(matrix.cells), len(indices))
    table = np.zeros((len(matrix.cells), len(indices)), np.int64, order="F")
    column = np.full(len(matrix.genes), -1)
    column[indices] = np.arange(len(indices))
    for cells, genes, values in matrix.blocks():
        inside = column[genes] >= 0
        cells, genes, values = cells[inside], genes[inside], values[inside]
        table[cells, column[genes]] = matrix.checked(cells, genes, values)
    return table


_SPREADS = {
    "residuals": (residual_variances, "the variance of their Pearson residuals"),
    "variance": (variances, "their variance"),
}
