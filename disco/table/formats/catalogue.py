"""The formats that are read, with their endings, limits, choices and readers; and how to export other formats.

A new format is a module with its reader, and an entry in `FORMATS`.
"""

import importlib
import io
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import BinaryIO, Literal

import pyarrow as pa

from disco.table.formats import limits
from disco.table.formats.limits import NotATable, ProcessLimits
from disco.table.formats.reading import DETECTED, Reading, Report, Text, silent

Kind = Literal["text", "workbook", "columns", "matrix", "archive"]


@dataclass(frozen=True)
class Source:
    """The content of a file, and how to read it.

    Attributes:
        content: the file mapped into memory, or the open file for a matrix or an archive.
        report: receives the share of text and Parquet that has been read.
    """

    content: Text | BinaryIO
    suffix: str
    reading: Reading = DETECTED
    report: Report = silent

    @property
    def data(self) -> Text:
        """The content as bytes, or mapped."""
        return self.content if isinstance(self.content, Text) else self.content.read()

    @property
    def file(self) -> BinaryIO:
        """The content as an open file."""
        return io.BytesIO(self.content) if isinstance(self.content, Text) else self.content


@dataclass(frozen=True)
class Format:
    """A format that is read.

    Attributes:
        kind: what its files hold, which decides the available choices.
        names: for users; none for a format of files of other formats.
        reader: module and function of `disco.table.formats`, imported when first needed.
        in_pieces: whether its content is in memory only once, so that its files may be large.
    """

    kind: Kind
    names: tuple[str, ...]
    suffixes: tuple[str, ...]
    reader: str
    in_pieces: bool = True

    def read(self, source: Source) -> pa.Table:
        """The table in a file of this format; NotATable without one."""
        module, function = self.reader.split(".")
        reader: Callable[[Source], pa.Table] = getattr(
            importlib.import_module(f"disco.table.formats.{module}"), function
        )
        return reader(source)


TABBED = (".tsv", ".tab", ".sf", ".results", ".counts", ".gct")  # of salmon, RSEM, HTSeq, GenePattern
FORMATS = (
    Format("text", ("CSV",), (".csv", ".txt"), "text_files.read_single"),
    Format("text", ("TSV", "GCT"), TABBED, "text_files.read_single"),
    Format("workbook", ("XLSX", "XLS", "ODS"), (".xlsx", ".xls", ".ods"), "workbook.read", in_pieces=False),
    Format("columns", ("Parquet",), (".parquet",), "parquet.read"),
    Format("columns", ("Stata",), (".dta",), "stata.read", in_pieces=False),
    Format("matrix", ("h5ad", "10x .h5", "BIOM"), (".h5ad", ".h5", ".biom"), "single_cell.read"),
    Format("archive", (), (".zip", ".tar"), "text_files.read"),
)
PACKINGS = (".gz", ".bz2", ".xz", ".zst")  # after the ending of any format


def _suffixes(*kinds: Kind) -> tuple[str, ...]:
    return tuple(suffix for form in FORMATS if form.kind in kinds for suffix in form.suffixes)


TEXT, WORKBOOKS, ARCHIVES = _suffixes("text"), _suffixes("workbook"), _suffixes("archive")
MATRICES = _suffixes("matrix", "archive")  # cells × genes, read block by block: a longer and larger work than others
TABLES = _suffixes("text", "workbook", "columns", "matrix")
SUFFIXES = (*TABLES, *ARCHIVES)


def named(*kinds: Kind) -> str:
    """The names of the formats of these kinds in words, as in CSV, TSV or Parquet."""
    *names, last = (name for form in FORMATS if form.kind in kinds for name in form.names)
    return f"{', '.join(names)} or {last}" if names else last


PLAIN_NAMES, MATRIX_NAMES = named("text", "workbook", "columns"), named("matrix")  # tables, and cells × genes

NO_STRAND = ": strands are chosen in files that STAR wrote only, one per sample."
_CHOICES: tuple[tuple[tuple[str, ...], tuple[Kind, ...], str], ...] = (  # fields, the kinds that have them, refusal
    (
        ("layer", "genes", "by", "obs"),
        ("matrix",),
        f": layers, genes and columns of obs are chosen in files of cells and genes only, {', '.join(MATRICES)}.",
    ),
    (("sheet",), ("workbook",), f" has no sheets to choose from: only workbooks have, {', '.join(WORKBOOKS)}."),
    (("hidden",), ("workbook",), f" has no hidden rows or columns: only workbooks have, {', '.join(WORKBOOKS)}."),
    (("strand",), ("archive", "columns"), NO_STRAND),
)
_EXPORTS = (  # formats that are not read: what a file is, its endings, what to do
    ("an SPSS file", (".sav", ".zsav", ".por"), "in SPSS, save it as CSV or as Stata (.dta)"),
    (
        "an R file",
        (".rds", ".rda", ".rdata"),
        "in R, write a table by write.csv(x, 'counts.csv', row.names = FALSE). Of a Seurat object, two lines write a "
        "folder, counts, that is read. First: m <- Seurat::GetAssayData(x, layer = 'counts'), or of a "
        "SingleCellExperiment: m <- SingleCellExperiment::counts(x). Second: dir.create('counts'); "
        "Matrix::writeMM(m, 'counts/matrix.mtx'); writeLines(rownames(m), 'counts/features.tsv'); "
        "writeLines(colnames(m), 'counts/barcodes.tsv')",
    ),
    ("a binary Excel workbook", (".xlsb",), "in Excel, save it as .xlsx"),
    ("a loom file", (".loom",), "save it as h5ad: anndata.read_loom('a.loom').write_h5ad('a.h5ad')"),
    (
        "a matrix without its names",
        (".mtx",),
        "give its folder, with features.tsv and barcodes.tsv, or a ZIP of the three",
    ),
    ("a pickle", (".pkl", ".pickle"), "it could run any program, so save the table as CSV or Parquet"),
)
_MAGIC = (  # first bytes of a file, what it is, the endings that say so
    (rb"%PDF-", "a PDF", (".pdf",)),
    (rb"\xd0\xcf\x11\xe0", "an old document or workbook", (".xls", ".xlsx", ".ods")),
    (rb"PK\x03\x04", "a workbook, a ZIP or a document", (".xlsx", ".ods", ".zip")),
    (rb"\x89HDF\r\n", "HDF5", (".h5ad", ".h5", ".biom")),
    (rb"PAR1[\x00-\x1f]", "Parquet", (".parquet",)),
    (rb"<stata_dta>", "of Stata", (".dta",)),
    (rb"\x1f\x8b", "packed by gzip", (".gz",)),
    (rb"BZh[1-9]1AY&SY", "packed by bzip2", (".bz2",)),
    (rb"\xfd7zXZ\x00", "packed by xz", (".xz",)),
    (rb"\x28\xb5\x2f\xfd", "packed by Zstandard", (".zst",)),
)


def format_of(suffix: str) -> Format:
    """The format of an ending, one of `SUFFIXES`."""
    return next(form for form in FORMATS if suffix in form.suffixes)


def check_choices(reading: Reading, kind: Kind) -> None:
    """NotATable if a choice does not apply to this kind of file."""
    for names, kinds, refusal in _CHOICES:
        if kind not in kinds and any(getattr(reading, name) for name in names):
            raise NotATable(refusal)
    if kind == "columns" and replace(reading, obs=()) != DETECTED:
        raise NotATable(": Parquet and Stata files say how they are read; leave out the choices.")


def exported(suffix: str) -> str:
    """A clause why a format is not read and how to export from it; empty for another ending."""
    remedies = (f" is {what}, which is not read: {remedy}." for what, endings, remedy in _EXPORTS if suffix in endings)
    return next(remedies, "")


def misnamed(head: bytes, suffix: str) -> str:
    """A clause that a file's first bytes contradict its ending; empty if they do not."""
    for magic, what, endings in _MAGIC:
        if re.match(magic, head) and not suffix.endswith(endings):
            if endings[0] not in SUFFIXES + PACKINGS:
                return f" is {what}: save its table as CSV or as .xlsx."
            return f" is {what}, and its name should not end in {suffix}: rename it to end in {' or '.join(endings)}."
    return ""


def most_bytes(suffix: str) -> int:
    """The largest size of a file of this format, packed or not."""
    in_pieces = tuple(ending for form in FORMATS if form.in_pieces for ending in form.suffixes)
    return limits.MOST_BYTES_IN_PIECES if suffix.endswith((*in_pieces, *PACKINGS)) else limits.MOST_BYTES


def limits_of(suffix: str, size: int) -> ProcessLimits:
    """Limits of the process that reads, or unpacks, a file of this format and size in bytes."""
    if suffix.endswith((*PACKINGS, *MATRICES)):
        is_packed = suffix.endswith((*PACKINGS, *ARCHIVES))
        wait = limits.MOST_PACKED_WAIT if is_packed else limits.MOST_MATRIX_WAIT
        return ProcessLimits(limits.MOST_MEMORY, limits.MOST_MATRIX_SECONDS, wait)
    return limits.of_size(size)
