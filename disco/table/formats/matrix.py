"""A matrix of counts in a file, cells × genes, read block by block and never wholly in memory."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from disco.table.formats.limits import MOST_CELLS_OF_MATRIX, MOST_ENTRIES, MOST_GENES, NotATable
from disco.table.formats.normalised import restored
from disco.words import how_many, plural

Block = tuple[np.ndarray, np.ndarray, np.ndarray]
_ENTRIES = 1_000_000  # of a block
_MOST_RESTORED = 50_000_000  # values, of 16 bytes each and as many again
_TOO_LARGE = 2**53  # from here on, floats no longer distinguish consecutive integers
_BAD_POINTERS = ": the pointers of its sparse matrix do not fit its values: it is damaged."


class NotCounts(NotATable):
    """Values that are not counts."""


@dataclass(frozen=True)
class Matrix:
    """Counts of cells × genes.

    Attributes:
        blocks: returns the stored values from the beginning, in blocks of cells, genes (positions from 0) and values,
            (entries,) each; no position is repeated, and missing ones are 0.
        cells, genes: their names.
        notes: what was left out, in sentences.
        nouns: what its cells and genes are called in sentences.
        left_out: positions of cells of the file that are not among its cells.
    """

    blocks: Callable[[], Iterator[Block]]
    cells: list[str]
    genes: list[str]
    notes: tuple[str, ...] = ()
    nouns: tuple[str, str] = ("cell", "gene")
    left_out: tuple[int, ...] = ()

    def counts(self) -> Iterator[Block]:
        """The blocks, with values as float64, checked to be counts.

        Raises:
            NotCounts: some are not.
        """
        for cells, genes, values in self.blocks():
            yield cells, genes, self.checked(cells, genes, values)

    def checked(self, cells: np.ndarray, genes: np.ndarray, values: np.ndarray) -> np.ndarray:
        """The values of a block as float64.

        Raises:
            NotCounts: some are not whole numbers from 0 up.
        """
        values = values.astype(float)
        wrong = ~((values >= 0) & (values < _TOO_LARGE) & (values == np.floor(values)))
        if wrong.any():
            at = int(wrong.argmax())
            where = f"{self.genes[genes[at]][:40]} in {self.cells[cells[at]][:40]}"
            raise NotCounts(f" holds values that are not counts, such as {values[at]:g} of {where}")
        return values


@dataclass(frozen=True)
class Compressed:
    """A sparse matrix stored in a file line after line: lines are cells (CSR) or genes (CSC).

    Attributes:
        data, indices: of the stored values; anything that returns an array for a slice.
        pointers: start of each line and end of the last, (lines + 1,) int64.
        width: positions in a line.
    """

    data: Any
    indices: Any
    pointers: np.ndarray
    width: int

    def __post_init__(self) -> None:
        lengths = np.diff(self.pointers)
        entries = self.data.shape[0]
        if self.pointers[0] != 0 or self.pointers[-1] != entries or self.indices.shape[0] != entries:
            raise NotATable(_BAD_POINTERS)
        if (lengths < 0).any() or (lengths > self.width).any():
            raise NotATable(_BAD_POINTERS)
        if self.indices.dtype.kind not in "iu":
            raise NotATable(": the positions in its sparse matrix are fractions: it is damaged.")

    def blocks(self) -> Iterator[Block]:
        """Blocks of whole lines: line, position, value."""
        line, lines = 0, len(self.pointers) - 1
        while line < lines:
            first = self.pointers[line]
            end = max(line + 1, int(np.searchsorted(self.pointers, first + _ENTRIES, side="right")) - 1)
            last = self.pointers[end]
            indices = self.indices[first:last].astype(np.int64)
            if len(indices) and (indices.min() < 0 or indices.max() >= self.width):
                raise NotATable(": a position in its sparse matrix lies outside the matrix: it is damaged.")
            of_line = np.repeat(np.arange(line, end), np.diff(self.pointers[line : end + 1]))
            check_once(of_line * self.width + indices)
            yield of_line, indices, self.data[first:last]
            line = end


def check_once(keys: np.ndarray) -> None:
    """Refuse repeated positions."""
    if (np.diff(keys) <= 0).any() and (np.diff(np.sort(keys)) == 0).any():
        raise NotATable(": its sparse matrix has two values for one cell and gene: it is damaged.")


def dense_blocks(values: Any) -> Iterator[Block]:
    """Blocks of a dense matrix, without its zeros; a chunk of a file is unpacked once, however wide it is."""
    rows, columns = values.shape
    tall, wide = getattr(values, "chunks", None) or (1, columns)
    wide *= max(_ENTRIES // (tall * wide), 1)
    tall *= max(_ENTRIES // (tall * min(wide, columns)), 1)
    for top, left in product(range(0, rows, tall), range(0, columns, wide)):
        chunk = values[top : top + tall, left : left + wide]
        step = max(_ENTRIES // chunk.shape[1], 1)
        for start in range(0, len(chunk), step):
            block = chunk[start : start + step]
            cells, genes = np.nonzero(block)
            yield cells + (top + start), genes + left, block[cells, genes]


def turned(blocks: Callable[[], Iterator[Block]]) -> Callable[[], Iterator[Block]]:
    """The blocks of the transposed matrix."""
    return lambda: ((cells, genes, values) for genes, cells, values in blocks())


def only(matrix: Matrix, kept: list[int], note: str) -> Matrix:
    """The matrix of the genes at these increasing positions."""
    column = np.full(len(matrix.genes), -1)
    column[kept] = np.arange(len(kept))

    def blocks() -> Iterator[Block]:
        for cells, genes, values in matrix.blocks():
            inside = column[genes] >= 0
            yield cells[inside], column[genes[inside]], values[inside]

    return Matrix(blocks, matrix.cells, [matrix.genes[index] for index in kept], (*matrix.notes, note))


def joined(matrices: list[Matrix], labels: list[str]) -> Matrix:
    """The cells of several matrices, one after the other, with the genes that all have; their names tell the matrix.

    Raises:
        NotATable: there is no such gene.
    """
    common = set(matrices[0].genes).intersection(*(matrix.genes for matrix in matrices[1:]))
    genes = [gene for gene in matrices[0].genes if gene in common]
    if not genes:
        raise NotATable(" holds matrices that have no gene in common: read each by itself.")
    place = {gene: index for index, gene in enumerate(genes)}
    columns = [np.array([place.get(gene, -1) for gene in matrix.genes]) for matrix in matrices]
    first = np.cumsum([0, *(len(matrix.cells) for matrix in matrices)])

    def blocks() -> Iterator[Block]:
        for matrix, column, start in zip(matrices, columns, first[:-1], strict=True):
            for cells, found, values in matrix.blocks():
                inside = column[found] >= 0
                yield cells[inside] + start, column[found[inside]], values[inside]

    cells = [f"{label}_{cell}" for matrix, label in zip(matrices, labels, strict=True) for cell in matrix.cells]
    notes = [f"{len(matrices)} matrices were put below each other; the column file has the one of each cell."]
    names = Counter(cell for matrix in matrices for cell in set(matrix.cells))
    if repeated := sum(times > 1 for times in names.values()):
        notes.append(f"{repeated:,} names of cells are in several of them: they are taken for different cells.")
    left_out = max(len(matrix.genes) for matrix in matrices) - len(genes)
    notes += [f"Genes that not every file has were left out, up to {left_out:,} of a file."] if left_out else []
    return Matrix(blocks, cells, genes, (*dict.fromkeys(note for matrix in matrices for note in matrix.notes), *notes))


def distinct(names: list[str], ids: list[str] | None = None) -> list[str]:
    """Unique names: a repeated one gets its id, or its number among the repeated ones, in brackets."""
    times, turn = Counter(names), Counter[str]()
    found = []
    for index, name in enumerate(names):
        if times[name] > 1:
            turn[name] += 1
            name = f"{name} ({ids[index] if ids else turn[name]})"
        found.append(name)
    return found


def counts_behind(matrix: Matrix) -> Matrix:
    """The matrix of the counts behind normalised values, without cells of too few values.

    Raises:
        NotCounts: there are none, and why.
    """
    parts, entries = [], 0
    for cells, genes, values in matrix.blocks():
        there = values != 0
        parts.append((cells[there].astype(np.int32), genes[there].astype(np.int32), values[there].astype(float)))
        entries += len(parts[-1][0])
        if entries > _MOST_RESTORED:
            raise NotCounts(f" are more than {_MOST_RESTORED:,}, too many to restore counts")
    cells, genes, values = map(np.concatenate, zip(*parts, strict=True))
    order = np.argsort(cells, kind="stable")
    rows = np.bincount(cells, minlength=len(matrix.cells))
    found = restored(values[order], np.concatenate([[0], np.cumsum(rows)]))
    if isinstance(found, str):
        raise NotCounts(f" {found}")
    kept, inside = np.delete(np.arange(len(matrix.cells)), found.open_rows), found.counts > 0
    block = np.searchsorted(kept, cells[order][inside]), genes[order][inside].astype(int), found.counts[inside]
    note = f"The values are {found.scale}; the counts were restored exactly, to {found.residual:.0e} of their size."
    if out := len(found.open_rows):
        note += f" {how_many(out, matrix.nouns[0])} with too few values for that {plural(out, 'was', 'were')} left out."
    names, notes, left_out = [matrix.cells[at] for at in kept], (*matrix.notes, note), tuple(found.open_rows.tolist())
    return replace(matrix, blocks=lambda: iter([block]), cells=names, notes=notes, left_out=left_out)


def check_size(cells: int, genes: int, entries: int) -> None:
    """Refuse a matrix too large to read.

    Raises:
        NotATable: it has too many cells, genes or values, or none.
    """
    for many, most, what in (
        (cells, MOST_CELLS_OF_MATRIX, "cells"),
        (genes, MOST_GENES, "genes"),
        (entries, MOST_ENTRIES, "values"),
    ):
        if many > most:
            raise NotATable(f" has {many:,} {what}; at most {most:,} are read. Leave cells or genes out.")
    if cells < 1 or genes < 1:
        raise NotATable(f" has {max(cells, 0):,} cells and {max(genes, 0):,} genes: there is nothing to read.")
