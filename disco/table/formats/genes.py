"""The choice of genes, before a matrix of cells × genes becomes a dense table.

By names or patterns, or the most variable ones, by variance or by variance of the Pearson residuals.
"""

import re
from collections.abc import Callable
from fnmatch import translate

import numpy as np

from disco.table.formats.limits import MOST_COLUMNS, NotATable, check_shape
from disco.table.formats.matrix import Matrix
from disco.table.formats.reading import USUAL_GENES, Reading

_OVERDISPERSION = 100.0  # θ of the residuals, as in the article
_BLOCK = 2_000_000  # residuals at once


def chosen(matrix: Matrix, reading: Reading) -> tuple[np.ndarray, str]:
    """The indices of the chosen genes in the order of the file, (chosen,) int, and a note.

    Raises:
        NotATable: a name matches no gene, too many are chosen, or the values are not counts.
    """
    wanted = (reading.genes or USUAL_GENES).strip()
    if not wanted.isdecimal():
        indices = named(matrix.genes, wanted)
        return indices, f"{len(indices):,} of {len(matrix.genes):,} {matrix.nouns[1]}s were chosen by name."
    check_shape(len(matrix.cells), int(wanted))
    spread, words = _SPREADS[reading.by or "residuals"]
    return _most(spread(matrix), int(wanted), words, matrix.nouns[1])


def named(genes: list[str], wanted: str) -> np.ndarray:
    """The indices of the genes in a comma-separated list of names and patterns such as CD*.

    Raises:
        NotATable: an entry matches no gene, or too many are chosen.
    """
    found: set[int] = set()
    for pattern in filter(None, map(str.strip, wanted.split(","))):
        is_pattern = any(mark in pattern for mark in "*?[")
        fits: Callable[[str], object] = re.compile(translate(pattern)).match if is_pattern else pattern.__eq__
        indices = [index for index, gene in enumerate(genes) if fits(gene)]
        if not indices:
            raise NotATable(f' has no gene "{pattern[:40]}"; its first genes are {", ".join(genes[:5])}.')
        found.update(indices)
    if len(found) > MOST_COLUMNS:
        raise NotATable(f": {len(found):,} genes have such names; at most {MOST_COLUMNS:,} are read.")
    return np.array(sorted(found), dtype=int)


def _most(spread: np.ndarray, most: int, words: str, noun: str) -> tuple[np.ndarray, str]:
    varied = int((spread > 0).sum())
    if varied < 1:
        raise NotATable(f" has no {noun} whose counts differ.")
    indices = np.sort(np.argsort(-spread, kind="stable")[: min(most, varied)])
    if len(indices) == len(spread):
        return indices, f"All {len(spread):,} {noun}s were read."
    note = f"{len(indices):,} of {len(spread):,} {noun}s were chosen by {words}."
    are_all = len(indices) < min(most, len(spread))
    return indices, f"{note} {f'The other {noun}s are constant' if are_all else 'Choose others on Data or by --genes'}."


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
        part = slice(start, start + step)
        z = _residuals(0, np.outer(shares[part], depths), len(depth))
        sums[0, part], sums[1, part] = z @ times, z**2 @ times
    return sums[0, index], sums[1, index]


def _residuals(values: np.ndarray | int, mean: np.ndarray, cells: int) -> np.ndarray:
    """Clipped Pearson residuals; 0 where the mean is 0."""
    scale = np.sqrt(mean + mean**2 / _OVERDISPERSION)
    z = np.divide(values - mean, scale, out=np.zeros_like(mean), where=scale > 0)
    return np.clip(z, -np.sqrt(cells), np.sqrt(cells))


def dense(matrix: Matrix, indices: np.ndarray) -> np.ndarray:
    """The counts of the genes at these positions, (cells, chosen) int64, contiguous in memory per gene."""
    check_shape(len(matrix.cells), len(indices))
    table = np.zeros((len(matrix.cells), len(indices)), np.int64, order="F")
    column = np.full(len(matrix.genes), -1)
    column[indices] = np.arange(len(indices))
    for cells, genes, values in matrix.blocks():
        kept = column[genes] >= 0
        table[cells[kept], column[genes[kept]]] = matrix.checked(cells[kept], genes[kept], values[kept])
    return table


_SPREADS = {
    "residuals": (residual_variances, "the variance of their Pearson residuals"),
    "variance": (variances, "their variance"),
}
