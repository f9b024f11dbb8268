"""Two runs compared: which edges both have, which only one, which run the other way, and how far the orders agree."""

import dataclasses
import json
from dataclasses import dataclass
from typing import Any

import networkx as nx
import pandas as pd

from disco.errors import InputError
from disco.graph import EDGE_NUMBERS, build
from disco.metrics import changes, order_agreement
from disco.metrics.edges import CHANGE_OF
from disco.runs import stamps
from disco.runs.folder import Run
from disco.runs.status import FIT, REFINE, Work

CHANGES = tuple(CHANGE_OF.values())  # kept, new, turned, dropped: from the first result to the second


@dataclass(frozen=True)
class Side:
    """One of the two results.

    Attributes:
        run: whose it is.
        work: FIT or REFINE.
        order: its nodes, sources first.
        edges: parent, child and its numbers.
        choice: of a refinement, its choices; empty for a fit.
    """

    run: Run
    work: Work
    order: list[str]
    edges: pd.DataFrame
    choice: dict[str, Any]

    @classmethod
    def of(cls, run: Run, work: Work) -> "Side":
        """A result of a run.

        Raises:
            InputError: the run has none, or one of its files is damaged.
        """
        if work == FIT:
            return cls(run, work, run.order(), run.edges(), {})
        from disco.runs.refined import choice_of, read_refined  # loads torch

        found = read_refined(run)
        return cls(run, work, found.order, found.edges, choice_of(run))

    def among(self, nodes: set[str]) -> nx.DiGraph:
        """Its graph of some nodes only."""
        inside = self.edges["parent"].isin(nodes) & self.edges["child"].isin(nodes)
        return build([node for node in self.order if node in nodes], self.edges[inside])


@dataclass(frozen=True)
class Comparison:
    """Two results, on the columns that both tables have.

    Attributes:
        first, second: the two.
        nodes: the common columns, in the order of the first.
        only_first, only_second: columns of one table only.
        graphs: of the common columns, one of each.
        edges: one row per edge of either: parent, child, change, and the numbers of both, such as ocs_first; a turned
            edge has its direction in the second.
        order_agreement: the share of pairs of common columns that both orders rank alike; NaN of fewer than two.
        settings: setting, first, second, of those that differ.
        same_rows: whether the common columns hold the same counts, and the rows the same covariates.
    """

    first: Side
    second: Side
    nodes: list[str]
    only_first: list[str]
    only_second: list[str]
    graphs: tuple[nx.DiGraph, nx.DiGraph]
    edges: pd.DataFrame
    order_agreement: float
    settings: pd.DataFrame
    same_rows: bool

    def count(self, change: str) -> int:
        """How many edges are kept, new, turned or dropped."""
        return int((self.edges["change"] == change).sum())


def works(run: Run) -> list[Work]:
    """The finished work of a run, which can be compared."""
    found = {FIT: stamps.fit(run), REFINE: stamps.refinement(run)}
    return [work for work, stamp in found.items() if stamp]


def compare(first: Side, second: Side) -> Comparison:
    """Compare two results.

    Raises:
        InputError: they have no column in common, or a table cannot be read.
    """
    shared = set(first.order) & set(second.order)
    if not shared:
        raise InputError("The two runs have no column in common, so there is nothing to compare.")
    nodes = [node for node in first.order if node in shared]
    graphs = first.among(shared), second.among(shared)
    other = [node for node in second.order if node in shared]
    return Comparison(
        first,
        second,
        nodes,
        [node for node in first.order if node not in shared],
        [node for node in second.order if node not in shared],
        graphs,
        _edges(*graphs),
        order_agreement(nodes, other),
        _settings(first, second),
        first.run == second.run or _same_rows(first.run, second.run, nodes),
    )


def _same_rows(first: Run, second: Run, nodes: list[str]) -> bool:
    """Whether both have the same counts in some columns, and the same covariates, exposure and groups."""
    one, other = first.adjustment, second.adjustment
    same = one is other if one is None or other is None else one.equals(other)
    return same and first.table()[nodes].equals(second.table()[nodes])


def _edges(first: nx.DiGraph, second: nx.DiGraph) -> pd.DataFrame:
    """One row per edge of either graph with its change and its numbers in both."""
    found = changes(first, second).rename(columns={"verdict": "change"})
    for graph, side in ((first, "first"), (second, "second")):
        ends = zip(found["parent"], found["child"], strict=True)
        rows = [graph.get_edge_data(*pair) or graph.get_edge_data(*pair[::-1]) or {} for pair in ends]
        for name in EDGE_NUMBERS:
            values = pd.Series([row.get(name) for row in rows], dtype=float)
            if values.notna().any():
                found[f"{name}_{side}"] = values
        if f"decided_{side}" in found:
            found[f"decided_{side}"] = found[f"decided_{side}"].map({1.0: True, 0.0: False})
    places = {change: place for place, change in enumerate(CHANGES)}
    return found.sort_values("change", key=lambda column: column.map(places), kind="stable", ignore_index=True)


def _settings(first: Side, second: Side) -> pd.DataFrame:
    """The settings of the fits, the roles, the knowledge, and the choices of two refinements, that differ."""
    runs = (first.run, second.run)
    sides = [{**run.settings.to_dict(), "roles": _roles(run), "knowledge": _knowledge(run)} for run in runs]
    if first.choice and second.choice:
        from disco.refine import Choice

        usual = dataclasses.asdict(Choice())
        for values, side in zip(sides, (first, second), strict=True):
            values.update({f"refinement: {name}": value for name, value in {**usual, **side.choice}.items()})
    one, other = sides
    rows = [(name, str(one[name]), str(other[name])) for name in one if one[name] != other[name]]
    return pd.DataFrame(rows, columns=["setting", "first", "second"], dtype="str")


def _roles(run: Run) -> str:
    """The roles of a run's columns, as JSON; "none" if all are counts."""
    return "none" if run.roles is None else json.dumps(run.roles.to_dict(), ensure_ascii=False)


def _knowledge(run: Run) -> str:
    """The rules that a run keeps to, as JSON; "none" without any."""
    known = run.knowledge()
    return "none" if known is None else json.dumps(known.to_dict(), ensure_ascii=False)
