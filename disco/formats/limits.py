"""How large a table may be, and what stands in the way of reading it.

The limits keep the worst file within what any machine has: 20 million cells are 160 MB as numbers, and reading
them takes about four times that.
"""

MOST_BYTES = 200_000_000  # of a file; the app's upload limit (.streamlit/config.toml)
MOST_COLUMNS = 10_000  # twice the largest graph that is simulated; each costs a page its description
MOST_CELLS = 20_000_000
MOST_SHEET_CELLS = 5_000_000  # of a workbook's used range: each of its cells takes ten times the memory of a number
MOST_UNPACKED = 500_000_000  # bytes of a workbook or Parquet file, unpacked
MOST_MEMORY = 1_500_000_000  # bytes of the process that reads
MOST_SECONDS = 20  # of that process's work, and
MOST_WAIT = 28  # until it is given up, on a busy machine too
UNREADABLE_EXIT, MEMORY_EXIT = 2, 3  # how it says that a file is no table, or that memory ran out


class Unreadable(Exception):
    """Why a file is no table: the rest of a sentence that begins with the file's name."""


def check_shape(rows: int, columns: int, most: int = MOST_CELLS) -> None:
    """Refuse a table too large to be worth reading.

    Raises:
        Unreadable: it has too many columns or cells.
    """
    if columns > MOST_COLUMNS:
        raise Unreadable(f" has {columns:,} columns; at most {MOST_COLUMNS:,} are read. Leave columns out.")
    if rows * columns > most:
        raise Unreadable(
            f" has about {rows:,} rows of {columns:,} columns, {rows * columns:,} cells; at most {most:,} are read. "
            "Leave rows or columns out."
        )
