"""How far orders agree with the reference directions of Lahman.

References are partial and not ground truth: agreement with them does not measure causal accuracy. Sorting the columns
fits nothing: compare every method with it.
"""

from collections.abc import Iterable, Mapping, Sequence

import pandas as pd

from disco.graph.result import GraphResult
from disco.metrics import a_top, order_by_excess, order_by_mean
from disco.studies.lahman import REFERENCES


def agreement(order: Sequence[str]) -> tuple[float, ...]:
    """The share of each reference's directions that an order respects."""
    return tuple(a_top(order, pairs) for pairs in REFERENCES.values())


def scores(results: Mapping[str, Mapping[str, GraphResult]]) -> pd.DataFrame:
    """The agreement of every result.

    Args:
        results: by how they were obtained, then by run.

    Returns:
        Columns label, run, and one for each reference.
    """
    rows = [(label, run, *agreement(one.nodes)) for label, group in results.items() for run, one in group.items()]
    return pd.DataFrame(rows, columns=["label", "run", *REFERENCES])


def with_means(scores: pd.DataFrame) -> pd.DataFrame:
    """Scores with a row for the mean of each label after its own."""
    parts = []
    for label, rows in scores.groupby("label", sort=False):
        parts += [rows, pd.DataFrame([{"label": label, "run": "mean", **rows[list(REFERENCES)].mean()}])]
    return pd.concat(parts, ignore_index=True)


def controls(table: pd.DataFrame) -> dict[str, tuple[float, ...]]:
    """The agreement of sorting the columns, rising and falling."""
    shares = {}
    for name, order in (("mean", order_by_mean(table)), ("var. − mean", order_by_excess(table))):
        shares[f"by rising {name}"] = agreement(order)
        shares[f"by falling {name}"] = agreement(order[::-1])
    return shares


def support(orders: Iterable[Sequence[str]], pairs: Iterable[tuple[str, str]]) -> pd.DataFrame:
    """The number of orders in which the first node of a direction comes before its second.

    Returns:
        Columns parent, child, agree, orders.
    """
    indices = [{node: index for index, node in enumerate(order)} for order in orders]
    rows = [(u, v, sum(index[u] < index[v] for index in indices), len(indices)) for u, v in pairs]
    return pd.DataFrame(rows, columns=["parent", "child", "agree", "orders"])


def ends(starts: pd.DataFrame, orders: pd.DataFrame) -> pd.DataFrame:
    """The end of every search of a refinement, best first.

    Args:
        starts: start, sweep, score.
        orders: start, position, node.

    Returns:
        Columns start, below (nats below the best end), and the agreement with each reference.
    """
    last = starts.sort_values("sweep", kind="stable").groupby("start", sort=False)["score"].last()
    rows = [
        (start, float(last.max() - last[start]), *agreement(part.sort_values("position")["node"].tolist()))
        for start, part in orders.groupby("start", sort=False)
    ]
    table = pd.DataFrame(rows, columns=["start", "below", *REFERENCES])
    return table.sort_values("below", kind="stable", ignore_index=True)


def undecided(edges: pd.DataFrame, pairs: Iterable[tuple[str, str]]) -> tuple[int, int]:
    """How many pairs of a reference a refined graph joins, in either direction, and how many of these are undecided.

    Args:
        edges: parent, child, decided.
    """
    decided = {frozenset(pair): bool(sure) for *pair, sure in edges[["parent", "child", "decided"]].to_numpy()}
    joined = [decided[pair] for pair in map(frozenset, pairs) if pair in decided]
    return len(joined), joined.count(False)
