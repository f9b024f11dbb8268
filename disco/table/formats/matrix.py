"""A matrix of counts in a file, cells × genes, read block by block and never wholly in memory."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa

from disco.table.formats.limits import MOST_CELLS_OF_MATRIX, MOST_ENTRIES, MOST_GENES, NotATable
from disco.table.formats.normalised import restored
from disco.words import how_many, plural

Block = tuple[np.ndarray, np.ndarray, np.ndarray]
Blocks = Callable[[], Iterator[Block]]
ENTRIES = 1_000_000  # of a block
_MOST_RESTORED = 50_000_000  # values, of 16 bytes each and as many again
_TOO_LARGE = 2**53  # from here on, floats no longer distinguish consecutive integers
_EXPRESSION = "Gene Expression"


class NotCounts(NotATable):
    """Values that are not counts."""


@dataclass(frozen=True)
class Matrix:
    """Counts of cells × genes.

    Attributes:
        blocks: returns the stored values from the beginning, in blocks of cells, genes (positions from 0) and values,
            (entries,) each; no position is repeated, and missing ones are 0.
        notes: what was left out, in sentences.
        nouns: what its cells and genes are called in sentences.
        layer, layers: its name, and those of all matrices of the file; empty if they have none.
        obs: chosen columns that describe the cells, by name.
        obs_names: all such columns of the file; None if its format has none.
    """

    blocks: Blocks
    cells: list[str]
    genes: list[str]
    notes: tuple[str, ...] = ()
    nouns: tuple[str, str] = ("cell", "gene")
    layer: str = ""
    layers: Sequence[str] = ()
    obs: Mapping[str, pa.Array] = field(default_factory=dict)
    obs_names: Sequence[str] | None = None

    def counts(self) -> Iterator[Block]:
        """The blocks, with values as float64; NotCounts if some are not counts."""
        for cells, genes, values in self.blocks():
            yield cells, genes, self.checked(cells, genes, values)

    def checked(self, cells: np.ndarray, genes: np.ndarray, values: np.ndarray) -> np.ndarray:
        """The values of a block as float64; NotCounts if some are not whole numbers from 0 up."""
        values = values.astype(float)
        wrong = ~((values >= 0) & (values < _TOO_LARGE) & (values == np.floor(values)))
        if wrong.any():
            at = int(wrong.argmax())
            where = f"{self.genes[genes[at]][:40]} in {self.cells[cells[at]][:40]}"
            raise NotCounts(f" holds values that are not counts, such as {values[at]:g} of {where}")
        return values

    def problem(self) -> NotCounts | None:
        """Why the first values are not counts; None if they are."""
        try:
            next(self.counts(), None)
        except NotCounts as reason:
            return reason
        return None

    def select(self, column: np.ndarray, genes: list[str]) -> "Matrix":
        """The matrix of some genes; `column`, (genes,) int, has the new position of each gene, −1 if left out."""

        def blocks() -> Iterator[Block]:
            for cells, positions, values in self.blocks():
                inside = column[positions] >= 0
                yield cells[inside], column[positions[inside]], values[inside]

        return replace(self, blocks=blocks, genes=genes)

    def expression(self, kinds: Sequence[str]) -> "Matrix":
        """The matrix without features other than gene expression, if it has both; `kinds` is empty if unknown."""
        is_gene = np.array([kind == _EXPRESSION for kind in kinds], dtype=bool)
        if not is_gene.any() or is_gene.all():
            return self
        kinds_left_out = ", ".join(sorted({kind[:30] for kind in kinds} - {_EXPRESSION})[:5])
        note = f"{(~is_gene).sum():,} features that are not genes were left out: {kinds_left_out}."
        genes = [self.genes[index] for index in np.flatnonzero(is_gene)]
        selected = self.select(np.where(is_gene, np.cumsum(is_gene) - 1, -1), genes)
        return replace(selected, notes=(*self.notes, note))

    def restored(self) -> "Matrix":
        """The counts behind normalised values, without cells of too few values; NotCounts says why there are none."""
        stored, entries = list[Block](), 0
        for cells, genes, values in self.blocks():
            filled = values != 0
            block = cells[filled].astype(np.int32), genes[filled].astype(np.int32), values[filled].astype(float)
            stored.append(block)
            entries += len(block[0])
            if entries > _MOST_RESTORED:
                raise NotCounts(f" are more than {_MOST_RESTORED:,}, too many to restore counts")
        cells, genes, values = map(np.concatenate, zip(*stored, strict=True))
        order = np.argsort(cells, kind="stable")
        lengths = np.bincount(cells, minlength=len(self.cells))
        result = restored(values[order], np.concatenate([[0], np.cumsum(lengths)]))
        if isinstance(result, str):
            raise NotCounts(f" {result}")
        remaining, inside = np.delete(np.arange(len(self.cells)), result.open_rows), result.counts > 0
        cells, genes = np.searchsorted(remaining, cells[order][inside]), genes[order][inside].astype(int)
        note = (
            f"The values are {result.scale}; the counts were restored exactly, to {result.residual:.0e} of their size."
        )
        if number := len(result.open_rows):
            were = plural(number, "was", "were")
            note += f" {how_many(number, self.nouns[0])} with too few values for that {were} left out."
        return replace(
            self,
            blocks=lambda: iter([(cells, genes, result.counts[inside])]),
            cells=[self.cells[at] for at in remaining],
            notes=(*self.notes, note),
            obs={name: column.take(remaining) for name, column in self.obs.items()},
        )


def joined(matrices: list[Matrix], labels: list[str]) -> Matrix:
    """The cells of several matrices in turn, marked by labels, with the genes of all; NotATable without such genes."""
    common = set(matrices[0].genes).intersection(*(matrix.genes for matrix in matrices[1:]))
    genes = [gene for gene in matrices[0].genes if gene in common]
    if not genes:
        raise NotATable(" holds matrices that have no gene in common: read each by itself.")
    position = {gene: index for index, gene in enumerate(genes)}
    columns = [np.array([position.get(gene, -1) for gene in matrix.genes]) for matrix in matrices]
    selected = [matrix.select(column, genes) for matrix, column in zip(matrices, columns, strict=True)]
    start = np.cumsum([0, *(len(matrix.cells) for matrix in matrices)])

    def blocks() -> Iterator[Block]:
        for matrix, first in zip(selected, start[:-1], strict=True):
            for cells, positions, values in matrix.blocks():
                yield cells + first, positions, values

    cells = [f"{label}_{cell}" for matrix, label in zip(matrices, labels, strict=True) for cell in matrix.cells]
    notes = [f"{len(matrices)} matrices were put below each other; the column file has the one of each cell."]
    names = Counter(cell for matrix in matrices for cell in set(matrix.cells))
    if repeated := sum(times > 1 for times in names.values()):
        notes.append(f"{repeated:,} names of cells are in several of them: they are taken for different cells.")
    if left_out := max(len(matrix.genes) for matrix in matrices) - len(genes):
        notes.append(f"Genes that not every file has were left out, up to {left_out:,} of a file.")
    of_file = np.repeat(np.arange(len(matrices)), np.diff(start))
    files = pa.DictionaryArray.from_arrays(pa.array(of_file, pa.int32()), pa.array(labels, pa.string()))
    notes = [*dict.fromkeys(note for matrix in matrices for note in matrix.notes), *notes]
    return Matrix(blocks, cells, genes, tuple(notes), obs={"file": files})


def dense_blocks(values: Any) -> Iterator[Block]:
    """Blocks of a dense matrix, without its zeros; a chunk of a file is unpacked once, however wide it is."""
    rows, columns = values.shape
    tall, wide = getattr(values, "chunks", None) or (1, columns)
    wide *= max(ENTRIES // (tall * wide), 1)
    tall *= max(ENTRIES // (tall * min(wide, columns)), 1)
    for top, left in product(range(0, rows, tall), range(0, columns, wide)):
        chunk = values[top : top + tall, left : left + wide]
        step = max(ENTRIES // chunk.shape[1], 1)
        for start in range(0, len(chunk), step):
            block = chunk[start : start + step]
            cells, genes = np.nonzero(block)
            yield cells + (top + start), genes + left, block[cells, genes]


def transposed(blocks: Blocks) -> Blocks:
    """The blocks of the transposed matrix."""
    return lambda: ((cells, genes, values) for genes, cells, values in blocks())


def check_once(keys: np.ndarray) -> None:
    """NotATable if a position is repeated."""
    if (np.diff(keys) <= 0).any() and (np.diff(np.sort(keys)) == 0).any():
        raise NotATable(": its sparse matrix has two values for one cell and gene: it is damaged.")


def distinct(names: list[str], ids: list[str] | None = None) -> list[str]:
    """Unique names: a repeated name gets its id, or its number among its repetitions, in brackets."""
    times, turn = Counter(names), Counter[str]()
    unique = []
    for index, name in enumerate(names):
        if times[name] > 1:
            turn[name] += 1
            name = f"{name} ({ids[index] if ids else turn[name]})"
        unique.append(name)
    return unique


def check_size(cells: int, genes: int, entries: int) -> None:
    """NotATable if a matrix has too many cells, genes or values to read, or none."""
    for number, limit, what in (
        (cells, MOST_CELLS_OF_MATRIX, "cells"),
        (genes, MOST_GENES, "genes"),
        (entries, MOST_ENTRIES, "values"),
    ):
        if number > limit:
            raise NotATable(f" has {number:,} {what}; at most {limit:,} are read. Leave cells or genes out.")
    if cells < 1 or genes < 1:
        raise NotATable(f" has {max(cells, 0):,} cells and {max(genes, 0):,} genes: there is nothing to read.")
