"""Size limits of a file and its table.

A workbook or Stata file is read whole, and 20 million cells are 160 MB as numbers. Text, Parquet, and files of cells
and genes are read in pieces: what they hold has to fit in the free memory.
"""

from dataclasses import dataclass

MOST_BYTES = 200_000_000  # of another file
MOST_BYTES_IN_PIECES = 2_000_000_000  # an upload is smaller (.streamlit/config.toml)
MOST_COLUMNS = 10_000  # twice the largest simulated graph; a page describes each column
MOST_CELLS = 20_000_000
MOST_CELLS_IN_PIECES = 1_000_000_000  # 2 GB of counts of one digit
_CELL_BYTES = 30  # of memory, at most in `disco check`: as read, as counts, as ranks
MOST_SHEET_CELLS = 5_000_000  # of a workbook's used range; a cell there takes ten times the memory of a number
MOST_UNPACKED = 500_000_000  # bytes of a workbook, unpacked
MOST_UNPACKED_IN_PIECES = 8_000_000_000  # bytes of a Parquet file, unpacked
MOST_MEMORY = 1_500_000_000  # bytes, of the reading process of a small file
MOST_SECONDS = 20  # of its processor time
MOST_WAIT = 28  # seconds until it is stopped, also on a busy machine
_MEMORY_PER_BYTE, _BYTES_PER_SECOND, _BYTES_PER_WAIT = 4, 20_000_000, 10_000_000  # what each byte of a file adds
MOST_CELLS_OF_MATRIX, MOST_GENES = 2_000_000, 500_000
MOST_ENTRIES = 300_000_000  # stored values of such a matrix
MOST_CHUNK = 100_000_000  # bytes of a piece of it, unpacked
MOST_TEXT, MOST_NAME = 200_000_000, 1_000  # bytes of its lists of names, and characters of a name
MOST_MATRIX_SECONDS, MOST_MATRIX_WAIT = 120, 150  # of processor time, and until it is stopped
MOST_PACKED_WAIT = 400  # seconds to unpack a file and to read it
MOST_MEMBERS = 100_000  # files of an archive or a folder
MOST_TABLES, MOST_MATRICES = 10_000, 1_000  # that become one table
UNREADABLE_EXIT, MEMORY_EXIT = 2, 3  # its exit status if a file is not a table, or memory ran out


class NotATable(Exception):
    """Why a file is not a table: the rest of a sentence that begins with the file's name."""


def unreadable(kind: str) -> str:
    """A clause that a file cannot be read as its kind; a parser's own words help nobody."""
    return (
        f" cannot be read as {kind}: it is damaged, incomplete, or of a kind that is not read. Copy it again, or save "
        "the table as CSV."
    )


@dataclass(frozen=True)
class ProcessLimits:
    """Limits of a reader's process: bytes of memory, seconds of processor time, seconds until it is stopped."""

    memory: int
    seconds: int
    wait: float


def of_size(size: int) -> ProcessLimits:
    """The limits for a file of this many bytes that is read whole."""
    return ProcessLimits(
        MOST_MEMORY + _MEMORY_PER_BYTE * size,
        MOST_SECONDS + size // _BYTES_PER_SECOND,
        MOST_WAIT + size / _BYTES_PER_WAIT,
    )


def check_shape(rows: int, columns: int, most: int = MOST_CELLS) -> None:
    """NotATable if a table is too large to read, or to use in the free memory."""
    if columns > MOST_COLUMNS:
        raise NotATable(f" has {columns:,} columns; at most {MOST_COLUMNS:,} are read. Leave columns out.")
    cells = f" has about {rows:,} rows of {columns:,} columns, {rows * columns:,} cells"
    if rows * columns > most:
        raise NotATable(f"{cells}; at most {most:,} are read. Leave rows or columns out.")
    import psutil  # the engine alone does not need it

    needed, free = rows * columns * _CELL_BYTES, psutil.virtual_memory().available
    if needed > free:
        fitting = free // _CELL_BYTES
        fewer = f", or {fitting // rows:,} of its columns" if fitting // rows > 1 else ""
        raise NotATable(
            f"{cells}, which need about {needed / 1e9:,.1f} GB of memory, and {free / 1e9:,.1f} GB are free. Keep at "
            f"most {fitting // columns:,} rows{fewer}."
        )
