"""Size limits of a file and its table.

With these limits any machine can read the largest file: 20 million cells are 160 MB as numbers, and reading them takes
about four times that.
"""

MATRICES = (".h5ad", ".h5", ".zip")  # cells × genes, read block by block: a longer and larger work than other files
MOST_BYTES = 200_000_000  # of a file; the app's upload limit (.streamlit/config.toml)
MOST_COLUMNS = 10_000  # twice the largest simulated graph; a page describes each column
MOST_CELLS = 20_000_000
MOST_SHEET_CELLS = 5_000_000  # of a workbook's used range; a cell there takes ten times the memory of a number
MOST_UNPACKED = 500_000_000  # bytes of a workbook or Parquet file, unpacked
MOST_MEMORY = 1_500_000_000  # bytes, of the reading process
MOST_SECONDS = 20  # of processor time, of the reading process
MOST_WAIT = 28  # seconds until it is stopped, also on a busy machine
MOST_MATRIX_BYTES = 2_000_000_000  # of a file of cells and genes that is read block by block; an upload is smaller
MOST_CELLS_OF_MATRIX, MOST_GENES = 2_000_000, 500_000
MOST_ENTRIES = 300_000_000  # stored values of such a matrix
MOST_CHUNK = 100_000_000  # bytes of a piece of it, unpacked
MOST_TEXT, MOST_NAME = 200_000_000, 1_000  # bytes of its lists of names, and characters of a name
MOST_MATRIX_SECONDS, MOST_MATRIX_WAIT = 120, 150  # of processor time, and until it is stopped
UNREADABLE_EXIT, MEMORY_EXIT = 2, 3  # its exit status if a file is not a table, or memory ran out


class NotATable(Exception):
    """Why a file is not a table: the rest of a sentence that begins with the file's name."""


def check_shape(rows: int, columns: int, most: int = MOST_CELLS) -> None:
    """Refuse a table too large to read.

    Raises:
        NotATable: it has too many columns or cells.
    """
    if columns > MOST_COLUMNS:
        raise NotATable(f" has {columns:,} columns; at most {MOST_COLUMNS:,} are read. Leave columns out.")
    if rows * columns > most:
        raise NotATable(
            f" has about {rows:,} rows of {columns:,} columns, {rows * columns:,} cells; at most {most:,} are read. "
            "Leave rows or columns out."
        )
