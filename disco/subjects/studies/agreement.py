"""How far orders agree with the reference directions of Lahman.

References are partial and not ground truth: agreement with them does not measure causal accuracy. Compare every method
with sorting the columns, which fits nothing.
"""

from collections.abc import Iterable, Mapping, Sequence

import pandas as pd

from disco.graph.result import GraphResult
from disco.metrics import a_top, order_by_excess, order_by_mean
from disco.subjects.studies.lahman import REFERENCES


def agreement(order: Sequence[str]) -> tuple[float, ...]:
    """The share of each reference's directions that an order respects."""
    return tuple(a_top(order, pairs) for pairs in REFERENCES.values())


def scores(results: Mapping[str, Mapping[str, GraphResult]]) -> pd.DataFrame:
    """The agreement of every result, by how it was obtained, then by run: columns label, run, and one for each
    reference."""
    rows = [(label, run, *agreement(result.nodes)) for label, group in results.items() for run, result in group.items()]
    return pd.DataFrame(rows, columns=["label", "run", *REFERENCES])


def with_means(scores: pd.DataFrame) -> pd.DataFrame:
    """Scores with a row for the mean of each label after its own."""
    tables = []
    for label, rows in scores.groupby("label", sort=False):
        tables += [rows, pd.DataFrame([{"label": label, "run": "mean", **rows[list(REFERENCES)].mean()}])]
    return pd.concat(tables, ignore_index=True)


def controls(table: pd.DataFrame) -> dict[str, tuple[float, ...]]:
    """The agreement of sorting the columns, rising and falling."""
    shares = {}
    for name, order in (("mean", order_by_mean(table)), ("var. − mean", order_by_excess(table))):
        shares[f"by rising {name}"] = agreement(order)
        shares[f"by falling {name}"] = agreement(order[::-1])
    return shares


def support(orders: Iterable[Sequence[str]], pairs: Iterable[tuple[str, str]]) -> pd.DataFrame:
    """The number of orders that respect each direction: columns parent, child, agree, orders."""
    indices = [{node: index for index, node in enumerate(order)} for order in orders]
    rows = [(u, v, sum(index[u] < index[v] for index in indices), len(indices)) for u, v in pairs]
    return pd.DataFrame(rows, columns=["parent", "child", "agree", "orders"])


def ends(starts: pd.DataFrame, orders: pd.DataFrame) -> pd.DataFrame:
    """The end of every search of a refinement, best first: start, below (nats below the best end), and the agreement
    with each reference. `starts` has the columns start, sweep, score, `orders` start, position, node."""
    last = starts.sort_values("sweep", kind="stable").groupby("start", sort=False)["score"].last()
    rows = [
        (start, float(last.max() - last[start]), *agreement(rows_of_start.sort_values("position")["node"].tolist()))
        for start, rows_of_start in orders.groupby("start", sort=False)
    ]
    table = pd.DataFrame(rows, columns=["start", "below", *REFERENCES])
    return table.sort_values("below", kind="stable", ignore_index=True)


def undecided(edges: pd.DataFrame, pairs: Iterable[tuple[str, str]]) -> tuple[int, int]:
    """How many pairs of a reference a graph joins, in either direction, and how many of these are undecided."""
    decided = {frozenset(pair): bool(sure) for *pair, sure in edges[["parent", "child", "decided"]].to_numpy()}
    joined = [decided[pair] for pair in map(frozenset, pairs) if pair in decided]
    return len(joined), joined.count(False)
