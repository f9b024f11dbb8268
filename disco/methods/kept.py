"""A result as CSV files, in a folder.

order.csv    position from 1, node; sources first. Absent if the method gives no order
edges.csv    parent, child, undirected: an edge whose direction is open stands once, with True
scores.csv   parent, child, score and what else the method tells of candidate edges. Absent if it tells nothing
"""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from disco.files import read_frame, write_frame
from disco.methods.result import Result

MOST_SCORES = 50_000  # rows; a table of more is not kept


def edges_of(result: Result) -> pd.DataFrame:
    """All edges: parent, child, undirected."""
    rows = [(*pair, False) for pair in result.edges] + [(*pair, True) for pair in result.undirected]
    return pd.DataFrame(rows, columns=["parent", "child", "undirected"])


def write(folder: Path, result: Result) -> None:
    """Write a result; files that an earlier one left there are replaced or deleted.

    Raises:
        OSError: a file cannot be written.
    """
    for name in ("order.csv", "scores.csv"):
        (folder / name).unlink(missing_ok=True)
    if result.order is not None:
        places = range(1, len(result.order) + 1)
        write_frame(folder / "order.csv", pd.DataFrame({"position": places, "node": result.order}))
    write_frame(folder / "edges.csv", edges_of(result))
    if 0 < len(result.scores) <= MOST_SCORES:
        write_frame(folder / "scores.csv", result.scores)


def read(folder: Path, names: Sequence[str]) -> Result:
    """The result that `write` wrote a moment ago.

    Args:
        names: of all nodes, as the table's columns.

    Raises:
        OSError, ValueError, KeyError: a file is missing or not as it was written.
    """
    edges = read_frame(folder / "edges.csv", ("parent", "child"))
    pairs = {
        is_open: list(zip(part["parent"], part["child"], strict=True)) for is_open, part in edges.groupby("undirected")
    }
    order, scores = folder / "order.csv", folder / "scores.csv"
    return Result.of(
        names,
        pairs.get(False, []),
        undirected=pairs.get(True, []),
        order=read_frame(order, ("node",))["node"].tolist() if order.exists() else None,
        scores=read_frame(scores, ("parent", "child")) if scores.exists() else None,
    )
