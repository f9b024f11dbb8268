"""About how long the searches of a refinement take, in seconds of one core of the reference machine, and its memory.

`disco.subjects.refinement.refine_forecast` explains the formula of the time, and what it was measured on. The memory
was measured with 200 to 5,000 columns of 2,000 rows (`benchmarks.many_columns`), with up to 200,000 rows, and on real
tables of 40 to 200 columns, where most pairs may be related and each node has many fits.
"""

from disco.refine.bounds import MOST_ROWS, MOST_STEPS_BYTES


def peak_bytes(rows: int, nodes: int, pairs: float = 0.0) -> int:
    """A generous estimate of a refinement's memory, in bytes, without libraries and table; `pairs` pass the screen."""
    searched, beyond, each = min(rows, MOST_ROWS), 40 * rows if rows > MOST_ROWS else 0, 2 * pairs / nodes
    fits = pairs * min(each**2, searched / 8)
    stored = 1500 * fits + min(100 * each * fits, MOST_STEPS_BYTES)
    return int(60e6 + (100 * searched + beyond) * nodes + 20 * nodes**2 + stored)


def of_fit(rows: int, levels: float) -> float:
    """A fit of a node, by the mean number of levels."""
    return (0.3 + 0.22 * min(rows, MOST_ROWS) / 1000 + 0.012 * levels) / 1000


def of_searches(edges: float, nodes: int, rows: int, levels: float = 12.0) -> float:
    """The searches of the usual choice, with the evidence; beyond MOST_ROWS only for the gains of the edges.

    `edges` is about that of the graph, `levels` the mean number of a column's levels.
    """
    gains = 7e-7 * nodes * rows if rows > MOST_ROWS else 0.0
    return nodes * (15 + 20 * (edges / nodes) ** 2.2) * of_fit(rows, levels) + gains
